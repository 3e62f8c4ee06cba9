/** What journeys are made of: people, browser contexts, and checks that every page passes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, LaunchOptions, Page } from 'playwright-core';
import { afterAll, expect, inject, test } from 'vitest';
import { root } from '../../../client/packed-client.ts';
import { chromiumPath } from '../../../consumer/browser.ts';
import { createHttp } from '../../../support/http.ts';
import type { TestApp } from '../../../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../../../support/world.ts';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** Ends all transitions, so that no colour and no size is on its way to another. A style element would be refused. */
const HOLD_STILL = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition: none !important; animation: none !important; }');
  document.adoptedStyleSheets = [sheet];
})()`;
const LET_MOVE = 'document.adoptedStyleSheets = []';

/** True once the theme is applied, and nothing appears or disappears any more. Pages without `#root` have no class. */
const isSettled = (colorScheme: string) => `
  (document.getElementById('root') === null ||
    document.documentElement.classList.contains('dark') === ${colorScheme === 'dark'}) &&
  document.querySelector('[data-starting-style], [data-ending-style]') === null &&
  document.getAnimations().every(({ playState }) => playState !== 'running')`;

export const TOOLS = join(root, 'tools/browser-test/node_modules');

const launchOptions: LaunchOptions = {
  ...(chromiumPath && { executablePath: chromiumPath }),
  args: [
    // Its sandbox does not work as root.
    '--no-sandbox',
    // A camera and a microphone that only exist in the browser.
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    // Meetings connect where only loopback exists.
    '--allow-loopback-in-peer-connection',
  ],
};

export type Journey = {
  /** The URL of the service. */
  url: string;
  newPerson(name?: string): Promise<Person>;
  /** A workspace with an owner, an admin and a member, and a person outside of it. */
  newTeam(name?: string): Promise<Team>;
  /** Opens a path in a browser context of its own, signed in as the person, or as a visitor. */
  open(path: string, person?: Person): Promise<Page>;
  /**
   * As `open`, in a browser of its own that keeps its data in a directory. It ends with the context of the page, and
   * can be opened again.
   */
  openProfile(dir: string, path: string, person?: Person): Promise<Page>;
};

let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** A test in a browser. It fails if a page throws an error, or violates its policy. */
export function journey(name: string, run: (journey: Journey) => Promise<void>): void {
  test.skipIf(chromiumPath === undefined)(name, async () => {
    const contexts: BrowserContext[] = [];
    const faults: string[] = [];
    try {
      await run(createJourney(contexts, faults));
      expect(faults).toEqual([]);
    } catch (error) {
      // Often the reason why something did not appear.
      if (faults.length > 0) process.stderr.write(`${name}: ${faults.join('\n')}\n`);
      throw error;
    } finally {
      await Promise.all(contexts.map((context) => context.close()));
    }
  });
}

function createJourney(contexts: BrowserContext[], faults: string[]): Journey {
  const url = inject('consoleUrl');
  // `as`: people and teams are created over HTTP, and need nothing else of an app.
  const app = { url, http: createHttp(url) } as TestApp;
  const contextOptions = { viewport: DESKTOP, baseURL: url, locale: 'en-GB' };
  return {
    url,
    newPerson: (name) => addPerson(app, name),
    newTeam: (name) => addTeam(app, name),
    async open(path, person) {
      browser ??= startBrowser();
      return openPage(await (await browser).newContext(contextOptions), path, person);
    },
    async openProfile(dir, path, person) {
      const { chromium } = await loadPlaywright();
      return openPage(
        await chromium.launchPersistentContext(dir, { ...launchOptions, ...contextOptions }),
        path,
        person,
      );
    },
  };

  async function openPage(context: BrowserContext, path: string, person?: Person): Promise<Page> {
    contexts.push(context);
    context.setDefaultTimeout(60_000);
    if (person) {
      const origin = new URL(path, url).origin;
      await context.addCookies([{ name: 'session', value: person.token, url: origin, httpOnly: true }]);
    }
    context.on('weberror', (error) => faults.push(String(error.error())));
    context.on('console', (message) => {
      // The browser reports every refused call and frame, and journeys cause some on purpose.
      if (message.type() === 'error' && !/Failed to load resource|net::ERR_|^Framing /.test(message.text()))
        faults.push(message.text());
    });
    const page = await context.newPage();
    await page.goto(path);
    return page;
  }
}

