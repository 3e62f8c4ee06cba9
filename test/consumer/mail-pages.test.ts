/** The pages to which links in mail lead, in a browser: on a dark phone, with a keyboard or a screen reader. */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createHttp, type Http } from '../support/http.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { expectAccessible } from './accessibility.ts';
import { type Browser, chromiumPath, type Page, startBrowser } from './browser.ts';

const PHONE = { width: 390, height: 844 };
const PASSWORD = 'correct horse battery';

describe.skipIf(chromiumPath === undefined)('the pages of links in mail', () => {
  let dataDir: string;
  let server: ServerProcess;
  let url: string;
  let http: Http;
  let browser: Browser;
  let page: Page;
  /** What must not happen: errors of scripts, refusals of the policy, and requests to other hosts. */
  let faults: string[];
  beforeAll(async () => {
    dataDir = await makeTempDir();
    server = startServer({ DATA_DIR: dataDir });
    url = await server.ready;
    http = createHttp(url);
    browser = await startBrowser(inject('toolsDir'));
  });
  afterAll(async () => {
    await browser.close();
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    // Each page has cookies of its own.
    page = await browser.newPage({ viewport: PHONE, colorScheme: 'dark' });
    page.setDefaultTimeout(60_000);
    faults = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => {
      // The browser reports every refused call, and the tests cause some on purpose.
      if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
        faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(url)) faults.push(request.url());
    });
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });

  async function register(email: string): Promise<string> {
    const { status, body } = await http.post('/api/auth/register', undefined, {
      name: 'Ada',
      email,
      password: PASSWORD,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.token;
  }

  /** The link in the newest message to an address, from the page for developers. */
  async function linkTo(email: string, path: string): Promise<string> {
    const list = String((await http.get('/dev/mail')).body);
    const [, id] = new RegExp(`/dev/mail/(\\d+)">[\\w-]+</a> to ${email}<`).exec(list) ?? [];
    const [link] = new RegExp(`${path}#token=[\\w-]+`).exec(String((await http.get(`/dev/mail/${id}`)).body)) ?? [];
    expect(link).toBeDefined();
    return `${url}${link}`;
  }

  const press = (name: string) => page.getByRole('button', { name }).click();
  const isHidden = (id: string) => page.evaluate(`document.getElementById('${id}').hidden`);

  test('/verify-email asks for the password without a session, and says when it is wrong', async () => {
    await register('ada@example.com');
    await page.goto(await linkTo('ada@example.com', '/verify-email'));
    await page.getByLabel('Password of the account').fill('a guess');
    await expectAccessible(page);
    // In no history, bookmark or screenshot.
    expect(await page.evaluate('location.href')).toBe(`${url}/verify-email`);
    await press('Confirm address');
    await page.getByText('password is wrong').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Password of the account').fill(PASSWORD);
    await press('Confirm address');
    await page.getByText('ada@example.com is confirmed. You can close this page.').waitFor();
    await expectAccessible(page);
  });

  test('/verify-email uses the session of the account, or asks for the password in that of another one', async () => {
    const signIn = (email: string) => `fetch('/api/auth/register', { method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', email: '${email}', password: '${PASSWORD}' }) }).then(({ ok }) => ok)`;
    await register('bob@example.com');
    await page.goto(`${url}/sign-in/return`);
    expect(await page.evaluate(signIn('eve@example.com'))).toBe(true);
    await page.goto(await linkTo('bob@example.com', '/verify-email'));
    await page.getByText('You are signed in as eve@example.com.').waitFor();
    expect(await isHidden('proof')).toBe(true);
    await press('Confirm address');
    await page.getByLabel('Password of the account').fill(PASSWORD);
    await press('Confirm address');
    await page.getByText('bob@example.com is confirmed').waitFor();
    await page.goto(`${url}/sign-in/return`);
    await page.goto(await linkTo('eve@example.com', '/verify-email'));
    await press('Confirm address');
    await page.getByText('eve@example.com is confirmed').waitFor();
  });

  test('/reset-password sets a password, once, and says what is wrong with another', async () => {
    const email = 'grace@example.com';
    await register(email);
    await http.post('/api/auth/forgot-password', undefined, { email });
    const link = await linkTo(email, '/reset-password');
    await page.goto(link);
    const set = async (password: string, repeated = password) => {
      await page.getByLabel('New password').first().fill(password);
      await page.getByLabel('Repeat the new password').fill(repeated);
      await press('Set password');
    };
    await set('a better password', 'another password');
    await page.getByText('The two passwords differ.').waitFor();
    await expectAccessible(page);
    await set('password123');
    await page.getByText('password is too common').waitFor();
    await set('an entirely new password');
    await page.getByText('The new password is set').waitFor();
    await expectAccessible(page);
    const login = { email, password: 'an entirely new password' };
    expect((await http.post('/api/auth/login', undefined, login)).status).toBe(200);
    await page.goto(`${url}/sign-in/return`);
    await page.goto(link);
    await set('one more new password');
    await page.getByText('This link was already used or has expired').waitFor();
  });

  test('/invitation shows who invites to what as text, and lets a new person join', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    const token = await register('owner@example.com');
    const { workspace } = (await http.post('/api/workspaces', token, { name: markup })).body;
    const email = 'guest@example.com';
    const path = `/api/workspaces/${workspace.id}`;
    expect((await http.post(`${path}/invitations`, token, { email, role: 'admin' })).status).toBe(200);
    const link = await linkTo(email, '/invitation');
    await page.goto(link);
    await page.getByText(markup).waitFor();
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    await expectAccessible(page);
    await page.getByLabel('I do not have an account yet').click();
    await page.getByLabel('Name').fill('Guest');
    await page.getByLabel('Password').fill(PASSWORD);
    await expectAccessible(page);
    await press('Join workspace');
    await page.getByText(`You are now a member of ${markup}.`).waitFor();
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    await expectAccessible(page);
    const { members } = (await http.get(path, token)).body.workspace;
    expect(members).toContainEqual(expect.objectContaining({ email, role: 'admin', email_verified: true }));
    // Everybody's own workspace is called Personal.
    const { id } = (await http.get('/api/workspaces', token)).body.workspaces.find(
      ({ is_personal: own }: { is_personal: number }) => own === 1,
    );
    const toPersonal = { email: 'guest.of.ada@example.com', role: 'member' };
    expect((await http.post(`/api/workspaces/${id}/invitations`, token, toPersonal)).status).toBe(200);
    await page.goto(`${url}/sign-in/return`);
    await page.goto(await linkTo(toPersonal.email, '/invitation'));
    await page.getByText("Ada's Personal").waitFor();
    await press('Join workspace');
    await page.getByText("You are now a member of Ada's Personal.").waitFor();
    await page.goto(`${url}/sign-in/return`);
    await page.goto(link);
    await page.getByText('This invitation was already used, or was revoked.').waitFor();
  });

  test.each(['/verify-email', '/reset-password', '/invitation'])('%s without a token says so', async (path) => {
    await page.goto(`${url}${path}`);
    await page.getByText('This link is incomplete.').waitFor();
    await expectAccessible(page);
  });
});
