/** What interrupts an upload, and how it goes on: broken connections, other processes, failures of the store. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { finishCompleteUploads, removeExpiredUploads } from '../../src/features/uploads/maintain-uploads.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import type { ObjectStore, PartialObject } from '../../src/storage/object-store.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { createFaultyStore, failUnavailable } from '../library/upload/faults.ts';
import { eventsOf } from '../support/events.ts';
import { stagedIn, storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, cancel, create, created, head, pdfOf } from './tus-fixtures.ts';

const store = createFaultyStore();
const quotas = { ...defaultQuotas };
let app: TestApp;
/** Another process with the same database and the same files. */
let other: TestApp;
let team: Team;
let uploads: string;
let token: string;
const sockets = new Set<Socket>();
beforeAll(async () => {
  app = await startTestApp({ wrapStore: store.wrapStore, settings: { maxItemBytes: 2_000_000, quotas } });
  app.server.on('connection', (socket: Socket) => sockets.add(socket));
  const shared = app.services.store;
  other = await startTestApp({ sharedDatabase: app, wrapStore: () => shared, settings: { maxItemBytes: 2_000_000 } });
  team = await addTeam(app);
  uploads = `${team.path}/library/uploads`;
  token = team.member.token;
});
afterAll(async () => {
  await other.close();
  await app.close();
});

/** How many bytes the server has received. */
function received(): number {
  return [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
}

/** A body that sends `bytes` and then neither goes on nor ends, until it is cut off. */
function hangingBody(bytes: Buffer): { body: ReadableStream<Uint8Array>; cut: AbortController } {
  const cut = new AbortController();
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes) });
  return { body, cut };
}

const offsetOf = async (upload: string, at = app): Promise<string | null> =>
  (await head(at, upload, token)).headers.get('upload-offset');

async function expectItem(result: string | null, file: Buffer): Promise<void> {
  const { item } = (await app.http.get(result ?? '', token)).body;
  const row = await app.services.db.libraryItem.findFirstOrThrow({ where: { id: item.id } });
  expect([item.size, Buffer.from(row.sha256)]).toEqual([file.length, createHash('sha256').update(file).digest()]);
  const stored = createHash('sha256');
  for await (const chunk of await app.services.store.read(row.fileKey)) stored.update(chunk);
  expect(stored.digest()).toEqual(Buffer.from(row.sha256));
}

test('a connection that breaks loses nothing that has arrived', async () => {
  const file = pdfOf(1_000_000);
  const upload = await created(app, uploads, token, { length: file.length });
  const { body, cut } = hangingBody(file.subarray(0, 400_000));
  const before = received();
  const broken = append(app, upload, token, 0, body, {}, cut.signal);
  await expect.poll(received).toBeGreaterThan(before + 400_000);
  cut.abort();
  await expect(broken).rejects.toThrow();
  await expect.poll(() => app.services.db.upload.count({ where: { NOT: { lease: null } } })).toBe(0);
  const offset = Number(await offsetOf(upload));
  // What the connection had buffered may be lost.
  expect(offset).toBeGreaterThan(200_000);
  const last = await append(app, upload, token, offset, file.subarray(offset));
  await expectItem(last.headers.get('upload-result'), file);
});

for (const [where, processOf] of [
  ['the same process', () => app],
  ['another process', () => other],
] as const)
  test(`a request to ${where} stops one that hangs, and continues from what it stored`, async () => {
    const file = pdfOf(600_000);
    const upload = await created(app, uploads, token, { length: file.length });
    const { body } = hangingBody(file.subarray(0, 200_000));
    const hanging = append(app, upload, token, 0, body).catch(() => null);
    const path = (): Promise<number> => app.services.db.upload.count({ where: { NOT: { lease: null } } });
    await expect.poll(path).toBe(1);
    // The offset is known once the hanging request has ended.
    const refused = await append(processOf(), upload, token, 1, file.subarray(1));
    expect(refused.status).toBe(409);
    const offset = Number(refused.headers.get('upload-offset'));
    const last = await append(processOf(), upload, token, offset, file.subarray(offset));
    expect(last.status).toBe(204);
    expect((await hanging)?.status ?? 409).toBe(409);
    await expectItem(last.headers.get('upload-result'), file);
  });

