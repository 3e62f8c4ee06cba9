/** The LiveKit server of the service records meetings into the bucket: it is asked, stopped, and not believed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EgressStatus } from '@livekit/protocol';
import S3rver from 's3rver';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, systemClock } from '../../src/core/time.ts';
import {
  runDueEgresses,
  startEgressWorker,
} from '../../src/features/meeting-providers/livekit-egress/egress-worker.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import type { LivekitEgress } from '../../src/services.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';
import { createFaultyStore } from '../library/upload/faults.ts';
import { enter as enterPage } from '../meetings/pages.ts';
import { realS3Options } from '../support/real-s3.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';
import { type Fault, type LivekitServer, startLivekitServer } from './livekit-server.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

const store = createFaultyStore();

let s3: S3rver | null = null;
let directory: string;
let egress: LivekitEgress;
let app: TestApp;
let server: LivekitServer;
let team: Team;
let roomName: string;
let video: Buffer;

beforeAll(async () => {
  video = await readFile('examples/sample.mp4');
  directory = await mkdtemp(join(tmpdir(), 'lynxroom-egress-'));
  server = await startLivekitServer(key);
  const options = realS3Options('egress') ?? (await startS3());
  const { bucket, region, endpoint = '', accessKeyId = '', secretAccessKey = '', prefix = '' } = options;
  egress = {
    target: { bucket, region, endpoint, forcePathStyle: true, accessKeyId, secretAccessKey, prefix },
    files: createS3Store(options),
  };
  const livekit = { origin: server.url.replace('ws', 'http'), ...key };
  const meetings = { iceServers: [], turn: null, maxParticipants: 8, isRelayOnly: false, hasTurn: false, livekit };
  app = await startTestApp({ livekitEgress: egress, settings: { meetings }, wrapStore: store.wrapStore });
});
beforeEach(async () => {
  server.fault = null;
  server.calls.length = 0;
  server.egress.started.clear();
  Object.assign(server.egress, { file: video, losesAnswer: false, isHidden: false, ignoresStop: false });
  await app.services.db.$executeRaw`delete from livekit_egresses`;
  team = await addTeam(app);
  roomName = (await team.owner.client.rooms.create.mutate({ workspace_id: team.id })).room.name;
});
afterAll(async () => {
  await app.close();
  await server[Symbol.asyncDispose]();
  await s3?.close();
  await rm(directory, { recursive: true, force: true });
});

async function startS3() {
  const configureBuckets = [{ name: 'test-bucket', configs: [] }];
  s3 = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await s3.run();
  const bucket = { bucket: 'test-bucket', region: 'us-east-1', clock: systemClock, prefix: 'egress' };
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  return { ...bucket, endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true, ...credentials };
}

const enter = async (token?: string) =>
  (await app.http.post(`/api/rooms/${roomName}/join`, token, { name: 'Ada' })).body;

const record = (participant: { token: string }, json: object = { egress: 1 }) =>
  app.http.post(`/api/rooms/${roomName}/recordings`, undefined, { token: participant.token, ...json });

/** Lets the owner record, and the server begin. */
async function begin() {
  const { participant } = await enter(team.owner.token);
  const { status, body } = await record(participant);
  expect(status).toBe(200);
  await runDueEgresses(app.services);
  return { id: body.recording.id as number, archiveId: body.recording.archive_id as string, participant };
}

const stop = (recordingId: number) => team.owner.client.recordings.stop.mutate({ name: roomName, recordingId });

const read = async (recordingId: number) =>
  (await team.owner.client.recordings.readInWorkspace.query({ id: team.id, recordingId })).recording;

async function runLater(ms = 5 * SECOND_MS): Promise<void> {
  app.clock.advance(ms);
  await runDueEgresses(app.services);
}

const countWaiting = () => app.services.db.livekitEgress.count({ where: { workspaceId: team.id } });
async function listFiles(): Promise<string[]> {
  const names = [];
  for await (const file of egress.files.list('')) names.push(file.key);
  return names;
}

