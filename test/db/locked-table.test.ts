/** A table that somebody else holds: what needs it fails in time, and everything else works meanwhile. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPage, officeHours } from '../bookings/pages.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let others: Person[];
let holder: pg.Client;

beforeAll(async () => {
  app = await startTestApp({ database: { poolTimeoutMs: 6_000, statementTimeoutMs: 6_000, requestTimeoutMs: 12_000 } });
  team = await addTeam(app);
  others = await concurrently(6, () => addPerson(app));
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  for (const { client } of others) await client.workspaces.join.mutate({ token });
  holder = new pg.Client({ connectionString: app.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await app.close();
});

test('the other requests are answered while those that need the table wait', async () => {
  await holder.query('begin; lock table library_items');
  // More than the pool has connections, by several users, to two operations.
  const waiting = concurrently(30, (index) => {
    const token = others[index % others.length]?.token;
    return index % 5 === 0 ? upload(app, team.path, token) : app.http.get(`${team.path}/library`, token);
  });
  await waitForLockWait(app, 4);
  const unrelated = await concurrently(20, (index) =>
    index % 2 === 0
      ? app.http.get('/api/workspaces', team.outsider.token)
      : app.http.post('/api/dashboard/rooms', team.outsider.token, {}),
  );
  expect(countStatuses(unrelated)).toEqual({ 200: 10, 201: 10 });
  const answers = await waiting;
  expect(countStatuses(answers)).toEqual({ 503: 30 });
  for (const { headers, body } of answers) {
    expect(headers.get('retry-after')).toBe('2');
    expect(body).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
  await holder.query('rollback');
  expect((await app.http.get(`${team.path}/library`, team.member.token)).status).toBe(200);
  // One line for each, without a stack.
  const lines = app.logLines.filter(({ msg }) => msg === 'The service is busy: try again in a moment');
  expect(lines).toHaveLength(30);
  expect(lines.filter(({ err }) => err !== undefined)).toEqual([]);
});

test('guests of many networks whose calls are stuck leave connections to signed-in users', async () => {
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  const { slug } = await createPage(app, team, officeHours);
  await holder.query('begin; lock table participants, bookings');
  const guests = concurrently(24, (index) => {
    const localAddress = `127.0.3.${index + 1}`;
    return index % 2 === 0
      ? callFrom(`${app.url}/api/book/${slug}`, { localAddress })
      : callFrom(`${app.url}/api/rooms/${room.name}/join`, { method: 'POST', localAddress, json: { name: 'Gus' } });
  });
  await waitForLockWait(app, 4);
  const answers = await concurrently(20, () => app.http.get('/api/workspaces', team.outsider.token));
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  await holder.query('rollback');
  await guests;
});
