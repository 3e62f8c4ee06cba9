/**
 * Every page of the console with full data, in light and in dark: axe, a phone, layout shifts, reduced motion, texts
 * that are cut off, headings, and the focus. `support/sweep-pages.ts` lists the pages.
 */
import { globSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { DESKTOP, findViolations, type Journey, journey, PHONE } from './support/journey.ts';
import { closeReceivers, createSweepData, type SweepData } from './support/sweep-data.ts';
import { NO_PAGES, nameOf, SWEEP_PAGES, type SweepPage } from './support/sweep-pages.ts';
import {
  findAnimations,
  findCutOff,
  findFocusFaults,
  findHeadings,
  findOverflow,
  findScrollBars,
  findShifts,
  IS_LOADED,
  RECORD_MOVEMENT,
} from './support/sweep-rules.ts';

/** The pages that are gone through with the Tab key. */
const TABBED = ['index.tsx', 'library.tsx', 'members.tsx', 'webhooks.$webhookId.tsx', 'book.$slug.index.tsx'];

afterAll(closeReceivers);

let data: Promise<SweepData> | undefined;

test('every file of a page has a row in test/console/journeys/support/sweep-pages.ts', () => {
  // A part of a page, in a folder that begins with `-`, is no page.
  const files = globSync(['web/src/routes/**/*.tsx', 'web/pages/*.js'], { cwd: root }).filter(
    (file) => !file.includes('/-') && !NO_PAGES.includes(file),
  );
  expect([...new Set(SWEEP_PAGES.map(({ file }) => file))].toSorted()).toEqual(files.toSorted());
});

journey('every page is in order in light, on a desktop', (world) => sweep(world, 'light', DESKTOP));

journey('every page is in order in dark, on a phone', (world) => sweep(world, 'dark', PHONE));

/** Opens all pages at a size, and expects that none breaks a rule. A failure names the page, the theme and the rule. */
async function sweep(world: Journey, colorScheme: 'light' | 'dark', size: typeof DESKTOP): Promise<void> {
  data ??= createSweepData(world);
  const known = await data;
  const [user, visitor] = [await world.open('/robots.txt', known.owner), await world.open('/robots.txt')];
  for (const page of [user, visitor]) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.addInitScript(RECORD_MOVEMENT);
    // Nothing changes by itself while a page is looked at.
    await page.route('**/trpc/events.live*', (route) => route.abort());
    // On its own machine, the service shows the mail in place of the page.
    await page.route('**/dev/mail', (route) => route.fulfill({ status: 404 }));
  }
  const faults: string[] = [];
  for (const row of SWEEP_PAGES) {
    const page = row.isPublic ? visitor : user;
    await page.setViewportSize(size);
    const url = new URL(row.path(known), world.url);
    // A path that differs only in its fragment would not be loaded.
    if (url.pathname === new URL(page.url()).pathname) await page.goto('about:blank');
    await page.goto(url.href);
    await expect.poll(() => page.evaluate(IS_LOADED), { message: `${nameOf(row)} is loaded` }).toBe(true);
    await row.enter?.(page);
    for (const [rule, found] of Object.entries(await findFaults(page, row, colorScheme)))
      faults.push(...found.map((fault) => `${nameOf(row)}, ${colorScheme}, ${rule}: ${fault}`));
  }
  expect(faults).toEqual([]);
}

async function findFaults(page: Page, { file }: SweepPage, colorScheme: 'light' | 'dark') {
  const shifts = await findShifts(page);
  const headings = await findHeadings(page);
  const animations = await findAnimations(page);
  const cutOff = await findCutOff(page);
  await page.setViewportSize(PHONE);
  const overflow = await findOverflow(page);
  await page.setViewportSize(DESKTOP);
  const scrollBars = await findScrollBars(page);
  const axe = await findViolations(page, colorScheme);
  const isTabbed = colorScheme === 'light' && TABBED.some((name) => file.endsWith(`/${name}`));
  const focus = isTabbed ? await findFocusFaults(page) : [];
  return {
    'layout shift': shifts,
    'one h1': headings,
    'reduced motion': animations,
    'cut off text': cutOff,
    'wider than a phone': overflow,
    'one scroll bar': scrollBars,
    axe,
    focus,
  };
}
