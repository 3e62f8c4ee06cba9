/** The link that signs the person at this machine in to the demo account. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { createLocalLink } from '../../src/features/auth/local-sign-in.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, type Person } from '../support/world.ts';

let app: TestApp;
let person: Person;
beforeAll(async () => {
  app = await startTestApp({ signsInLocally: true });
});
afterAll(() => app.close());
beforeEach(async () => {
  person = await addPerson(app, 'Demo');
});

/** Creates a link, and returns its token. */
async function newToken(): Promise<string> {
  const path = await createLocalLink(app.services, person.email);
  expect(path).toMatch(/^\/open#token=lnm_[\w-]{43}$/);
  return path?.split('=')[1] ?? '';
}

function spend(token: string, headers: Record<string, string> = {}) {
  const own = { 'content-type': 'text/plain', origin: app.url, 'sec-fetch-site': 'same-origin' };
  return fetch(`${app.url}/open`, { method: 'POST', headers: { ...own, ...headers }, body: token });
}

const useless = { error: 'This link was already used or has expired: request a new one' };

test('signs in once, with the cookie of a session, and stores only the hash of its token', async () => {
  const token = await newToken();
  const rows = await app.services.db.accountToken.findMany({ where: { purpose: 'local_sign_in' } });
  expect(JSON.stringify(rows)).not.toContain(token);
  const signed = await spend(token);
  expect([signed.status, await signed.json()]).toEqual([200, { ok: true }]);
  const cookie = signed.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^session=lns_[\w-]+; .*HttpOnly/);
  const session = cookie.split(/[=;]/)[1] ?? '';
  expect((await app.http.get('/api/auth/me', session)).body.user.email).toBe(person.email);
  const { sessions } = (await app.http.get('/api/auth/sessions', session)).body;
  expect(sessions[0].method).toBe('local_link');
  expect((await spend(token)).status).toBe(400);
});

test('of ten that spend a link at once, one is signed in', async () => {
  const token = await newToken();
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await spend(token)).status));
  expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(400)]);
});

test('ends after ten minutes, and with the account', async () => {
  const token = await newToken();
  app.clock.advance(10 * MINUTE_MS);
  const late = await spend(token);
  expect([late.status, await late.json()]).toMatchObject([400, useless]);
  const other = await newToken();
  await app.services.db.user.update({ where: { id: person.id }, data: { lockedAt: app.clock.now() } });
  expect((await spend(other)).status).toBe(400);
  expect(await createLocalLink(app.services, 'nobody@example.com')).toBeNull();
});

test('a sixth link within ten minutes ends the earlier ones', async () => {
  const tokens: string[] = [];
  for (let count = 0; count < 6; count += 1) tokens.push(await newToken());
  const statuses: number[] = [];
  for (const token of tokens) statuses.push((await spend(token)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 200]);
});

test('no other link works here, and this one works nowhere else', async () => {
  const token = await newToken();
  for (const path of ['verify-email', 'reset-password'])
    expect(
      (await app.http.post(`/api/auth/${path}`, undefined, { token, password: 'correct horse battery' })).status,
    ).toBe(400);
  for (const wrong of ['', 'lnm_unknown', person.token]) expect((await spend(wrong)).status).toBe(400);
  expect((await spend(token)).status).toBe(200);
});

describe('is refused', () => {
  test.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'http://localhost:5173' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a proxy', { 'x-forwarded-for': '127.0.0.1' }],
    ['a proxy of the standard', { forwarded: 'for=127.0.0.1' }],
    ['a proxy that names an address', { 'x-real-ip': '127.0.0.1' }],
  ])('for %s, and can still be spent', async (_, headers) => {
    const token = await newToken();
    expect((await spend(token, headers)).status).toBe(404);
    expect((await app.http.call('GET', '/open', { headers })).status).toBe(404);
    expect((await spend(token)).status).toBe(200);
  });

  test('where the service does not have such links', async () => {
    const token = await newToken();
    const other = await startTestApp({ sharedDatabase: app });
    try {
      const headers = { 'content-type': 'text/plain' };
      for (const method of ['GET', 'POST'])
        expect(
          (await fetch(`${other.url}/open`, { method, headers, ...(method === 'POST' && { body: token }) })).status,
        ).toBe(404);
    } finally {
      await other.close();
    }
  });
});

test('the page asks for a click, and has nothing of the token', async () => {
  const { status, body, headers } = await app.http.get('/open');
  expect([status, headers.get('x-frame-options')]).toEqual([200, 'DENY']);
  expect(body).toContain('<h1>Open Lynxroom</h1>');
  expect((await app.http.get('/pages/open.js')).status).toBe(200);
});
