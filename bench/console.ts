/**
 * Measures the library of the console in chromium, with 100,000 items: how long a key in the search takes until the
 * list shows its answer, and how smoothly the list scrolls.
 *   npm run bench -- console [items=100000] [rounds=3]
 * It needs chromium, and the packages of `tools/browser-test`, which `npm run test:console` installs. The browser
 * shares the CPUs with the server and PostgreSQL.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import { startOurs } from './requests/targets.ts';
import { quantile } from './webhook-world.ts';
import { openWorld, seedOurs, workspaces } from './world.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = join(root, 'tools/browser-test/node_modules/playwright-core/index.mjs');
const CHROMIUM = '/usr/bin/chromium';
/** Words of the names of items. */
const WORDS = ['harbor', 'lagoon', 'xenon', 'juniper'];
const WHEEL_STEPS = 240;
const WHEEL_PIXELS = 800;
const SLOW_FRAME_MS = 50;
const LIST = 'section[aria-label="Items"]';

/** Records frames, shifts of the layout, and when each key was pressed. */
const RECORDER = `
  window.recorded = { frames: [], shift: 0, pressedAt: 0, maxRows: 0, blankFrames: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) recorded.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  addEventListener('keydown', (event) => (recorded.pressedAt = event.timeStamp), true);`;

/** Resolves with the milliseconds from the last key to the frame in which the list shows the answer. */
const untilAnswer = (text: string, total: number) => `new Promise((resolve) => {
  const look = () => {
    const row = document.querySelector('${LIST} li');
    const isShown = row?.getAttribute('aria-setsize') === '${total}' && row.textContent.includes('${text}');
    if (!isShown) return requestAnimationFrame(look);
    // Two frames later, the frame with the answer has been painted.
    requestAnimationFrame(() => resolve(performance.now() - recorded.pressedAt));
  };
  look();
})`;

const START_FRAMES = `
  recorded.frames = [];
  let before = performance.now();
  const frame = (now) => {
    recorded.frames.push(now - before);
    before = now;
    const rows = document.querySelectorAll('${LIST} li');
    recorded.maxRows = Math.max(recorded.maxRows, rows.length);
    // A row that is not loaded yet has no button.
    if ([...rows].some((row) => row.querySelector('button') === null)) recorded.blankFrames += 1;
    recorded.frameId = requestAnimationFrame(frame);
  };
  recorded.frameId = requestAnimationFrame(frame);`;

/** What is used of Playwright, which is no dependency of this project. */
type Locator = { first(): Locator; waitFor(): Promise<void>; click(): Promise<void>; hover(): Promise<void> };
type Page = {
  addInitScript(script: string): Promise<void>;
  goto(url: string): Promise<unknown>;
  locator(selector: string): Locator;
  getByRole(role: string, options: { name: string }): Locator;
  evaluate(script: string): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
  mouse: { wheel(x: number, y: number): Promise<void> };
};
type Context = { addCookies(cookies: object[]): Promise<void>; newPage(): Promise<Page>; close(): Promise<void> };
type Browser = { newContext(options: object): Promise<Context>; close(): Promise<void> };

type Recorded = { frames: number[]; shift: number; maxRows: number; blankFrames: number };

