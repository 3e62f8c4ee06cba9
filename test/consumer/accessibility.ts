/** What axe finds on a page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Page } from './browser.ts';

type AxeResult = { violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] };

/**
 * Expects that axe finds nothing wrong in dark and in light, and that nothing is wider than the page. `known` are rules
 * that are left out, with the reason.
 */
export async function expectAccessible(page: Page, known: Readonly<Record<string, string>> = {}): Promise<void> {
  const source = readFileSync(join(inject('toolsDir'), 'node_modules/axe-core/axe.min.js'), 'utf8');
  const session = await page.context().newCDPSession(page);
  const found: string[] = [];
  for (const value of ['dark', 'light']) {
    await session.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    await page.evaluate(source);
    // `as`: what axe returns. The script above has defined it.
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResult;
    const unknown = violations.filter(({ id }) => !(id in known));
    for (const { id, nodes } of unknown)
      for (const { target, failureSummary } of nodes)
        found.push(`${value}: ${id} at ${target.join(' ')}: ${failureSummary}`);
  }
  expect(found).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
}
