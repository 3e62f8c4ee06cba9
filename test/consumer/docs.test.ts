/** The documentation in a browser, with a real server: `/docs` and the guides. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { expectAccessible } from './accessibility.ts';
import { type Browser, chromiumPath, type Page, startBrowser } from './browser.ts';

const DESKTOP = { width: 1400, height: 900 };
const PHONE = { width: 390, height: 844 };

/** What axe finds in the markup of Scalar, which we cannot change, by its rules. */
const OF_SCALAR: Readonly<Record<string, string>> = {
  'button-name': 'the buttons that fold the parts of a schema have an icon only',
  'landmark-no-duplicate-banner': 'on a phone, it has a header of its own below ours',
  'landmark-unique': 'the same',
  'label-content-name-mismatch': 'the button that shows the rest of a tag has another name than text',
  'scrollable-region-focusable': 'the list of the operations of a tag scrolls, and cannot be focused',
};

describe.skipIf(chromiumPath === undefined)('the documentation', () => {
  let dataDir: string;
  let server: ServerProcess;
  let url: string;
  let browser: Browser;
  let page: Page;
  /** What must not happen: errors, and requests to other hosts. */
  let faults: string[];
  beforeAll(async () => {
    dataDir = await makeTempDir();
    server = startServer({ DATA_DIR: dataDir });
    url = await server.ready;
    browser = await startBrowser(inject('toolsDir'));
  });
  afterAll(async () => {
    await browser.close();
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });

  async function open(path: string, viewport = DESKTOP, colorScheme: 'light' | 'dark' = 'light'): Promise<void> {
    page = await browser.newPage({ viewport, colorScheme });
    page.setDefaultTimeout(60_000);
    faults = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(url)) faults.push(request.url());
    });
    await page.goto(`${url}${path}`);
  }

  async function readDemoKey(): Promise<string> {
    const text = await readFile(join(dataDir, 'demo.env'), 'utf8');
    return /^export LYNXROOM_TOKEN=(\S+)$/m.exec(text)?.[1] ?? '';
  }

  async function background(): Promise<unknown> {
    return page.evaluate('getComputedStyle(document.querySelector("main")).color');
  }

  async function overflow(): Promise<unknown> {
    return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  test('the reference has our name and no links to its maker, and calls an operation with a key', async () => {
    await open('/docs');
    await page.getByRole('heading', { name: 'Lynxroom' }).waitFor();
    await expect.poll(() => page.evaluate('document.title')).toContain('Lynxroom');
    const links = "[...document.querySelectorAll('a[href^=http]')].filter((a) => a.offsetParent !== null)";
    expect(await page.evaluate(`${links}.map((a) => a.href).filter((href) => !href.startsWith(origin))`)).toEqual([]);
    expect(await page.evaluate('document.body.innerText')).not.toMatch(/scalar|swagger/i);
    await page.getByPlaceholder('Token').fill(await readDemoKey());
    await page.goto(`${url}/docs#tag/rooms/GET/api/dashboard/rooms`);
    await page.getByRole('button', { name: 'Test Request (get /api/dashboard/rooms)' }).click();
    await page.getByRole('button', { name: 'Send' }).first().click();
    await page.getByText('200 OK').waitFor();
  });

  test('samples of the reference have the origin of the page, and the workspace and key of the reader', async () => {
    const readSamples = (): Promise<unknown> =>
      page.evaluate("[...document.querySelectorAll('.reference pre')].map((pre) => pre.textContent).join('\\n')");
    const path = '/docs#tag/labels/POST/api/workspaces/{id}/labels';
    await open(path);
    await expect.poll(readSamples).toContain(`curl -X POST '${url}/api/workspaces/9/labels'`);
    await page.getByText(/^Samples$/).click();
    await page.getByLabel('Workspace ID').fill('4711');
    await page.getByLabel('Your API key').fill('lnx_my_own_key');
    await page.getByRole('button', { name: 'Use them' }).click();
    await expect.poll(readSamples).toContain(`curl -X POST '${url}/api/workspaces/4711/labels'`);
    expect(await readSamples()).toContain('Authorization: Bearer lnx_my_own_key');
    expect(await page.evaluate('sessionStorage.length')).toBe(1);
  });

  test('a signed-in browser calls an operation with its session', async () => {
    await open('/docs');
    await page.evaluate(`fetch('/api/auth/register', { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }) })`);
    await page.goto(`${url}/docs#tag/signing-in/GET/api/auth/me`);
    await page.getByRole('button', { name: 'Test Request (get /api/auth/me)' }).click();
    await page.getByRole('button', { name: 'Send' }).first().click();
    await page.getByText('200 OK').waitFor();
  });

  test.each([
    ['/docs', 'Lynxroom'],
    ['/docs/guides/rooms', 'Rooms and guests'],
    ['/docs/guides/errors', 'Errors'],
  ])('%s fits a phone', async (path, heading) => {
    await open(path, PHONE);
    await page.getByRole('heading', { name: heading }).first().waitFor();
    await expect.poll(overflow).toBe(0);
  });

  test('a guide is dark in dark mode', async () => {
    await open('/docs/guides/rooms');
    const light = await background();
    await page.close();
    await open('/docs/guides/rooms', DESKTOP, 'dark');
    await expect.poll(background).not.toEqual(light);
  });

  test('the language of the examples is chosen with the keyboard, for all examples and the next page', async () => {
    const shown = async (): Promise<unknown> =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll('.tab')].filter(({ offsetParent }) => offsetParent)
          .map(({ dataset }) => dataset.tab))]`,
      );
    await open('/docs/guides/rooms');
    expect(await shown()).toEqual(['curl']);
    await page.evaluate("document.querySelector('.tabs input').focus()");
    await page.keyboard.press('ArrowRight');
    await expect.poll(shown).toEqual(['TypeScript']);
    await page.goto(`${url}/docs/guides/uploads`);
    await expect.poll(shown).toEqual(['TypeScript']);
  });

  test('the search finds a guide, and the menu of a phone opens', async () => {
    await open('/docs/guides', PHONE);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByLabel('Search guides and API').fill('waiting room');
    await page.getByRole('link', { name: 'Rooms and guests: Admit from the waiting room' }).click();
    await page.getByRole('heading', { name: 'Rooms and guests' }).first().waitFor();
    await expect.poll(() => page.evaluate('location.hash')).toBe('#admit-from-the-waiting-room');
  });

  test('one search finds guides and operations, also from the reference', async () => {
    await open('/docs');
    await page.getByRole('heading', { name: 'Lynxroom' }).waitFor();
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByLabel('Search guides and API').fill('labels post');
    await page.getByRole('link', { name: 'API: POST /api/workspaces/{id}/labels' }).click();
    await page.getByRole('button', { name: 'Test Request (post /api/workspaces/{id}/labels)' }).waitFor();
  });

  test.each([DESKTOP, PHONE])('axe finds nothing wrong with the guides at $width px', async (viewport) => {
    for (const path of ['/docs/guides', '/docs/guides/overview', '/docs/guides/rooms', '/docs/guides/errors']) {
      await open(path, viewport);
      await expectAccessible(page);
      await page.close();
    }
    await open('/docs/guides#search', viewport);
    await page.getByLabel('Search guides and API').fill('post dashboard rooms');
    await page.getByRole('link', { name: 'API: POST /api/dashboard/rooms' }).first().waitFor();
    await expectAccessible(page);
  });

  test.each([DESKTOP, PHONE])('axe finds nothing of ours wrong with the reference at $width px', async (viewport) => {
    await open('/docs#tag/rooms/GET/api/dashboard/rooms', viewport);
    await page.getByRole('button', { name: 'Test Request (get /api/dashboard/rooms)' }).waitFor();
    await expectAccessible(page, OF_SCALAR);
  });
});
