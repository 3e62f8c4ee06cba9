/** Files that are read from the database while they are sent: refused at the start, or complete. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const CONTACTS = 3_000;

let app: TestApp;
let team: Team;
let other: Team;
beforeAll(async () => {
  app = await startTestApp();
  [team, other] = [await addTeam(app), await addTeam(app)];
  for (const { id } of [team, other])
    await app.services.db.$executeRaw`
      insert into contacts (workspace_id, name, email, created_at)
      select ${id}, 'Person ' || n, 'person' || n || '@example.com', now() from generate_series(1, ${CONTACTS}::int) n`;
});
afterAll(() => app.close());

type Export = { status: number; retryAfter: string | null; isWhole: boolean };

async function read(path: string, token: string): Promise<Export> {
  const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  const isWhole = path.endsWith('.csv')
    ? text.trimEnd().split('\r\n').length === CONTACTS + 1 && text.includes(`person${CONTACTS}@example.com`)
    : text.endsWith('\n}\n');
  return { status: response.status, retryAfter: response.headers.get('retry-after'), isWhole };
}

const csvOf = ({ path, owner }: Team) => read(`${path}/contacts.csv`, owner.token);

test('16 exports of one account at once are complete or get 429, and that of another account is complete', async () => {
  const exports = Promise.all(Array.from({ length: 16 }, () => csvOf(team)));
  expect(await csvOf(other)).toMatchObject({ status: 200, isWhole: true });
  const all = await exports;
  for (const { status, isWhole, retryAfter } of all)
    expect([status, isWhole, retryAfter]).toEqual(status === 200 ? [200, true, null] : [429, false, '5']);
  const whole = all.filter(({ status }) => status === 200);
  expect(whole.length).toBeGreaterThanOrEqual(2);
  expect(whole.length).toBeLessThan(16);
  expect(await csvOf(team)).toMatchObject({ status: 200, isWhole: true });
});

test('an export is complete, although the account makes many other calls meanwhile', async () => {
  const path = `${team.path}/labels`;
  const calls = Array.from({ length: 300 }, () => app.http.get(path, team.owner.token));
  const account = read('/api/auth/export', team.owner.token);
  const contacts = csvOf(team);
  expect([await account, await contacts]).toMatchObject([{ isWhole: true }, { isWhole: true }]);
  for (const { status } of await Promise.all(calls)) expect([200, 429]).toContain(status);
});

/** Sends a request, and hangs up when its response begins. */
function hangUp(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(app.url + path, { headers: { authorization: `Bearer ${team.owner.token}` } }, (response) => {
      response.destroy();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('callers who hang up, and HEAD, leave no export in progress', async () => {
  const path = `${team.path}/contacts.csv`;
  for (let count = 0; count < 5; count += 1) {
    // The server notices the end of the connection a little later.
    await expect.poll(() => hangUp(path)).toBe(200);
    await expect.poll(async () => (await app.http.call('HEAD', path, { token: team.owner.token })).status).toBe(200);
  }
  await expect.poll(() => csvOf(team)).toMatchObject({ status: 200, isWhole: true });
});
