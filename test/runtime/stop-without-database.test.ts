/** A server whose database hangs still recovers, and still ends when it is told to. */
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEncryptionKey } from '../../src/core/sealing.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { eventually } from '../support/eventually.ts';
import { createHttp } from '../support/http.ts';
import { accept, startReceiver } from '../support/receiver.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';

vi.setConfig({ testTimeout: 5 * MINUTE_MS });

let dataDir: string;
let database: Awaited<ReturnType<typeof createDatabase>>;
let proxy: TcpProxy;
let server: ServerProcess;

beforeEach(async () => {
  dataDir = await makeTempDir();
  database = await createDatabase();
  proxy = await startTcpProxy(database.url);
  server = startServer({
    DATABASE_URL: proxy.url,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: Buffer.from(createEncryptionKey()).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: '1',
    DRAIN_SECONDS: '1',
  });
});
afterEach(async () => {
  await server.end('SIGKILL');
  await proxy.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

test('requests and webhooks go on after the connections of all pools were forgotten', async () => {
  const http = createHttp(await server.ready);
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const { token } = (await http.post('/api/auth/register', undefined, account)).body;
  const { workspaces } = (await http.get('/api/workspaces', token)).body;
  const receiver = await startReceiver(accept);
  await http.post(`/api/workspaces/${workspaces[0].id}/webhooks`, token, {
    name: 'Receiver',
    url: receiver.url,
    events: ['room.created'],
  });
  proxy.forgetConnections();
  await eventually(async () => (await http.post('/api/dashboard/rooms', token, {})).status === 201);
  // The relay, the queue and the worker have connections of their own.
  await eventually(async () => receiver.requests.length > 0);
  expect(await server.end('SIGTERM')).toBe(0);
  await receiver.close();
});

test('SIGTERM ends a server whose database no longer responds', async () => {
  await server.ready;
  proxy.breakDown();
  expect(await server.end('SIGTERM')).toBe(0);
});
