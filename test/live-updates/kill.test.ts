/** Real server processes that are killed or stopped with streams open: what their readers lose or get twice. */
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { type Database, openDatabase, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { createHttp } from '../support/http.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

/** How many events are written before, during and after each interruption, at least. */
const SOME = 30;
const WRITERS = 4;

let database: TestDatabase;
let db: Database;
let sql: pg.Client;
let dataDir: string;
let port: number;
let url: string;
let server: ServerProcess;
let token: string;
let workspaceId: number;

beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ connectionString: database.url, poolSize: WRITERS, onError: () => {} });
  sql = new pg.Client({ connectionString: database.superuserUrl });
  await sql.connect();
  dataDir = await makeTempDir();
  port = await freePort();
  await start();
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  token = (await createHttp(url).post('/api/auth/register', undefined, account)).body.token;
  workspaceId = (await createHttp(url).get('/api/workspaces', token)).body.workspaces[0].id;
});
afterAll(async () => {
  await server.end('SIGKILL');
  await sql.end();
  await db.$disconnect();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Starts the server, always on the same port. A stop that waited for its streams would take an hour. */
async function start(): Promise<void> {
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: String(port), DRAIN_SECONDS: '3600' };
  server = startServer({ ...env, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') });
  url = await server.ready;
}

type Reader = { ids: number[]; stream: ReceivedStream };

/** Opens a stream after the last event of `reader`, whose earlier events are kept in `ids`. */
async function resume(reader: Reader | null): Promise<Reader> {
  const ids = reader ? [...reader.ids, ...idsOf(reader.stream)] : [];
  const headers = reader ? { 'last-event-id': String(ids.at(-1)) } : undefined;
  const stream = await openEventStream(`${url}/api/workspaces/${workspaceId}/events/stream`, token, headers);
  return { ids, stream };
}

const idsOf = ({ events }: ReceivedStream): number[] => events.map(({ id }) => Number(id));

/** A reader that never reads, whose connection must not keep the server from ending. */
function openUnread(): void {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const path = `/api/workspaces/${workspaceId}/events/stream?last_event_id=0`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
}

let isWriting = true;
let written = 0;

/** Writes events whether a server runs or not, as another process of the service would. */
async function write(): Promise<void> {
  for (; isWriting; written += 1) {
    const item = {
      workspace_id: workspaceId,
      item_id: written + 1,
      name: 'a.pdf',
      mime_type: 'application/pdf',
      size: 1,
    };
    const data = { ...item, deleted_by: null, deleted_by_name: null };
    await transact(db, async (tx) => {
      await emit(sqlIn(tx), new Date(), { type: 'library_item.deleted', workspaceId, data });
      await sleep(Math.random() * 10);
    });
  }
}

/** Creates rooms with whatever server runs. Only the database knows whether one that was killed created its room. */
async function createRooms(): Promise<void> {
  while (isWriting) {
    await createHttp(url)
      .post('/api/dashboard/rooms', token, {})
      .catch(() => {});
    await sleep(100);
  }
}

async function untilSomeWritten(): Promise<void> {
  const before = written;
  await eventually(async () => written >= before + SOME);
}

test('what is committed before, while and after a server is away arrives once and in order', async () => {
  const subscribed: number[] = [];
  const errors: unknown[] = [];
  const { unsubscribe } = createClient({ url, token }).events.live.subscribe(
    { id: workspaceId },
    { onData: ({ id }) => subscribed.push(Number(id)), onError: (error) => errors.push(error) },
  );
  await eventually(async () => subscribed.length > 0);
  let readers = await Promise.all([1, 2, 3].map(() => resume(null)));
  await Promise.all(readers.map(({ stream }) => stream.first('stream.opened')));
  const working = Promise.all([...Array.from({ length: WRITERS }, write), createRooms()]);

  for (const [signal, status] of [
    ['SIGKILL', null],
    ['SIGTERM', 0],
    ['SIGKILL', null],
  ] as const) {
    openUnread();
    await untilSomeWritten();
    await eventually(async () => readers.every(({ stream }) => stream.events.length > 1));
    expect(await server.end(signal)).toBe(status);
    expect(server.output()).not.toContain('Failed to stop');
    await Promise.all(readers.map(({ stream }) => stream.ended));
    await untilSomeWritten();
    await start();
    readers = await Promise.all(readers.map(resume));
  }
  await untilSomeWritten();
  isWriting = false;
  await working;

  const committed = await eventually(async () => {
    const { rows } = await sql.query<{ sequence: number | null }>(
      'select sequence::int from events where workspace_id = $1 order by sequence nulls first',
      [workspaceId],
    );
    return rows[0]?.sequence != null && rows.map(({ sequence }) => sequence);
  });
  const idsOfReader = (reader: Reader): number[] => [...reader.ids, ...idsOf(reader.stream)];
  for (const read of [...readers.map((reader) => () => idsOfReader(reader)), () => subscribed]) {
    await eventually(async () => read().at(-1) === committed.at(-1));
    const [opened = 0, ...received] = read();
    expect(received).toEqual(committed.filter((sequence) => (sequence ?? 0) > opened));
    expect(received.length).toBeGreaterThan(7 * SOME);
  }
  expect(errors).toEqual([]);
  const { rows } = await sql.query("select count(*)::int from events where type = 'library_item.deleted'");
  expect(rows[0].count).toBe(written);
  unsubscribe();
  for (const { stream } of readers) stream.close();
}, 300_000);
