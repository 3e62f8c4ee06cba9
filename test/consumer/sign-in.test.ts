/** Signing in without a password in a browser, with a real server: passkeys, and a real OpenID provider. */
import { readFile, rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { startProvider, type TestProvider } from '../support/openid-provider.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { type Browser, chromiumPath, type Page, startBrowser } from './browser.ts';

/** As pages load it with a script element. */
const LIBRARY = '../../node_modules/@simplewebauthn/browser/dist/bundle/index.umd.min.js';
const passkeys = '/api/auth/passkeys';

// Without a browser, the set-up of these tests says in one line that they are skipped.
describe.skipIf(chromiumPath === undefined)('signing in without a password', () => {
  let dataDir: string;
  let provider: TestProvider;
  let server: ServerProcess;
  let url: string;
  let library: string;
  let browser: Browser;
  let page: Page;
  let errors: string[];
  beforeAll(async () => {
    dataDir = await makeTempDir();
    provider = await startProvider('test');
    const { issuer, clientId, clientSecret } = provider.settings;
    server = startServer({
      DATA_DIR: dataDir,
      OIDC_TEST_ISSUER: issuer,
      OIDC_TEST_CLIENT_ID: clientId,
      OIDC_TEST_CLIENT_SECRET: clientSecret,
    });
    // Browsers make no passkeys for an IP address.
    url = (await server.ready).replace('127.0.0.1', 'localhost');
    provider.open(url);
    library = await readFile(new URL(LIBRARY, import.meta.url), 'utf8');
    browser = await startBrowser(inject('toolsDir'));
  });
  afterAll(async () => {
    await browser.close();
    await stopServer(server);
    await provider.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    errors = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(`${url}/verify-email`);
  });
  afterEach(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });

  /** Runs an expression in the page, which has the library and `post`. Resolves with its value, or its error. */
  function run(expression: string): Promise<unknown> {
    return page.evaluate(`(async () => {
      ${library}
      const post = async (path, body = {}) => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
        return response.json();
      };
      const { startRegistration, startAuthentication } = globalThis.SimpleWebAuthnBrowser;
      try { return await (async () => { ${expression} })(); } catch (error) { return error.name; }
    })()`);
  }

  async function addAuthenticator(): Promise<{ setVerified(isVerified: boolean): Promise<unknown> }> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', {});
    const options = {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    };
    // The answer of this method has this field.
    const { authenticatorId } = (await session.send('WebAuthn.addVirtualAuthenticator', { options })) as {
      authenticatorId: string;
    };
    return {
      setVerified: (isUserVerified) => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    };
  }

  const register = (email: string) =>
    run(`return (await post('/api/auth/register', {
      name: 'Ada', email: '${email}', password: 'correct horse battery' })).user.email;`);

  const addPasskey = `
    const { options } = await post('${passkeys}/options');
    const response = await startRegistration({ optionsJSON: options });
    return (await post('${passkeys}', { name: 'Laptop', response })).passkey.name;`;
  const signIn = `
    const { options } = await post('${passkeys}/sign-in/options');
    const response = await startAuthentication({ optionsJSON: options });
    const answer = await post('${passkeys}/sign-in', { response });
    return answer.user?.email ?? answer.code;`;

  test('a passkey is added, and signs in without an address', async () => {
    await addAuthenticator();
    expect(await register('ada@example.com')).toBe('ada@example.com');
    expect(await run(addPasskey)).toBe('Laptop');
    // The options exclude the passkey, so the browser adds no second one.
    expect(await run(addPasskey)).toBe('InvalidStateError');
    await run("return post('/api/auth/logout');");
    expect(await run("return (await fetch('/api/auth/me')).status;")).toBe(401);
    expect(await run(signIn)).toBe('ada@example.com');
    expect(await run("return (await fetch('/api/auth/me')).status;")).toBe(200);
  });

  test('a passkey renews a recent sign-in', async () => {
    await addAuthenticator();
    await register('bob@example.com');
    await run(addPasskey);
    const answer = await run(`
      const { options } = await post('${passkeys}/reauthenticate/options');
      const response = await startAuthentication({ optionsJSON: options });
      return post('${passkeys}/reauthenticate', { response });`);
    expect(answer).toEqual({ ok: true });
  });

  test('somebody who is not verified by the device does not sign in', async () => {
    const authenticator = await addAuthenticator();
    await register('eve@example.com');
    await run(addPasskey);
    await authenticator.setVerified(false);
    expect(await run(signIn)).toBe('NotAllowedError');
  });

  test('a passkey that was removed does not sign in', async () => {
    await addAuthenticator();
    await register('joe@example.com');
    await run(addPasskey);
    await run(`const { passkeys } = await (await fetch('${passkeys}')).json();
      await fetch('${passkeys}/' + passkeys[0].id, { method: 'DELETE' });`);
    expect(await run(signIn)).toBe('SIGN_IN_REFUSED');
  });

  const openProvider = `
    const { url } = await post('/api/auth/openid/start', { provider: 'test', return_to: '/docs/guides' });
    setTimeout(() => location.assign(url));`;

  test('a person signs in at a provider, and the page of the service brings them back', async () => {
    const person = { sub: 'grace', email: 'grace@example.com', email_verified: true, name: 'Grace' };
    provider.people.set(person.sub, person);
    provider.signingIn.person = person;
    await run(openProvider);
    await expect.poll(() => page.evaluate('location.pathname')).toMatch(/^\/docs\/guides/);
    expect(await run("return (await (await fetch('/api/auth/me')).json()).user;")).toMatchObject({
      name: 'Grace',
      email: 'grace@example.com',
    });
    const names = (await page.context().cookies()).map(({ name }) => name);
    expect(names).toContain('session');
    expect(names).not.toContain('sign_in');
  });

  test('a person who declines reads why, and the code is not in the address', async () => {
    provider.signingIn.person = null;
    await run(openProvider);
    await page.getByText('You did not sign in at Test').waitFor();
    expect(await page.evaluate('location.href')).toBe(`${url}/sign-in/return`);
  });
});