test('the server records the room into the bucket, is stopped, and the file becomes the recording', async () => {
  const { id, archiveId } = await begin();
  const [[, { request }] = ['', { request: null }]] = server.egress.started;
  const { accessKeyId: accessKey, secretAccessKey: secret, bucket, prefix } = egress.target;
  const { room } = await team.owner.client.rooms.read.query({ name: roomName });
  expect(request).toMatchObject({
    roomName: `${roomName}.${room.id}`,
    fileOutputs: [{ filepath: `${prefix}/${archiveId}.mp4` }],
  });
  expect(request?.fileOutputs[0]?.output).toMatchObject({ case: 's3', value: { accessKey, secret, bucket } });
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'started', ended_at: null });
  await stop(id);
  // The stop makes it due at once.
  await runDueEgresses(app.services);
  expect(await listFiles()).toEqual([`${archiveId}.mp4`]);
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'available', size: video.length, failure_reason: null });
  expect([await listFiles(), await countWaiting()]).toEqual([[], 0]);
  const events = await app.services.db.event.findMany({ where: { workspaceId: team.id }, select: { type: true } });
  const types = events.map(({ type }) => type).filter((type) => type.startsWith('recording'));
  expect(types).toEqual(['recording.started', 'recording.completed']);
  expect(server.calls.filter((method) => method === 'StartRoomCompositeEgress')).toHaveLength(1);
});

test('media say whether the server records, and never to guests, who are refused', async () => {
  const [owner, guest] = [await enter(team.owner.token), await enter()];
  expect([owner.media.egress, guest.media.egress]).toEqual([1, 0]);
  const refused = await record(guest.participant);
  expect([refused.status, refused.body.error]).toEqual([403, 'Guests can only record in their own browser']);
  expect((await record(guest.participant, {})).status).toBe(200);
  expect(await countWaiting()).toBe(0);
});

test("a workspace's own server gets neither credentials nor egresses, whatever its address and key", async () => {
  const credentials = { ...key, url: server.url };
  await team.owner.client.connections.create.mutate({ id: team.id, name: 'V', provider: 'livekit', credentials });
  const { participant, media } = await enter(team.owner.token);
  expect(media).toMatchObject({ kind: 'livekit', egress: 0 });
  const { status, body } = await record(participant);
  const error = 'No LiveKit server of this service carries the meetings of this room: record in the browser';
  expect([status, body.error]).toEqual([409, error]);
  await runDueEgresses(app.services);
  expect(server.egress.started.size).toBe(0);
  expect(await team.owner.client.recordings.listInRoom.query({ name: roomName })).toMatchObject({ recordings: [] });
});

test('from browser to browser, nothing records but the page', async () => {
  await team.owner.client.rooms.update.mutate({ name: roomName, media: 'mesh' });
  const { participant } = await enter(team.owner.token);
  expect((await record(participant)).status).toBe(409);
});

test('a start whose answer is lost is found again, and begins once', async () => {
  server.egress.losesAnswer = true;
  const { id } = await begin();
  server.egress.losesAnswer = false;
  await runLater();
  expect(server.egress.started.size).toBe(1);
  await stop(id);
  await runDueEgresses(app.services);
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'available' });
});

test.each<[Fault]>([[401], [500], ['lie']])('a server that fails (%s) is asked for a minute', async (fault) => {
  server.fault = fault;
  const { id } = await begin();
  expect(await read(id)).toMatchObject({ status: 'started' });
  await runLater(MINUTE_MS);
  const failure_reason = 'The media server did not begin to record';
  expect(await read(id)).toMatchObject({ status: 'failed', failure_reason });
  // Then it is only looked at, and nothing begins.
  server.fault = null;
  await runLater(10 * MINUTE_MS);
  expect([server.egress.started.size, await countWaiting()]).toEqual([0, 0]);
  const lines = JSON.stringify(app.logLines);
  expect([key.api_secret, egress.target.secretAccessKey].filter((secret) => lines.includes(secret))).toEqual([]);
});

