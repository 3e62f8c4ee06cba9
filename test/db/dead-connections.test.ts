/** Connections that are dead without anybody having closed them: requests end in time, and the pool recovers. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let proxy: TcpProxy;
let app: TestApp;
let team: Team;

beforeEach(async () => {
  app = await startTestApp({
    connectVia: async (databaseUrl) => {
      proxy = await startTcpProxy(databaseUrl);
      return proxy.url;
    },
    database: { poolTimeoutMs: 4_000, statementTimeoutMs: 3_000, requestTimeoutMs: 8_000 },
  });
  team = await addTeam(app);
});
afterEach(async () => {
  await app.close();
  await proxy.close();
});

const people = () => [team.owner, team.admin, team.member];

/** Reads and writes of several users at once, which use every connection of the pool. */
function callAll(): Promise<{ status: number; headers: Headers }[]> {
  return concurrently(24, (index) => {
    const person = people()[index % 3];
    return index % 2 === 0
      ? app.http.get(`${team.path}/labels`, person?.token)
      : app.http.post('/api/dashboard/rooms', person?.token, {});
  });
}

test('requests on dead connections end with 503 and Retry-After, and later ones get new connections', async () => {
  expect(countStatuses(await callAll())).toEqual({ 200: 12, 201: 12 });
  proxy.forgetConnections();
  for (const answer of await callAll()) {
    if (answer.status < 400) continue;
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  // The first dead connection makes the pool replace all that have not been heard from since.
  expect(countStatuses(await callAll())).toEqual({ 200: 12, 201: 12 });
});

test('a database that swallows everything makes every request end, and works again once it answers', async () => {
  await callAll();
  proxy.breakDown();
  expect(countStatuses(await callAll())).toEqual({ 503: 24 });
  expect(countStatuses(await callAll())).toEqual({ 503: 24 });
  proxy.repair();
  expect(countStatuses(await callAll())).toEqual({ 200: 12, 201: 12 });
});
