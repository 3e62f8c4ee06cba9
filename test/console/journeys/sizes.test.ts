/** How much JavaScript a page loads before it shows. What a person opens afterwards is not counted. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { journey } from './support/journey.ts';

const MAX_BEFORE_SIGN_IN = 150_000;
const MAX_OF_A_PAGE = 200_000;

/** The pages of the console that the side navigation lists. */
async function readPaths(page: Page): Promise<string[]> {
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await links.first().waitFor();
  const paths = await Promise.all((await links.all()).map(async (link) => (await link.getAttribute('href')) ?? ''));
  return paths.filter((path) => !path.startsWith('/docs'));
}

/** The size of all scripts that the page has loaded, after gzip, in bytes. */
async function measure(page: Page): Promise<number> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  // `as`: the expression returns the addresses of scripts.
  const paths = (await page.evaluate(`
    [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname))]
      .filter((path) => path.endsWith('.js'))`)) as string[];
  const files = await Promise.all(paths.map((path) => readFile(join(root, 'web/dist', path))));
  return files.reduce((total, file) => total + gzipSync(file, { level: 9 }).length, 0);
}

journey('before signing in, pages load at most 150 kB of JavaScript', async ({ open }) => {
  const sizes: Record<string, number> = {};
  for (const path of ['/', '/register', '/forgot-password']) sizes[path] = await measure(await open(path));
  process.stdout.write(`JavaScript before signing in (gzip): ${JSON.stringify(sizes)}\n`);
  for (const [path, size] of Object.entries(sizes)) expect([path, size > MAX_BEFORE_SIGN_IN]).toEqual([path, false]);
});

journey('every page of a workspace and of the account loads at most 200 kB', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open('/account', team.owner);
  // A page with an open stream is never idle.
  await page.route('**/trpc/events.live*', (route) => route.abort());
  const paths = await readPaths(page);
  await page.goto(`/w/${team.id}`);
  paths.push(...(await readPaths(page)));
  expect(paths.length).toBeGreaterThan(0);
  const { webhook } = await team.owner.client.webhooks.create.mutate({
    id: team.id,
    name: 'Mine',
    url: 'http://localhost:4000/hook',
    events: ['room.created'],
  });
  paths.push(`/w/${team.id}/webhooks/${webhook.id}`);
  const sizes: Record<string, number> = {};
  for (const path of paths) {
    await page.goto(path);
    sizes[path] = await measure(page);
  }
  process.stdout.write(`JavaScript of pages (gzip): ${JSON.stringify(sizes)}\n`);
  for (const [path, size] of Object.entries(sizes)) expect([path, size > MAX_OF_A_PAGE]).toEqual([path, false]);
});