test('a start that was given up and becomes an egress after all is stopped, and keeps no file', async () => {
  server.egress.losesAnswer = true;
  server.egress.isHidden = true;
  const { id } = await begin();
  await runLater(MINUTE_MS);
  expect(await read(id)).toMatchObject({ status: 'failed' });
  server.egress.isHidden = false;
  await runLater(MINUTE_MS);
  await runLater(MINUTE_MS);
  expect([...server.egress.started.values()].map(({ status }) => status)).not.toContain(EgressStatus.EGRESS_STARTING);
  expect([await listFiles(), await countWaiting()]).toEqual([[], 0]);
});

test('a recording ends before its file is larger than a recording can be', async () => {
  const { id } = await begin();
  await runLater(2 * HOUR_MS);
  expect(await read(id)).toMatchObject({ status: 'started', ended_at: null });
  await runLater(HOUR_MS);
  expect((await read(id)).ended_at).not.toBeNull();
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'available' });
});

test('a file for which the workspace has no place waits for it, and is not copied before', async () => {
  const { quotas } = app.services.settings;
  const { id } = await begin();
  await server.egress.finish('EG_0', EgressStatus.EGRESS_COMPLETE);
  const { bytes } = quotas;
  app.services.settings.quotas.bytes = video.length - 1;
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'started' });
  expect(await listFiles()).toHaveLength(1);
  app.services.settings.quotas.bytes = bytes;
  await runLater(5 * MINUTE_MS);
  expect(await read(id)).toMatchObject({ status: 'available' });
});

test('a workspace has at most ten recordings on the server at a time', async () => {
  const { id: workspaceId } = team;
  await app.services.db.$executeRaw`
    insert into livekit_egresses (workspace_id, recording_id, room_name, archive_id, created_at, next_attempt_at)
    select ${workspaceId}, -n, 'another', 'another', now(), 'infinity' from generate_series(1, 10) n`;
  const { participant } = await enter(team.owner.token);
  const { status, body } = await record(participant);
  expect([status, body.error]).toEqual([409, 'The server makes 10 recordings of the workspace already']);
});

test('a server that fails while it records goes on when it answers again', async () => {
  const { id } = await begin();
  server.fault = 500;
  await stop(id);
  await runDueEgresses(app.services);
  await runLater();
  server.fault = null;
  await runLater();
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'available' });
});

test.each([
  ['fails', EgressStatus.EGRESS_FAILED, 'The media server could not record the meeting'],
  ['stores nothing', EgressStatus.EGRESS_COMPLETE, 'The media server has stored no file'],
])('an egress that %s ends the recording with the reason', async (_, status, failure_reason) => {
  server.egress.file = null;
  const { id } = await begin();
  await server.egress.finish('EG_0', status);
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'failed', failure_reason });
  expect(await countWaiting()).toBe(0);
});

test('those who were there learn of a recording that failed after its end, until another one starts', async () => {
  const guest = await enterPage(app, roomName, 'Gus Guest');
  server.egress.file = null;
  const { id, participant } = await begin();
  await stop(id);
  await runDueEgresses(app.services);
  await expect.poll(() => guest.peers()).toMatchObject({ recording: null, failed_recording: null });
  await runLater();
  const failed = { id, participant_id: participant.id, name: participant.name, failed_at: expect.any(Number) };
  await expect.poll(() => guest.peers().failed_recording).toMatchObject(failed);
  // Who came after the capture was not recorded.
  const late = await enterPage(app, roomName, 'Late Guest');
  expect(late.peers().failed_recording).toBeNull();
  app.clock.advance(SECOND_MS);
  await record(participant);
  await expect
    .poll(() => guest.peers())
    .toMatchObject({ recording: { name: participant.name }, failed_recording: null });
  app.clock.advance(SECOND_MS);
  await team.owner.client.recordings.rename.mutate({ recordingId: id, title: 'Without a file' });
  // Anything that makes the pages read the meeting again.
  const last = await enterPage(app, roomName, 'Last Guest');
  await expect.poll(() => guest.peers().peers).toHaveLength(3);
  expect(guest.peers().failed_recording).toBeNull();
  for (const page of [guest, late, last]) page.stream.close();
});

