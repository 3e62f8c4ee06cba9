/**
 * Measures meetings of two people in chromium, with fake cameras of 1280 x 720: how long it takes from the second
 * "join" until both see and hear each other, and how much CPU the running meeting needs.
 *   npm run bench -- meetings [rounds=20] [seconds=20]
 * It needs chromium, and the packages of `tools/browser-test`, which `npm run test:console` installs. Both browsers
 * share the CPUs with the server and PostgreSQL.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '../packages/client/src/index.ts';
import { startMeetingSite } from '../test/console/journeys/support/meeting-site.ts';
import { startServer, stopServer } from '../test/support/server-process.ts';
import { makeTempDir } from '../test/support/temp-dir.ts';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import { quantile } from './webhook-world.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = join(root, 'tools/browser-test/node_modules/playwright-core/index.mjs');
const CHROMIUM = '/usr/bin/chromium';
const CAMERA = { width: 1280, height: 720, frameRate: 24 };
/** Of the times in `/proc`, a second has so many ticks on Linux. */
const TICKS = 100;
const POLL_MS = 20;

/** What is used of Playwright, which is no dependency of this project. */
type Page = {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  waitForFunction(script: string): Promise<unknown>;
  close(): Promise<void>;
};
type Browser = { newPage(): Promise<Page>; close(): Promise<void> };

export async function run(): Promise<void> {
  const { rounds = '20', seconds = '20', write } = readOptions();
  if (!existsSync(CHROMIUM) || !existsSync(TOOLS))
    throw new Error('chromium or tools/browser-test/node_modules is missing: run npm run test:console once');
  await using cleanup = new AsyncDisposableStack();
  const dir = await makeTempDir();
  cleanup.defer(() => rmSync(dir, { recursive: true, force: true }));
  const server = startServer({ DATA_DIR: dir, CONSOLE: '0' });
  cleanup.defer(async () => void (await stopServer(server)));
  const url = await server.ready;
  const site = await startMeetingSite();
  cleanup.defer(() => site.close());
  const { token } = await createClient({ url }).auth.register.mutate({
    name: 'Bench',
    email: 'bench@example.com',
    password: 'correct horse battery staple',
  });
  const { rooms } = createClient({ url, token });
  const browsers = await Promise.all([startBrowser(), startBrowser()]);
  for (const browser of browsers) cleanup.defer(() => browser.close());

  const times: number[] = [];
  let cpu = { browsers: 0, server: 0 };
  for (let round = 1; round <= Number(rounds); round += 1) {
    const { room } = await rooms.create.mutate({});
    const pages = await Promise.all(browsers.map((browser) => openPage(browser, `${site.url}/blank.html`)));
    const [first, second] = pages;
    if (!first || !second) throw new Error('There are two browsers');
    await startMeeting(first, { url, roomName: room.name, name: 'Ada' });
    await giveTracks(second, { url, roomName: room.name, name: 'Bob' });
    const begin = performance.now();
    await second.evaluate('meeting.join()');
    await Promise.all(pages.map((page) => page.evaluate(`receiveFrom(1, ${POLL_MS})`)));
    times.push(performance.now() - begin);
    if (round === Number(rounds)) cpu = await measureCpu(Number(seconds), server.child.pid);
    await Promise.all(pages.map((page) => page.close()));
  }
  const text = [
    describeRun(`${rounds} meetings of two people in two browsers, cameras of 1280 x 720 at 24 pictures a second.`),
    toTable(
      ['Meeting of two', 'Value'],
      [
        ['from the second join until both see and hear each other, ms, p50', quantile(times, 0.5).toFixed(0)],
        ['the same, ms, p95', quantile(times, 0.95).toFixed(0)],
        ['CPU of each browser, of one core', percent(cpu.browsers / 2)],
        ['CPU of the server, of one core', percent(cpu.server)],
      ],
    ),
  ];
  await writeSection('performance.md', 'meetings', text.join('\n\n'), write !== '0');
}

async function startBrowser(): Promise<Browser> {
  // `as`: what is used of Playwright.
  const { chromium } = (await import(TOOLS)) as { chromium: { launch(options: object): Promise<Browser> } };
  const media = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--allow-loopback-in-peer-connection', ...media],
  });
}

async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction('globalThis.isReady');
  return page;
}

async function startMeeting(page: Page, options: object): Promise<void> {
  await page.evaluate(`startMeeting(${JSON.stringify({ ...options, ...CAMERA })})`);
}

/** The camera is on before the person joins, as in a lobby. */
async function giveTracks(page: Page, options: object): Promise<void> {
  await page.evaluate(`startMeeting(${JSON.stringify({ ...options, ...CAMERA, joins: false })})`);
}

/** The CPU that all processes of the browsers, and the server, use, in cores. */
async function measureCpu(seconds: number, serverPid = 0): Promise<{ browsers: number; server: number }> {
  const read = () => ({ browsers: ticksOf(isChromium), server: ticksOf((pid) => pid === serverPid) });
  const before = read();
  await sleep(seconds * 1_000);
  const after = read();
  const cores = (from: number, to: number): number => (to - from) / TICKS / seconds;
  return { browsers: cores(before.browsers, after.browsers), server: cores(before.server, after.server) };
}

function isChromium(pid: number): boolean {
  return isDescendant(pid) && readProc(pid, 'cmdline').includes('chromium');
}

/** Others may use chromium on this machine too. */
function isDescendant(pid: number): boolean {
  for (let current = pid; current > 1; current = Number(statOf(current)[1] ?? 0))
    if (current === process.pid) return true;
  return false;
}

function ticksOf(isWanted: (pid: number) => boolean): number {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isWanted(pid));
  // utime and stime.
  return pids.reduce((sum, pid) => sum + Number(statOf(pid)[11] ?? 0) + Number(statOf(pid)[12] ?? 0), 0);
}

/** The fields after the name of the program, which may contain spaces: state, parent and so on. */
function statOf(pid: number): string[] {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
