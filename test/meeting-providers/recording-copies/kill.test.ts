/** A server that is killed while it copies a recording: the next server copies the file. */
import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createEncryptionKey } from '../../../src/core/sealing.ts';
import { openDatabase } from '../../../src/db/client.ts';
import { eventually } from '../../support/eventually.ts';
import { createHttp } from '../../support/http.ts';
import { makeMp4 } from '../../support/media.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type ServerProcess, startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { createDatabase } from '../../support/test-app.ts';
import { PASSWORD } from '../../support/world.ts';
import { bodyOf, genericEvent, signGeneric } from '../adapters/callbacks.ts';

const MP4 = makeMp4({ durationSeconds: 12, moov: 'front', mdatBytes: 300_000 });

test('the next server copies the whole file that a killed server was copying, and emits one event', async () => {
  await using cleanup = new AsyncDisposableStack();
  const database = await createDatabase();
  cleanup.defer(() => database.drop());
  const dataDir = await makeTempDir();
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const db = openDatabase({ connectionString: database.url, poolSize: 2, onError: () => {} });
  cleanup.defer(() => db.$disconnect());
  const files = await startReceiver((_, response, index) => {
    // The first time only half of it comes.
    if (index === 0) response.writeHead(200, { 'content-length': MP4.length }).write(MP4.subarray(0, 150_000));
    else response.end(MP4);
  });
  cleanup.defer(() => files.close());
  const env = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: Buffer.from(createEncryptionKey()).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: '1',
  };
  const start = async (): Promise<[ServerProcess, string]> => {
    const server = startServer(env);
    cleanup.defer(async () => void (await stopServer(server)));
    return [server, await server.ready];
  };

  const [first, url] = await start();
  const http = createHttp(url);
  const person = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
  const { token } = (await http.post('/api/auth/register', undefined, person)).body;
  const { workspace } = (await http.post('/api/workspaces', token, { name: 'Team' })).body;
  const { room } = (await http.post('/api/dashboard/rooms', token, { workspace_id: workspace.id })).body;
  const path = `/api/workspaces/${workspace.id}/connections`;
  const { connection } = (await http.post(path, token, { name: 'Video', provider: 'generic' })).body;
  const body = bodyOf(genericEvent('recording.available', { url: `${files.url}/a.mp4` }, { room: room.name }));
  const options = { body: new Uint8Array(body), headers: signGeneric(body, connection.secret) };
  const ingest = new URL(connection.ingest_url).pathname;
  expect((await http.call('POST', ingest, options)).status).toBe(200);
  await files.waitFor(1);
  first.child.kill('SIGKILL');
  await first.ended;

  const [claimed] = await db.recordingCopy.findMany();
  expect(claimed?.leasedUntil?.getTime()).toBeGreaterThan(Date.now());
  // As if the minute had passed.
  await db.recordingCopy.updateMany({ data: { leasedUntil: new Date(Date.now() - 1) } });
  await start();
  const recording = await eventually(() => db.recording.findFirst({ where: { status: 'available' } }));
  expect(Number(recording.size)).toBe(MP4.length);
  // A process that is too busy to read the duration at once does so later.
  await eventually(() => db.recording.findFirst({ where: { duration: 12 } }));
  expect(await db.recordingCopy.count()).toBe(0);
  expect(await db.event.count({ where: { type: 'recording.completed' } })).toBe(1);
});
