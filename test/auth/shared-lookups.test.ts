/** Concurrent calls with one credential share the queries that find the caller. Each is still judged on its own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRequestBounds, runCall } from '../../src/core/call-bounds.ts';
import { int, statement } from '../../src/db/statements.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const readNumber = statement('read-shared-number', {
  params: { number: int },
  returns: { number: int },
  sql: `
    select $number as number`,
});

let app: TestApp;
let team: Team;
let other: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  other = await addTeam(app, 'Other');
});
afterAll(() => app.close());

async function newKey(settings: object = {}): Promise<{ id: number; key: string }> {
  const { status, body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Key', ...settings });
  expect(status).toBe(200);
  return { id: body.apiKey.id, key: body.apiKey.full_key };
}

/**
 * Lists labels with `token` from 8 loops while `revoke` runs, until each loop has got `refused` three times. Returns
 * the statuses of the calls that started after `revoke` had resolved.
 */
async function callWhile(token: string, revoke: () => Promise<{ status: number }>, refused: number): Promise<number[]> {
  let isRevoked = false;
  const after: number[] = [];
  const before: number[] = [];
  const loops = concurrently(8, async () => {
    for (let refusals = 0; refusals < 3; ) {
      const list = isRevoked ? after : before;
      const { status } = await app.http.get(`${team.path}/labels`, token);
      list.push(status);
      if (status === refused) refusals += 1;
    }
  });
  await expect.poll(() => before.length).toBeGreaterThan(16);
  expect((await revoke()).status).toBe(200);
  isRevoked = true;
  await loops;
  expect(before).toContain(200);
  return after;
}

test('once a key is deleted, no call that starts later is accepted, however many are under way', async () => {
  const { id, key } = await newKey();
  const remove = () => app.http.delete(`${team.path}/api-keys/${id}`, team.owner.token);
  const after = await callWhile(key, remove, 401);
  expect(new Set(after)).toEqual(new Set([401]));
});

test('once a session has ended or its user is no longer a member, no call that starts later is accepted', async () => {
  const { member, admin, owner } = team;
  const remove = () => app.http.delete(`${team.path}/members/${admin.id}`, owner.token);
  expect(new Set(await callWhile(admin.token, remove, 403))).toEqual(new Set([403]));
  const logOut = () => app.http.post('/api/auth/logout', member.token);
  expect(new Set(await callWhile(member.token, logOut, 401))).toEqual(new Set([401]));
});

test('concurrent calls with one credential get the role of their own workspace', async () => {
  const answers = await concurrently(40, async (index) => {
    const { path } = index % 2 === 0 ? team : other;
    const { status } = await app.http.get(`${path}/labels`, team.owner.token);
    return { status: index % 2 === 0 ? status : -status };
  });
  expect(countStatuses(answers)).toEqual({ 200: 20, [-403]: 20 });
});

test('concurrent calls with one key are each judged by their own address', async () => {
  const { key } = await newKey({ allowed_networks: ['127.0.0.1'] });
  const headers = { authorization: `Bearer ${key}` };
  const answers = await concurrently(40, async (index) => {
    const localAddress = index % 2 === 0 ? '127.0.0.1' : '127.0.0.2';
    const { status } = await callFrom(`${app.url}${team.path}/labels`, { localAddress, headers });
    return { status: index % 2 === 0 ? status : -status };
  });
  expect(countStatuses(answers)).toEqual({ 200: 20, [-403]: 20 });
});

/** Counts its statements, and returns the number of each. */
function countingRead() {
  let statements = 0;
  return () =>
    app.services.db.sql.runShared(readNumber, 'one', () => {
      statements += 1;
      return { number: statements };
    });
}

test('of ten calls that start together, nine share one statement, with the time at which it starts', async () => {
  const rows = await concurrently(10, countingRead());
  expect(rows.flat().map(({ number }) => number)).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
});

test('calls to different features share nothing, so a feature without free connections holds up no other', async () => {
  const read = countingRead();
  const rows = await concurrently(4, (index) => {
    const request = createRequestBounds(new AbortController().signal, 'one');
    return runCall(request, { feature: index % 2 === 0 ? 'labels' : 'contacts', isRead: true }, read);
  });
  expect(
    rows
      .flat()
      .map(({ number }) => number)
      .sort(),
  ).toEqual([1, 2, 3, 4]);
});
