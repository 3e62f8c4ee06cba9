/** Two servers on one database, whose machines disagree about the time. */
import { rm } from 'node:fs/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEncryptionKey } from '../../src/core/sealing.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { addCopy, leaseCopies } from '../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { type RunningServer, startServer } from '../../src/runtime/start.ts';
import { createHttp, type Http } from '../support/http.ts';
import { makePdf } from '../support/media.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

type Warning = { level: number; msg: string; seconds?: number };
/** A server whose machine's clock is wrong by `skew` milliseconds, which a test may change. */
type SkewedServer = RunningServer & { http: Http; warnings: Warning[]; skew: number };

let dataDir: string;
let database: TestDatabase;
let ahead: SkewedServer;
let behind: SkewedServer;
let token: string;
let workspaceId: number;

beforeAll(async () => {
  [dataDir, database] = await Promise.all([makeTempDir(), createDatabase()]);
  const encryptionKey = Buffer.from(createEncryptionKey()).toString('base64');
  ahead = await startSkewed(10 * MINUTE_MS, encryptionKey);
  behind = await startSkewed(-10 * MINUTE_MS, encryptionKey);
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  token = (await behind.http.post('/api/auth/register', undefined, account)).body.token;
  workspaceId = (await behind.http.get('/api/workspaces', token)).body.workspaces[0].id;
});
afterAll(async () => {
  await Promise.all([ahead.stop(), behind.stop()]);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Both servers use one directory of files. */
async function startSkewed(skew: number, encryptionKey: string): Promise<SkewedServer> {
  const lines: Warning[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const config = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: encryptionKey,
    PORT: '0',
    RUN_WORKER: '0',
  });
  const machine = { skew, now: () => new Date(Date.now() + machine.skew) };
  const server = await startServer(config, logger, machine);
  return {
    ...server,
    http: createHttp(server.url),
    warnings: lines,
    get skew() {
      return machine.skew;
    },
    set skew(value) {
      machine.skew = value;
    },
  };
}

async function addRoom(): Promise<{ id: number; name: string; created_at: number }> {
  return (await behind.http.post('/api/dashboard/rooms', token, {})).body.room;
}

test('both have the time of the database, and each logs once how wrong its machine is', async () => {
  const times = [ahead, behind].map(({ services }) => services.clock.now().getTime());
  expect(Math.abs((times[0] ?? 0) - (times[1] ?? 0))).toBeLessThan(SECOND_MS);
  const skews = [ahead, behind].map(({ warnings }) =>
    warnings.filter(({ msg }) => msg.startsWith('The clock of this machine')).map(({ seconds = 0 }) => seconds),
  );
  expect(skews).toEqual([[expect.closeTo(600, -1)], [expect.closeTo(-600, -1)]]);
});

test('a step of the clock of a machine changes nothing', () => {
  const before = behind.services.clock.now().getTime();
  behind.skew -= 10 * MINUTE_MS;
  const after = behind.services.clock.now().getTime();
  behind.skew += 10 * MINUTE_MS;
  expect(after).toBeGreaterThanOrEqual(before);
  expect(after - before).toBeLessThan(SECOND_MS);
});

test('the lease of a recording copy is respected by the other server', async () => {
  const { db, clock, sealer } = behind.services;
  const room = await addRoom();
  const now = clock.now();
  const { id } = await db.recording.create({
    data: { workspaceId, roomId: room.id, archiveId: 'a', status: 'uploaded', createdAt: now, updatedAt: now },
  });
  const file = { url: 'https://files.example.com/a.mp4', expiresAt: null, isOwnStorage: false };
  await db.$transaction((tx) => addCopy({ tx, now, sealer }, { workspaceId, recordingId: id }, file));
  expect(await leaseCopies(behind.services, 1)).toHaveLength(1);
  expect(await leaseCopies(ahead.services, 1)).toEqual([]);
});

test('a participant of one server is not expired by the other', async () => {
  const { name } = await addRoom();
  const { participant } = (await behind.http.post(`/api/rooms/${name}/join`, undefined, { name: 'Gina' })).body;
  expect(await expireParticipants(ahead.services)).toBe(0);
  const seen = await ahead.http.post(`/api/rooms/${name}/presence`, undefined, { token: participant.token });
  expect(seen.body.participant.status).toBe('joined');
});

test('a download link of one server is accepted by the other', async () => {
  const body = new FormData();
  body.append('file', new Blob([Uint8Array.from(makePdf({}))], { type: 'application/pdf' }), 'contract.pdf');
  const path = `/api/workspaces/${workspaceId}/library`;
  const { item } = (await behind.http.call('POST', path, { token, body })).body;
  const { url } = (await behind.http.getJson(`${path}/${item.id}/download`, token)).body;
  const { pathname, search } = new URL(url);
  expect((await fetch(ahead.url + pathname + search)).status).toBe(200);
});