test('what the server stores is checked as an upload is', async () => {
  server.egress.file = Buffer.from('no video');
  const { id } = await begin();
  await server.egress.finish('EG_0', EgressStatus.EGRESS_COMPLETE);
  await runLater();
  expect(await read(id)).toMatchObject({ status: 'failed', failure_reason: 'Only MP4 and WebM files are supported' });
  expect(await listFiles()).toEqual([]);
});

test('an egress that never ends is given up after a day', async () => {
  const { id } = await begin();
  server.egress.ignoresStop = true;
  await stop(id);
  await runDueEgresses(app.services);
  await runLater(DAY_MS);
  expect(await read(id)).toMatchObject({ status: 'failed' });
  expect(await countWaiting()).toBe(0);
});

test.each([
  ['workspace', () => team.owner.client.workspaces.delete.mutate({ id: team.id })],
  ['account that owns it', (owner: Person) => owner.client.auth.deleteMe.mutate()],
])('the server stops when the %s is deleted, and then keeps no file', async (kind, remove) => {
  const owner = kind === 'workspace' ? team.owner : await addPerson(app);
  if (owner !== team.owner) roomName = (await owner.client.rooms.create.mutate({})).room.name;
  const { participant } = await enter(owner.token);
  expect((await record(participant)).status).toBe(200);
  await runDueEgresses(app.services);
  await remove(owner);
  await runDueEgresses(app.services);
  await runLater();
  expect([...server.egress.started.values()].map(({ status }) => status)).toEqual([EgressStatus.EGRESS_COMPLETE]);
  expect([await listFiles(), await app.services.db.livekitEgress.count()]).toEqual([[], 0]);
});

test('a recording is stopped at once, however many files are being stored', async () => {
  const gate = Promise.withResolvers<void>();
  let storing = 0;
  store.faults.put = async (...call) => {
    storing += 1;
    await gate.promise;
    return store.real().put(...call);
  };
  const wakeUps = createWakeUps(app.services.db.eventSignal);
  const worker = startEgressWorker({ services: app.services, wakeUps });
  const listener = wakeUps.start({ connectionString: app.databaseUrl, log: app.services.log });
  const countEnded = () =>
    [...server.egress.started.values()].filter(({ status }) => status === EgressStatus.EGRESS_COMPLETE).length;
  const recordAndStop = async () => {
    const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
    roomName = room.name;
    const { participant } = await enter(team.owner.token);
    const began = server.egress.started.size + 1;
    const { id } = (await record(participant)).body.recording;
    await expect.poll(() => server.egress.started.size).toBe(began);
    await stop(id);
    await expect.poll(countEnded).toBe(began);
    return id as number;
  };
  try {
    const ids = [];
    while (ids.length < 8) ids.push(await recordAndStop());
    await expect.poll(() => storing).toBe(4);
    await expect.poll(() => app.services.db.livekitEgress.count({ where: { step: 'store' } })).toBe(8);
    ids.push(await recordAndStop());
    gate.resolve();
    const { db } = app.services;
    const where = { id: { in: ids }, status: 'available' };
    await expect.poll(() => db.recording.count({ where })).toBe(9);
  } finally {
    gate.resolve();
    delete store.faults.put;
    await Promise.all([worker.stop(), listener.stop()]);
  }
}, 120_000);

test('the server stops when everybody has left, when the room is deleted, and then keeps no file', async () => {
  const first = await begin();
  await app.http.post(`/api/rooms/${roomName}/leave`, undefined, { token: first.participant.token });
  await runDueEgresses(app.services);
  await runLater();
  expect(await read(first.id)).toMatchObject({ status: 'available' });
  await begin();
  await team.owner.client.rooms.delete.mutate({ name: roomName });
  await runDueEgresses(app.services);
  await runLater();
  expect([...server.egress.started.values()].map(({ status }) => status)).toEqual([
    EgressStatus.EGRESS_COMPLETE,
    EgressStatus.EGRESS_COMPLETE,
  ]);
  expect([await listFiles(), await countWaiting()]).toEqual([[], 0]);
});
