/** Real server processes that are killed, or stopped as in a rolling restart, while people meet through them. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttp, type Http } from '../support/http.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';
import { enter, expectPeers, openPage, signal } from './pages.ts';

type Process = { server: ServerProcess; url: string; http: Http };

let database: TestDatabase;
let dataDir: string;
let room: string;
const started: ServerProcess[] = [];
let near: Process;

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await makeTempDir();
  near = await start();
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const { body } = await near.http.post('/api/auth/register', undefined, account);
  room = (await near.http.post('/api/dashboard/rooms', body.token)).body.room.name;
});
afterAll(async () => {
  await Promise.all(started.map((server) => server.end('SIGKILL')));
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<Process> {
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, DRAIN_SECONDS: '3600' };
  const server = startServer({ ...env, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') });
  started.push(server);
  const url = await server.ready;
  return { server, url, http: createHttp(url) };
}

test('a rolling restart changes nothing for the others, and a killed process leaves no ghost', async () => {
  const host = await enter(near, room, 'Hanna');
  const far = await start();
  const guest = await enter(far, room, 'Vera');
  await expectPeers(host, [guest.connectionId]);
  const lists = () => host.stream.events.filter(({ event }) => event === 'peers').length;
  const before = lists();
  // As deployments do it: the next process serves before the last one stops.
  const next = await start();
  const stopped = far.server.end('SIGTERM');
  await guest.stream.ended;
  const missed = await signal(host, guest, 'while the process stopped', near);
  expect(missed.status).toBe(200);
  const back = await openPage(guest, guest.connectionId, next);
  await expect.poll(() => back.signals().map(({ data }) => data)).toEqual(['while the process stopped']);
  await signal(back, host, 'I am back');
  await expect.poll(() => host.signals()).toHaveLength(1);
  expect(lists()).toBe(before);
  expect(await stopped).toBe(0);
  await next.server.end('SIGKILL');
  await expect.poll(() => host.peers().peers[0].connection_id, { timeout: 40_000 }).toBeNull();
  expect(lists()).toBe(before + 1);
  host.stream.close();
});
