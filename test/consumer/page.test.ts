/** The React example in a browser, with a real server. */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { run } from '../client/packed-client.ts';
import { freePort } from '../support/free-port.ts';
import { type ScriptProcess, startCommand } from '../support/script-process.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { type Browser, chromiumPath, type Page, startBrowser } from './browser.ts';
import { workInWorker } from './cloudflare-worker.ts';

const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery staple' };
/** An upload takes a second, so that several progress events arrive. */
const FILE_BYTES = 5_000_000;
const BYTES_PER_SECOND = 5_000_000;

const cwd = inject('exampleDir');
const vite = [process.execPath, 'node_modules/vite/bin/vite.js'] as const;

let dataDir: string;
let server: ServerProcess;
let url: string;
/** Two pages: one calls the service through Vite's proxy, the other on its own origin. */
let proxied: ScriptProcess<string>;
let crossOrigin: ScriptProcess<string>;
let buildOutput: string;
beforeAll(async () => {
  const port = await freePort();
  dataDir = await makeTempDir();
  server = startServer({ DATA_DIR: dataDir, CORS_ORIGINS: `http://localhost:${port}` });
  url = await server.ready;
  buildOutput = await build('dist', {});
  // 127.0.0.1 would be another site than the page's, and the cookie would not be sent.
  await build('dist-cross', { VITE_LYNXROOM_URL: url.replace('127.0.0.1', 'localhost') });
  proxied = startPreview('dist', 0);
  crossOrigin = startPreview('dist-cross', port);
  await Promise.all([proxied.ready, crossOrigin.ready, post('/api/auth/register', ada)]);
});
afterAll(async () => {
  await Promise.all([proxied.end('SIGTERM'), crossOrigin.end('SIGTERM'), stopServer(server)]);
  await rm(dataDir, { recursive: true, force: true });
});

/** Resolves with what Vite prints. */
async function build(outDir: string, env: Record<string, string>): Promise<string> {
  const [program, script] = vite;
  const { stdout, stderr } = await run(program, [script, 'build', '--outDir', outDir], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...env },
  });
  return stdout + stderr;
}

function startPreview(outDir: string, port: number): ScriptProcess<string> {
  return startCommand(
    [...vite, 'preview', '--outDir', outDir, '--host', 'localhost', '--port', String(port), '--strictPort'],
    { NO_COLOR: '1', LYNXROOM_URL: url },
    (output) => /http:\/\/localhost:\d+/.exec(output)?.[0],
    cwd,
  );
}

test('the page is built without warnings, and so without modules of Node', () => {
  expect(buildOutput).toContain('modules transformed');
  expect(buildOutput).not.toMatch(/warn|externali[sz]ed|\(!\)/i);
});

test('a Cloudflare Worker uploads, reads pages, follows events and handles errors', async () => {
  const grace = { name: 'Grace', email: 'grace@example.com', password: ada.password };
  // `as`: the client's types are not those of this repository's tests.
  const { token } = (await (await post('/api/auth/register', grace)).json()) as { token: string };
  const read = await fetch(`${url}/api/workspaces`, { headers: { authorization: `Bearer ${token}` } });
  const [{ id } = { id: 0 }] = ((await read.json()) as { workspaces: { id: number }[] }).workspaces;
  expect(await workInWorker(cwd, inject('toolsDir'), { url, token, id })).toEqual({
    label: 'Red',
    refused: [true, 409, 'CONFLICT'],
    names: ['In parts', 'Streamed', 'Whole'],
    sent: true,
    contacts: true,
    aborted: 'enough',
    event: 'Whole',
  });
});

describe.skipIf(chromiumPath === undefined)('the page', () => {
  let browser: Browser;
  let page: Page;
  let errors: string[];
  beforeAll(async () => {
    browser = await startBrowser(inject('toolsDir'));
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    errors = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('status of 401')) errors.push(message.text());
    });
  });
  afterEach(() => page.close());

  async function open(preview: ScriptProcess<string>): Promise<void> {
    await page.goto(await preview.ready);
  }

  async function signIn(password: string): Promise<void> {
    await page.getByLabel('Email').fill(ada.email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  async function chooseFile(name: string): Promise<void> {
    const buffer = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(FILE_BYTES, ' ')]);
    await page.getByLabel('Upload').setInputFiles({ name, mimeType: 'application/pdf', buffer });
  }

  async function slowDown(): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: BYTES_PER_SECOND };
    await session.send('Network.emulateNetworkConditions', conditions);
  }

  test.each([
    ["on the service's origin", () => proxied],
    ['on another origin of the same site', () => crossOrigin],
  ])('%s, it signs in, uploads with progress, lists, and signs out', async (where, preview) => {
    await open(preview());
    await signIn('a wrong password');
    await page.getByText('Wrong email or password').waitFor();
    await signIn(ada.password);
    await page.getByRole('heading', { name: 'Personal' }).waitFor();

    await page.evaluate(`
      window.values = [];
      const look = () => document.querySelectorAll('progress[value]').forEach(({ value }) => values.push(value));
      new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
    `);
    await slowDown();
    await chooseFile(`${where}.pdf`);
    await page.getByText(`${where}.pdf, 5000009 bytes`).waitFor();
    // `as`: the script above puts numbers into it.
    const values = (await page.evaluate('window.values')) as number[];
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(new Set(values.filter((value) => value > 0 && value < 1)).size).toBeGreaterThan(2);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('it says that an upload was cancelled, or that its connection was lost', async () => {
    const preview = startPreview('dist', 0);
    onTestFinished(async () => void (await preview.end('SIGKILL')));
    await open(preview);
    await signIn(ada.password);
    await slowDown();
    await chooseFile('Late.pdf');
    await page.getByRole('progressbar').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled').waitFor();
    await chooseFile('Late.pdf');
    await page.getByRole('progressbar').waitFor();
    await preview.end('SIGKILL');
    await page.getByText(/^The connection to the server was lost after \d/).waitFor();
  });

  test.each(['before', 'during'])('it asks to sign in if the session ends %s an upload', async (when) => {
    await open(crossOrigin);
    await signIn(ada.password);
    await page.getByRole('heading', { name: 'Personal' }).waitFor();
    const session = (await page.context().cookies()).find(({ name }) => name === 'session');
    expect(session).toMatchObject({ httpOnly: true });
    await slowDown();
    const endSession = () => post('/api/auth/logout', {}, { authorization: `Bearer ${session?.value}` });
    if (when === 'before') await endSession();
    await chooseFile('Late.pdf');
    if (when === 'during') {
      await page.getByRole('progressbar').waitFor();
      await endSession();
    }
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });
});

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  if (!response.ok) throw new Error(await response.text());
  return response;
}