export async function run(): Promise<void> {
  const options = readOptions();
  const items = Number(options.items ?? 100_000);
  const rounds = Number(options.rounds ?? 3);
  if (!existsSync(CHROMIUM) || !existsSync(TOOLS))
    throw new Error('chromium or tools/browser-test/node_modules is missing: run npm run test:console once');
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build-console.mjs'), '--required'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('The console could not be built');

  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld();
  cleanup.defer(() => world.close());
  console.log('Seeding …');
  const url = await world.createDatabase('bench_ours');
  const sizes = { items, labels: 200, contacts: 100, contactEvents: 100 };
  const token = (await seedOurs(url, sizes, 'session')).get(workspaces.read) ?? '';
  const server = await startOurs(url, world.folder);
  cleanup.defer(server.stop);
  const { chromium } = (await import(TOOLS)) as { chromium: { launch(options: object): Promise<Browser> } };
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  cleanup.defer(() => browser.close());

  const totals = await readTotals(server.url, token);
  const answers = new Map<number, number[]>();
  const frames: number[] = [];
  const recorded: Recorded[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
    await context.addCookies([{ name: 'session', value: token, url: server.url, httpOnly: true }]);
    const page = await context.newPage();
    await page.addInitScript(RECORDER);
    await page.goto(`${server.url}/w/${workspaces.read}/library`);
    await page.locator(`${LIST} li button`).first().waitFor();
    await type(page, totals, answers);
    await page.evaluate(START_FRAMES);
    await page.locator(LIST).hover();
    for (let step = 0; step < WHEEL_STEPS; step += 1) await page.mouse.wheel(0, WHEEL_PIXELS);
    // `as`: what RECORDER defines.
    const found = (await page.evaluate('cancelAnimationFrame(recorded.frameId), recorded')) as Recorded;
    frames.push(...found.frames);
    recorded.push(found);
    await context.close();
  }

  const slow = frames.filter((ms) => ms > SLOW_FRAME_MS).length / frames.length;
  const blank = recorded.reduce((sum, { blankFrames }) => sum + blankFrames, 0);
  const rows = [...answers].map(([length, ms]) => [
    length === 0 ? 'the search field is cleared' : `${length === 1 ? '1 letter' : `${length} letters`}`,
    ...[0.5, 0.95, 1].map((share) => quantile(ms, share).toFixed(0)),
  ]);
  const text = [
    describeRun(`${items.toLocaleString('en')} items, chromium, ${rounds} rounds.`),
    toTable(['From a keystroke to its result in the list, ms', 'p50', 'p95', 'max'], rows),
    toTable(
      ['Scrolling', 'Value'],
      [
        ['frame, ms, p50', quantile(frames, 0.5).toFixed(1)],
        ['frame, ms, p95', quantile(frames, 0.95).toFixed(1)],
        [`frames longer than ${SLOW_FRAME_MS} ms`, percent(slow)],
        ['frames in which a row was not loaded yet', percent(blank / frames.length)],
        ['rows in the page, at most', String(Math.max(...recorded.map(({ maxRows }) => maxRows)))],
        ['layout shift from loading to the end', Math.max(...recorded.map(({ shift }) => shift)).toFixed(4)],
      ],
    ),
  ];
  await writeSection('performance.md', 'console', text.join('\n\n'), options.write !== '0');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Returns how many items match each beginning of the words. */
async function readTotals(url: string, token: string): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  for (const word of ['', ...WORDS]) {
    for (let length = Math.min(1, word.length); length <= word.length; length += 1) {
      const search = word.slice(0, length);
      const path = `/api/workspaces/${workspaces.read}/library?limit=1&search=${search}`;
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      // `as`: an answer of the list.
      totals.set(search, ((await response.json()) as { total: number }).total);
    }
  }
  return totals;
}

/** Types the words one after the other, and empties the search after each. Waits for every answer. */
async function type(page: Page, totals: Map<string, number>, answers: Map<number, number[]>): Promise<void> {
  const field = page.getByRole('searchbox', { name: 'Search by name' });
  await field.click();
  for (const word of WORDS) {
    for (let length = 1; length <= word.length; length += 1) {
      const text = word.slice(0, length);
      await page.keyboard.press(word.charAt(length - 1));
      await record(page, text, totals, answers);
    }
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    await record(page, '', totals, answers);
  }
}

async function record(page: Page, text: string, totals: Map<string, number>, answers: Map<number, number[]>) {
  // `as`: a number of milliseconds.
  const ms = (await page.evaluate(untilAnswer(text, totals.get(text) ?? 0))) as number;
  answers.set(text.length, [...(answers.get(text.length) ?? []), ms]);
}