for (const [where, processOf] of [
  ['the same process', () => app],
  ['another process', () => other],
] as const)
  test(`HEAD to ${where} stops a request that hangs, and says what it stored`, async () => {
    const file = pdfOf(600_000);
    const upload = await created(app, uploads, token, { length: file.length });
    const { body } = hangingBody(file.subarray(0, 200_000));
    const hanging = append(app, upload, token, 0, body).catch(() => null);
    await expect.poll(() => app.services.db.upload.count({ where: { NOT: { lease: null } } })).toBe(1);
    const { headers } = await head(processOf(), upload, token);
    expect(await app.services.db.upload.count({ where: { NOT: { lease: null } } })).toBe(0);
    const offset = Number(headers.get('upload-offset'));
    const last = await append(app, upload, token, offset, file.subarray(offset));
    expect(last.status).toBe(204);
    expect((await hanging)?.status ?? 409).toBe(409);
    await expectItem(last.headers.get('upload-result'), file);
  });

test('after a process was killed, another continues from what was recorded once the lease has ended', async () => {
  const file = pdfOf(300_000);
  const upload = await created(app, uploads, token, { length: file.length });
  await append(app, upload, token, 0, file.subarray(0, 100_000));
  const id = upload.split('/').at(-1) ?? '';
  const killed = { lease: 'of a killed process', leasedUntil: new Date(app.clock.now().getTime() - 1) };
  await app.services.db.upload.update({ where: { id }, data: killed });
  const last = await append(other, upload, token, 100_000, file.subarray(100_000));
  await expectItem(last.headers.get('upload-result'), file);
});

test('a process that is killed after it has completed the object, but not the upload, loses nothing', async () => {
  const file = pdfOf(100_000);
  const upload = await created(app, uploads, token, { length: file.length });
  const { partial } = store.real();
  store.faults.partial = { ...partial, complete: failUnavailable } as ObjectStore['partial'];
  expect((await append(app, upload, token, 0, file)).status).toBe(500);
  delete store.faults.partial;
  const id = upload.split('/').at(-1) ?? '';
  const { fileKey, stored } = await app.services.db.upload.findUniqueOrThrow({ where: { id } });
  // `as`: the row has the state that the store returned.
  await partial.complete(fileKey, stored as PartialObject);
  const killed = { lease: 'of a killed process', leasedUntil: new Date(app.clock.now().getTime() - 1) };
  await app.services.db.upload.update({ where: { id }, data: killed });
  const finished = await head(other, upload, token);
  expect(finished.status).toBe(200);
  await expectItem(finished.headers.get('upload-result'), file);
});

test('a last step that takes longer than a lease is not taken over', { timeout: 30_000 }, async () => {
  const file = pdfOf(100_000);
  const upload = await created(app, uploads, token, { length: file.length });
  await append(app, upload, token, 0, file.subarray(0, 50_000));
  const slow = Promise.withResolvers<void>();
  // The other process has not seen the first bytes, so it reads the object for its hash.
  store.faults.read = async (...args) => {
    await slow.promise;
    return store.real().read(...args);
  };
  const last = append(other, upload, token, 50_000, file.subarray(50_000));
  const id = upload.split('/').at(-1) ?? '';
  const leasedUntil = async (): Promise<number> => {
    const row = await app.services.db.upload.findUniqueOrThrow({ where: { id } });
    return row.received < BigInt(file.length) ? 0 : (row.leasedUntil?.getTime() ?? 0);
  };
  await expect.poll(leasedUntil, { timeout: 10_000 }).toBeGreaterThan(0);
  const first = await leasedUntil();
  await expect.poll(leasedUntil, { timeout: 10_000 }).toBeGreaterThan(first);
  delete store.faults.read;
  slow.resolve();
  await expectItem((await last).headers.get('upload-result'), file);
});