async function startBrowser(): Promise<Browser> {
  return (await loadPlaywright()).chromium.launch(launchOptions);
}

function loadPlaywright(): Promise<Pick<typeof import('playwright-core'), 'chromium'>> {
  return import(pathToFileURL(join(TOOLS, 'playwright-core/index.mjs')).href);
}

type AxeResult = { violations: { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[] };

/** Expects that axe finds nothing wrong in light and in dark. `include` is a selector of the part to look at. */
export async function expectAccessible(page: Page, include?: string): Promise<void> {
  if (include !== undefined) await page.locator(include).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await findViolations(page, colorScheme, include);
    expect(found.map((violation) => `${colorScheme}: ${violation}`)).toEqual([]);
  }
  await page.evaluate(LET_MOVE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
}

/** What axe finds wrong, once nothing moves any more. The page's media must have the color scheme. */
export async function findViolations(page: Page, colorScheme: 'light' | 'dark', include?: string): Promise<string[]> {
  await page.evaluate(HOLD_STILL);
  await expect.poll(() => page.evaluate(isSettled(colorScheme))).toBe(true);
  await page.evaluate(readFileSync(join(TOOLS, 'axe-core/axe.min.js'), 'utf8'));
  // `as`: what axe returns. The script above has defined it.
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(include) ?? 'document'}, { resultTypes: ['violations'] })`,
  )) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Expects that nothing is wider than a phone. */
export async function expectFitsPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  const readOverflow = () =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  await expect.poll(readOverflow).toBeLessThanOrEqual(0);
  await page.setViewportSize(DESKTOP);
  // What is clicked next should not move: wait for the layout of a desktop.
  await page.waitForFunction(`innerWidth === ${DESKTOP.width} && new Promise(requestAnimationFrame)`);
}

/** Expects that what is printed has no navigation, no buttons and no fields, and is black on white. */
export async function expectPrints(page: Page): Promise<void> {
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const shown = await page.evaluate(`
    [...document.querySelectorAll('nav, aside, button, input, [role="tablist"], h1')]
      .filter((element) => element.checkVisibility() && element.getClientRects().length > 0)
      .map(({ localName }) => localName)`);
  const colors = await page.evaluate(`[
    getComputedStyle(document.querySelector('h1')).color,
    getComputedStyle(document.documentElement).backgroundColor,
  ]`);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  expect([shown, colors]).toEqual([['h1'], ['rgb(0, 0, 0)', 'rgb(255, 255, 255)']]);
}

/** Refuses the next call of a procedure, in the way of the service, and the calls of the same batch. */
export async function refuseOnce(page: Page, procedure: string, status: number, code: string): Promise<void> {
  const data = { code, httpStatus: status, request_id: 'the-request-id', issues: [] };
  const error = { message: 'The test refuses this', code: -32603, data };
  await page.route(
    (url) => callsOf(url).includes(procedure),
    (route) => {
      const url = new URL(route.request().url());
      const json = url.searchParams.has('batch') ? callsOf(url).map(() => ({ error })) : { error };
      return route.fulfill({ status, json });
    },
    { times: 1 },
  );
}

/** Loses the answer to the next call of a procedure, which the service carries out. */
export async function loseAnswerOnce(page: Page, procedure: string): Promise<void> {
  await page.route(
    (url) => callsOf(url).includes(procedure),
    (route) => route.fetch().then(() => route.abort()),
    { times: 1 },
  );
}

/** The procedures that a request calls. */
export function callsOf({ pathname }: URL): string[] {
  return pathname.startsWith('/trpc/') ? decodeURIComponent(pathname.slice('/trpc/'.length)).split(',') : [];
}

/** The link in the newest message to an address, as developers read it. */
export async function linkTo(url: string, email: string, path: string): Promise<string> {
  const [link = ''] = new RegExp(`${path}#token=[\\w-]+`).exec(await readMail(url, email)) ?? [];
  return link;
}

/** The newest message to an address, as the page for developers shows it. */
export async function readMail(url: string, email: string): Promise<string> {
  const http = createHttp(url);
  const list = String((await http.get('/dev/mail')).body);
  const [, id] = new RegExp(`/dev/mail/(\\d+)">[\\w-]+</a> to ${email}<`).exec(list) ?? [];
  return String((await http.get(`/dev/mail/${id}`)).body);
}
