/**
 * The defaults for connections to and from this machine, in development and in production, with an external database.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { describeLocalAccess, localAccessOf } from '../../src/runtime/local-access.ts';
import { callFrom } from '../support/call-from.ts';
import { createHttp } from '../support/http.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';
import { PASSWORD } from '../support/world.ts';

vi.setConfig({ testTimeout: 5 * MINUTE_MS });

const DATABASE_URL = 'postgresql://db.example.com/lynxroom';

function accessWith(env: Record<string, string>) {
  return localAccessOf(readConfig(env));
}

describe('the defaults', () => {
  test.each([{}, { DATABASE_URL }, { HOST: 'localhost' }, { HOST: '::1' }, { HOST: '127.0.0.2', NODE_ENV: 'test' }])(
    'with %j open this machine for webhooks',
    (env) => {
      expect(accessWith(env)).toMatchObject({
        addressPolicy: 'loopback',
        exemptLoopback: true,
        refuseForeignHosts: true,
      });
    },
  );

  test.each([{ HOST: '0.0.0.0' }, { HOST: '::' }, { HOST: '192.168.1.5', DATABASE_URL }])(
    'with %j do not, because others reach the server',
    (env) => {
      expect(accessWith(env)).toMatchObject({
        addressPolicy: 'public',
        exemptLoopback: true,
        refuseForeignHosts: false,
      });
    },
  );

  test('in production open nothing', () => {
    expect(accessWith({ NODE_ENV: 'production' })).toEqual({
      addressPolicy: 'public',
      exemptLoopback: false,
      corsOrigins: [],
      refuseForeignHosts: false,
      signsInLocally: false,
      startsLocally: false,
    });
  });

  test('let this machine create the first account, unless others reach the server through a proxy', () => {
    const starts = (env: Record<string, string>) => accessWith(env).startsLocally;
    const local = [{}, { HOST: '0.0.0.0' }, { DATABASE_URL }, { PUBLIC_URL: 'http://[::1]:3000' }];
    expect(local.map(starts)).toEqual([true, true, true, true]);
    expect(starts({ PUBLIC_URL: 'http://app.localhost:3000' })).toBe(true);
    const others: Record<string, string>[] = [
      { NODE_ENV: 'production' },
      { NODE_ENV: 'production', PUBLIC_URL: 'http://localhost:3000' },
      { PUBLIC_URL: 'https://localhost.example.com' },
      { TRUST_PROXY: '127.0.0.1' },
    ];
    expect(others.map(starts)).toEqual([false, false, false, false]);
  });

  test('sign nobody in with a link of this machine but on loopback, in development, with the embedded database', () => {
    const signsIn = (env: Record<string, string>) => accessWith(env).signsInLocally;
    expect([{}, { HOST: 'localhost' }, { HOST: '::1' }].map(signsIn)).toEqual([true, true, true]);
    const others = [{ HOST: '0.0.0.0' }, { HOST: '192.168.1.5' }, { NODE_ENV: 'production' }, { DATABASE_URL }];
    expect(others.map(signsIn)).toEqual([false, false, false, false]);
  });

  test('can be changed one by one', () => {
    expect(accessWith({ NODE_ENV: 'production', RATE_LIMIT_EXEMPT_LOOPBACK: '1' }).exemptLoopback).toBe(true);
    expect(accessWith({ RATE_LIMIT_EXEMPT_LOOPBACK: '0' }).exemptLoopback).toBe(false);
    expect(accessWith({ NODE_ENV: 'production', WEBHOOK_ALLOW_PRIVATE: '1' }).addressPolicy).toBe('any');
    expect(accessWith({ WEBHOOK_ALLOW_PRIVATE: '0' }).addressPolicy).toBe('public');
    expect(accessWith({ PUBLIC_URL: 'https://api.example.com' }).refuseForeignHosts).toBe(false);
    expect(accessWith({ TRUST_PROXY: '10.0.0.1' }).refuseForeignHosts).toBe(false);
    expect(accessWith({ CORS_ORIGINS: '*' }).corsOrigins).toBe('*');
    const named = { CORS_ORIGINS: 'https://app.example.com' };
    expect(accessWith({ ...named, NODE_ENV: 'production' }).corsOrigins).toEqual(['https://app.example.com']);
    expect(accessWith(named).corsOrigins).toContain('https://app.example.com');
  });
});

describe('a server with DATABASE_URL', () => {
  let cleanup: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of cleanup.reverse()) await step();
    cleanup = [];
  });

  async function start(env: Record<string, string>): Promise<{ server: ServerProcess; url: string }> {
    const database = await createDatabase();
    cleanup.push(database.drop);
    const server = startServer({ DATABASE_URL: database.url, DATA_DIR: await makeTempDir(), ...env });
    cleanup.push(() => stopServer(server));
    return { server, url: await server.ready };
  }

  /** Which origins may read the responses, of those that pages of this machine and of other sites have. */
  async function readableBy(url: string): Promise<string[]> {
    const readable: string[] = [];
    for (const origin of [
      'http://localhost:5173',
      'http://127.0.0.1',
      'https://app.example.com',
      'https://evil.example',
      'http://localhost.evil.example',
      'http://localhost:5173.evil.example',
      'https://localhost:5173',
      'null',
    ]) {
      const { headers } = await fetch(`${url}/health`, { headers: { origin } });
      const preflight = await fetch(`${url}/api/workspaces`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      const allowed = [headers, preflight.headers].map((some) => some.get('access-control-allow-origin'));
      expect(allowed[0]).toBe(allowed[1]);
      if (allowed[0] === origin) readable.push(origin);
      else expect(allowed[0]).toBeNull();
    }
    return readable;
  }

  async function countRefused(url: string): Promise<number> {
    // Guesses, which are limited most.
    const call = (_: unknown, index: number) => callFrom(`${url}/api/rooms/unknown-${index}`);
    const answers = await Promise.all(Array.from({ length: 75 }, call));
    return answers.filter(({ status }) => status === 429).length;
  }

  /** The status of the registration of a webhook for this machine. */
  async function addLocalWebhook(url: string): Promise<number> {
    const http = createHttp(url);
    const account = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
    const { token } = (await http.post('/api/auth/register', undefined, account)).body;
    const { workspaces } = (await http.get('/api/workspaces', token)).body;
    const webhook = { name: 'Local', url: 'http://localhost:3999/', events: ['room.created'] };
    return (await http.post(`/api/workspaces/${workspaces[0].id}/webhooks`, token, webhook)).status;
  }

  test('in development admits this machine, and no page of another site', async () => {
    const { server, url } = await start({ CORS_ORIGINS: 'https://app.example.com' });
    expect(await readableBy(url)).toEqual(['http://localhost:5173', 'http://127.0.0.1', 'https://app.example.com']);
    expect(await countRefused(url)).toBe(0);
    expect(await addLocalWebhook(url)).toBe(200);
    for (const host of ['evil.example', 'evil.example:3000', 'localhost.evil.example', '192.168.1.5'])
      for (const headers of [{ host }, { host, 'x-forwarded-for': '203.0.113.9' }])
        expect(await callFrom(`${url}/api/dashboard/generate-name`, { headers })).toMatchObject({
          status: 400,
          body: { message: 'Unknown host name: set PUBLIC_URL to use a name other than localhost' },
        });
    for (const path of ['/health', '/ready'])
      expect((await callFrom(`${url}${path}`, { headers: { host: '192.168.1.5:3000' } })).status).toBe(200);
    for (const host of ['localhost', 'LOCALHOST:3000', 'app.localhost', '127.0.0.1:1', '[::1]:3000'])
      expect((await callFrom(`${url}/api/dashboard/generate-name`, { headers: { host } })).status).not.toBe(400);
    expect(server.output()).toContain(describeLocalAccess(accessWith({})));
  });

  test('in production lets the operator create the first account with the token alone', async () => {
    const SETUP_TOKEN = 'a token for the first account';
    const { url } = await start({ NODE_ENV: 'production', REGISTRATION: 'closed', SETUP_TOKEN });
    const http = createHttp(url);
    // As through a proxy that passes on neither the host nor an address.
    expect((await http.get('/api/auth/openid/providers')).body).toMatchObject({
      registration: 'closed',
      first_account: 0,
    });
    const account = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
    const register = (fields: object) => http.post('/api/auth/register', undefined, { ...account, ...fields });
    expect((await register({})).status).toBe(403);
    expect((await register({ setup_token: SETUP_TOKEN })).status).toBe(200);
  });

  test('in production admits only what is named', async () => {
    const { server, url } = await start({ NODE_ENV: 'production', CORS_ORIGINS: 'https://app.example.com' });
    expect(await readableBy(url)).toEqual(['https://app.example.com']);
    expect(await addLocalWebhook(url)).toBe(400);
    expect(await countRefused(url)).toBeGreaterThan(0);
    expect((await callFrom(`${url}/health`, { headers: { host: 'api.example.com' } })).status).toBe(200);
    expect(server.output()).toContain('public addresses only (WEBHOOK_ALLOW_PRIVATE=1 allows others)');
    expect(server.output()).toContain('Rate limits apply to callers on this machine.');
  });
});