for (const [what, remove] of [
  ['cancelled in another process', (upload: string, { member }: Team) => cancel(other, upload, member.token)],
  ['deleted with its workspace', (_: string, { path, owner }: Team) => app.http.delete(path, owner.token)],
] as const)
  test(`a request whose upload is ${what} ends with 404`, { timeout: 30_000 }, async () => {
    const mine = await addTeam(app);
    const upload = await created(app, `${mine.path}/library/uploads`, mine.member.token, { length: 600_000 });
    const hanging = append(app, upload, mine.member.token, 0, hangingBody(pdfOf(200_000)).body);
    await expect.poll(() => app.services.db.upload.count({ where: { NOT: { lease: null } } })).toBe(1);
    await remove(upload, mine);
    const { status, body } = await hanging;
    expect([status, body.message]).toEqual([404, 'Upload not found']);
  });

test('the same bytes sent by many requests at once are stored once', async () => {
  const file = pdfOf(300_000);
  const upload = await created(app, uploads, token, { length: file.length });
  const before = (await eventsOf(app, team.id, 'library_item.uploaded')).length;
  const answers = await Promise.all(
    [app, other, app, other, app].map((one) => append(one, upload, token, 0, file).catch(() => null)),
  );
  expect(answers.filter((answer) => answer?.status === 204).length).toBeLessThanOrEqual(1);
  for (let offset = await offsetOf(upload); offset !== '300000'; offset = await offsetOf(upload))
    await append(app, upload, token, Number(offset), file.subarray(Number(offset)));
  const { upload: state } = (await app.http.get(upload, token)).body;
  await expectItem(state.result, file);
  expect(await eventsOf(app, team.id, 'library_item.uploaded')).toHaveLength(before + 1);
});

test('a file whose last step failed is finished by HEAD, or without the client', async () => {
  for (const finish of [(upload: string) => head(other, upload, token), () => finishCompleteUploads(app.services)]) {
    const file = pdfOf(10_000);
    const upload = await created(app, uploads, token, { length: file.length });
    const { partial } = store.real();
    store.faults.partial = { ...partial, complete: failUnavailable } as ObjectStore['partial'];
    const failed = await append(app, upload, token, 0, file);
    expect([failed.status, failed.body.message]).toEqual([500, 'Upload failed: storage service unavailable']);
    expect(failed.headers.get('upload-offset')).toBe('10000');
    delete store.faults.partial;
    await finish(upload);
    const { upload: state } = (await app.http.get(upload, token)).body;
    await expectItem(state.result, file);
  }
});

test('an upload that nobody continues expires after a day, and leaves nothing', async () => {
  const upload = await created(app, uploads, token, { length: 100 });
  await append(app, upload, token, 0, pdfOf(50));
  const id = upload.split('/').at(-1) ?? '';
  const { fileKey, expiresAt } = await app.services.db.upload.findUniqueOrThrow({ where: { id } });
  expect(expiresAt.getTime() - app.clock.now().getTime()).toBeGreaterThan(DAY_MS - HOUR_MS);
  // The sweep does not take an upload in progress for an orphan.
  await sweepStorage({ ...app.services, clock: { now: () => new Date(Date.now() + 2 * DAY_MS) } });
  expect(await offsetOf(upload)).toBe('50');
  await app.services.db.upload.update({ where: { id }, data: { expiresAt: app.clock.now() } });
  expect((await head(app, upload, token)).status).toBe(404);
  await removeExpiredUploads(app.services);
  expect(await app.services.db.upload.count({ where: { id } })).toBe(0);
  expect([...(await stagedIn(app)), ...(await storedKeys(app))].filter((name) => fileKey.endsWith(name))).toEqual([]);
});

test('one user has at most 50 unfinished uploads', async () => {
  const admin = team.admin.token;
  const statuses: number[] = [];
  for (let count = 0; count < 51; count += 1) statuses.push((await create(app, uploads, admin, { length: 10 })).status);
  expect(statuses).toEqual([...Array(50).fill(201), 409]);
  await app.services.db.upload.deleteMany({ where: { createdBy: team.admin.id } });
});

test('a file may be as large as LIBRARY_MAX_BYTES, also if its length is deferred', async () => {
  const tooLarge = await create(app, uploads, token, { length: 2_000_001 });
  expect([tooLarge.status, tooLarge.body.message]).toEqual([413, 'File is larger than 2000000 bytes']);
  const upload = await created(app, uploads, token, {});
  const refused = await append(
    app,
    upload,
    token,
    0,
    Readable.toWeb(Readable.from([pdfOf(2_000_001)])) as ReadableStream,
  );
  expect([refused.status, refused.body.message]).toEqual([413, 'File is larger than 2000000 bytes']);
  expect((await head(app, upload, token)).status).toBe(404);
});

test('lengths and offsets that lie are refused by name', async () => {
  const upload = await created(app, uploads, token, { length: 100 });
  const long = await append(app, upload, token, 0, pdfOf(101));
  expect([long.status, long.body.message]).toEqual([
    400,
    'The body is longer than the rest of the 100 bytes of Upload-Length',
  ]);
  for (const offset of ['-1', '1.5', 'x', '', '99999999999999999999']) {
    const { status, body } = await append(app, upload, token, 0, pdfOf(10), { 'upload-offset': offset });
    expect([status, body.message]).toEqual([400, 'Upload-Offset must be a non-negative integer']);
  }
  for (const length of ['-1', '1e3', 'x']) {
    const { status, body } = await create(app, uploads, token, { length: 1, headers: { 'upload-length': length } });
    expect([status, body.message]).toEqual([400, 'Upload-Length must be a non-negative integer']);
  }
  for (const metadata of ['filename !', 'filename YQ==,filename YQ==', 'a b c', 'filename /w=='])
    expect((await create(app, uploads, token, { length: 10, metadata })).status).toBe(400);
});

test('parts of a few bytes are refused after a thousand requests', async () => {
  const upload = await created(app, uploads, token, { length: 1_000_000 });
  const id = upload.split('/').at(-1) ?? '';
  await append(app, upload, token, 0, pdfOf(1));
  await app.services.db.upload.update({ where: { id }, data: { requests: 1_000 } });
  const refused = await append(app, upload, token, 1, pdfOf(1));
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'The parts are too small: send at least 1 kB in each request',
  ]);
});

test('the quota counts unfinished uploads with their length, or with what has arrived', async () => {
  const mine = await addTeam(app);
  const path = `${mine.path}/library/uploads`;
  const { token: own } = mine.member;
  quotas.bytes = 1_000_000;
  try {
    const deferred = await created(app, path, own, {});
    await append(app, deferred, own, 0, pdfOf(300_000));
    await created(app, path, own, { length: 500_000 });
    expect((await create(app, path, own, { length: 300_000 })).status).toBe(409);
    const named = await append(app, deferred, own, 300_000, pdfOf(10), { 'upload-length': '600000' });
    expect([named.status, named.headers.get('upload-offset')]).toEqual([409, '300000']);
    expect((await append(app, deferred, own, 300_000, pdfOf(300_000))).status).toBe(204);
    expect((await append(app, deferred, own, 600_000, pdfOf(10))).status).toBe(409);
    const fits = await append(app, deferred, own, 600_000, undefined, { 'upload-length': '600000' });
    expect(fits.status).toBe(409);
  } finally {
    quotas.bytes = defaultQuotas.bytes;
  }
});

test('a file that exceeds the quota at the end is finished when there is room, and is read once', async () => {
  const mine = await addTeam(app);
  const file = pdfOf(100_000);
  const upload = await created(app, `${mine.path}/library/uploads`, mine.member.token, { length: file.length });
  await append(other, upload, mine.member.token, 0, file.subarray(0, 50_000));
  let reads = 0;
  store.faults.read = (...args) => {
    reads += 1;
    return store.real().read(...args);
  };
  quotas.bytes = 1;
  try {
    const full = await append(app, upload, mine.member.token, 50_000, file.subarray(50_000));
    expect([full.status, full.headers.get('upload-offset')]).toEqual([409, '100000']);
    await finishCompleteUploads(app.services);
    expect(reads).toBe(1);
  } finally {
    quotas.bytes = defaultQuotas.bytes;
    delete store.faults.read;
  }
  await finishCompleteUploads(app.services);
  const { upload: state } = (await app.http.get(upload, mine.member.token)).body;
  expect(state).toMatchObject({ result: expect.stringContaining('/library/') });
});

test('an ID that no upload can have is not found', async () => {
  for (const id of ['%00', '%ff', 'x', '%F0%9F%98%80'])
    expect((await app.http.get(`${uploads}/${id}`, token)).body.message).toMatch(
      /^(?:Upload not found|Malformed URL)$/,
    );
});
