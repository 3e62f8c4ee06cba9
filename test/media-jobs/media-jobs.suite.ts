/** What the media worker does: it sets durations, and makes recordings seekable. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { BufferSource, EncodedPacketSink, Input, WEBM } from 'mediabunny';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { leaseMediaJob } from '../../src/features/media-jobs/media-queue.ts';
import { runDueMediaJob } from '../../src/features/media-jobs/media-worker.ts';
import { MAX_QUEUED, MAX_THREADS, runInSharedThread } from '../../src/media/media-threads.ts';
import { readDuration } from '../../src/media/read-duration.ts';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createFaultyStore, failUnavailable } from '../library/upload/faults.ts';
import { filePart, multipart, send } from '../library/upload/wire.ts';
import { makeVideo, noFfmpeg, videos } from '../media/ffmpeg.ts';
import { eventsOf } from '../support/events.ts';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';
import { append, created, toMetadata } from '../uploads/tus-fixtures.ts';

const running = new AbortController().signal;

type Started = { id: number; token: string };

/** Tests the worker with a store, which `openStore` may replace. */
export function describeMediaJobs(name: string, openStore: (disk: ObjectStore) => ObjectStore): void {
  describe(name, () => {
    const { faults, wrapStore } = createFaultyStore();

    let app: TestApp;
    let team: Team;
    let room: { id: number; name: string };
    beforeAll(async () => {
      app = await startTestApp({ wrapStore: (disk) => wrapStore(openStore(disk)) });
    });
    beforeEach(async () => {
      team = await addTeam(app);
      room = (await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id })).body.room;
    });
    afterEach(async () => {
      for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
      await app.services.db.mediaJob.deleteMany({});
    });
    afterAll(() => app.close());

    /** Runs all jobs that are due. */
    async function runJobs(): Promise<void> {
      while (await runDueMediaJob(app.services, running));
    }

    async function startRecording(): Promise<Started> {
      const path = `/api/dashboard/rooms/${room.name}/recordings`;
      const { body } = await app.http.post(path, team.admin.token, {});
      await app.http.post(`${path}/${body.recording.id}/stop`, team.admin.token, {});
      return { id: body.recording.id, token: body.upload_token };
    }

    /** Uploads the file of a recording in two requests. */
    async function uploadByTus({ id, token }: Started, file: Buffer, filename: string): Promise<void> {
      const metadata = toMetadata({ filename });
      const path = await created(app, `/api/recordings/${id}/uploads`, token, { length: file.length, metadata });
      const half = Math.floor(file.length / 2);
      for (const [from, until] of [
        [0, half],
        [half, file.length],
      ] as const) {
        const { status } = await append(app, path, token, from, file.subarray(from, until));
        expect(status).toBe(204);
      }
    }

    async function readRecording({ id }: Started) {
      const path = `/api/workspaces/${team.id}/recordings`;
      const { body } = await app.http.get(path, team.owner.token);
      return body.recordings.find((recording: { id: number }) => recording.id === id);
    }

    async function download({ id }: Started): Promise<{ bytes: Buffer; headers: Headers }> {
      const path = `/api/dashboard/recordings/${id}/download`;
      const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${team.admin.token}` } });
      expect(response.status).toBe(200);
      return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
    }

    /** The keys of the stored objects of the team. */
    async function readKeys(): Promise<string[]> {
      const keys: string[] = [];
      for await (const { key } of app.services.store.list(`v1/workspaces/${team.id}/`)) keys.push(key);
      return keys;
    }

    /** Reads the duration of a file, and whether it is seekable. */
    async function inspect(bytes: Buffer) {
      const key = `v1/workspaces/${team.id}/recordings/inspected`;
      await app.services.store.put(key, Readable.from([bytes]), { contentType: 'video/mp4' });
      const result = await readDuration(
        app.services,
        { workspaceId: 1, fileKey: key, size: bytes.length, type: 'video/mp4' },
        20_000,
      );
      await app.services.store.remove(key);
      return result;
    }

    async function recordingSeconds(): Promise<number> {
      const { body } = await app.http.get(`/api/workspaces/${team.id}/analytics`, team.admin.token);
      return body.kpis.recordingDuration;
    }

    async function completedEvents(): Promise<number> {
      return (await eventsOf(app, team.id)).filter(({ type }) => type === 'recording.completed').length;
    }

    describe('a recording that is uploaded in several requests', () => {
      test('is uploaded at the last byte, and available when the worker has looked at it', async () => {
        const recording = await startRecording();
        const file = makeMp4({ durationSeconds: 42, moov: 'back' });
        await uploadByTus(recording, file, 'a.mp4');
        expect(await readRecording(recording)).toMatchObject({ status: 'uploaded', duration: 0, url: null });
        expect(await completedEvents()).toBe(0);
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'available', duration: 42, size: file.length });
        expect((await download(recording)).bytes.equals(file)).toBe(true);
        expect(await completedEvents()).toBe(1);
        expect(await app.services.db.mediaJob.count()).toBe(0);
      });

      test('accepts no other file meanwhile', async () => {
        const recording = await startRecording();
        await uploadByTus(recording, makeMp4({ durationSeconds: 42, moov: 'front' }), 'a.mp4');
        const body = multipart(filePart({ bytes: makeMp4({ durationSeconds: 1, moov: 'front' }), filename: 'b.mp4' }));
        const url = `${app.url}/api/recordings/${recording.id}/file`;
        const { status } = await send(url, [body], { token: recording.token });
        expect(status).toBe(409);
      });

      test('loses no file if the store fails, and is completed later', async () => {
        const recording = await startRecording();
        const file = makeMp4({ durationSeconds: 42, moov: 'front' });
        await uploadByTus(recording, file, 'a.mp4');
        faults.read = failUnavailable;
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'uploaded' });
        Reflect.deleteProperty(faults, 'read');
        app.clock.advance(5 * MINUTE_MS);
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'available', duration: 42 });
      });

      test('is completed later if too many files are being read for their duration', async () => {
        const recording = await startRecording();
        const file = makeMp4({ durationSeconds: 42, moov: 'front' });
        await uploadByTus(recording, file, 'a.mp4');
        const opened = Promise.withResolvers<void>();
        const read = async (start: number, end: number) => {
          await opened.promise;
          return Uint8Array.from(file.subarray(start, end));
        };
        const task = { kind: 'duration', size: file.length, head: new Uint8Array() } as const;
        const reading = Array.from({ length: MAX_THREADS + MAX_QUEUED }, () =>
          runInSharedThread(team.id, task, { read, write: async () => undefined }, MINUTE_MS),
        );
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'uploaded' });
        opened.resolve();
        await Promise.all(reading);
        app.clock.advance(5 * MINUTE_MS);
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'available', duration: 42 });
      });

      test('that is deleted meanwhile leaves nothing behind', async () => {
        const recording = await startRecording();
        await uploadByTus(recording, makeMp4({ durationSeconds: 42, moov: 'front' }), 'a.mp4');
        await app.http.call('DELETE', `/api/dashboard/recordings/${recording.id}`, { token: team.admin.token });
        await runJobs();
        expect(await readKeys()).toEqual([]);
        expect(await completedEvents()).toBe(0);
      });
    });

    describe.skipIf(noFfmpeg !== null)('a recording that is not seekable', () => {
      const { h264, vp8, vp9, aac, opus, fragmented, live } = videos;
      test.each([
        ['H.264 and AAC in fragments', 'a.mp4', [...h264, ...aac, ...fragmented]],
        ['VP9 and Opus in fragments', 'a.mp4', [...vp9, ...opus, ...fragmented]],
        ['VP9 and Opus in a live WebM', 'a.webm', [...vp9, ...opus, ...live]],
      ])('becomes one seekable MP4: %s', async (_, name, options) => {
        const recording = await startRecording();
        const file = await makeVideo(name, 5, options);
        await uploadByTus(recording, file, name);
        await runJobs();
        const { bytes, headers } = await download(recording);
        const { status, size, duration } = await readRecording(recording);
        expect([status, size, duration]).toEqual(['available', bytes.length, 5]);
        expect(await inspect(bytes)).toMatchObject({ duration: 5, isSeekable: true });
        expect(headers.get('content-type')).toBe('video/mp4');
        expect(headers.get('content-disposition')).toContain('.mp4');
        expect(bytes.equals(file)).toBe(false);
        const { sha256 } = await app.services.db.recording.findFirstOrThrow({ where: { id: recording.id } });
        expect(Buffer.from(sha256 ?? [])).toEqual(createHash('sha256').update(bytes).digest());
        expect(await readKeys()).toHaveLength(1);
        expect(await completedEvents()).toBe(1);
        expect(await recordingSeconds()).toBe(5);
      });

      test('becomes a WebM with an index if its codecs are not usual in an MP4', async () => {
        const recording = await startRecording();
        // Several clusters, whose sizes are known only at their ends.
        const file = await makeVideo('a.webm', 5, [...vp8, ...opus, ...live]);
        await uploadByTus(recording, file, 'a.webm');
        await runJobs();
        const { bytes, headers } = await download(recording);
        const { status, size, duration } = await readRecording(recording);
        expect([status, size, duration]).toEqual(['available', bytes.length, 5]);
        expect(headers.get('content-type')).toBe('video/webm');
        using input = new Input({ formats: [WEBM], source: new BufferSource(bytes) });
        expect(Math.round((await input.getDurationFromMetadata()) ?? 0)).toBe(5);
        // The index is behind the last cluster.
        const lastOf = (id: string) => bytes.lastIndexOf(Buffer.from(id, 'hex'));
        expect(lastOf('1c53bb6b')).toBeGreaterThan(lastOf('1f43b675'));
        expect(await packetsOf(bytes)).toEqual(await packetsOf(file));
        expect(await readKeys()).toHaveLength(1);
        const path = `/api/dashboard/recordings/${recording.id}/save-to-library`;
        const saved = await app.http.post(path, team.admin.token, {});
        expect([saved.status, saved.body.error]).toEqual([400, 'Only PDF and MP4 files are supported']);
      });

      test.each([
        ['MPEG-4 part 2', 'a.mp4', 'video/mp4', ['-c:v', 'mpeg4', ...aac, ...fragmented]],
        ['samples before the fragments', 'a.mp4', 'video/mp4', [...h264, ...aac, '-movflags', 'frag_keyframe']],
      ])('stays as it is if it cannot be copied: %s', async (_, name, type, options) => {
        const recording = await startRecording();
        const file = await makeVideo(name, 5, options);
        await uploadByTus(recording, file, name);
        await runJobs();
        expect(await readRecording(recording)).toMatchObject({ status: 'available', duration: 5, size: file.length });
        const { bytes, headers } = await download(recording);
        expect(bytes.equals(file)).toBe(true);
        expect(headers.get('content-type')).toBe(type);
        expect(headers.get('content-disposition')).toContain(name.slice(1));
        expect(await readKeys()).toHaveLength(1);
        const path = `/api/dashboard/recordings/${recording.id}/save-to-library`;
        const saved = await app.http.post(path, team.admin.token, {});
        expect(saved.status).toBe(200);
      });

      test('is available at once if it arrives in one request, and is replaced later without an event', async () => {
        const recording = await startRecording();
        const file = await makeVideo('a.webm', 5, [...vp9, ...opus, ...live]);
        const body = multipart(filePart({ bytes: file, filename: 'a.webm', type: 'video/webm' }));
        const url = `${app.url}/api/recordings/${recording.id}/file`;
        const { status, body: answer } = await send(url, [body], { token: recording.token });
        expect([status, answer.recording.status, answer.recording.duration]).toEqual([200, 'available', 5]);
        await runJobs();
        expect(await inspect((await download(recording)).bytes)).toMatchObject({ duration: 5, isSeekable: true });
        expect(await completedEvents()).toBe(1);
        expect(await readKeys()).toHaveLength(1);
      });

      test('is remuxed again if the process is killed, and no object stays behind', async () => {
        const recording = await startRecording();
        await uploadByTus(recording, await makeVideo('a.webm', 5, [...vp9, ...opus, ...live]), 'a.webm');
        // The first process writes its output, and never gets to the transaction.
        const { fileKey: original } = await app.services.db.recording.findFirstOrThrow({ where: { id: recording.id } });
        const killed = { ...app.services, db: failAtCommit(app) };
        await runDueMediaJob(killed, running);
        expect(await readKeys()).toHaveLength(2);
        expect(await readRecording(recording)).toMatchObject({ status: 'uploaded' });
        app.clock.advance(5 * MINUTE_MS);
        await runJobs();
        await removeDiscardedObjects(app.services);
        expect(await readRecording(recording)).toMatchObject({ status: 'available', duration: 5 });
        const keys = await readKeys();
        expect(keys).toHaveLength(1);
        expect(keys).not.toContain(original);
        expect(await completedEvents()).toBe(1);
      });

      test('leaves nothing behind if it is deleted after its output was written', async () => {
        const recording = await startRecording();
        await uploadByTus(recording, await makeVideo('a.webm', 5, [...vp9, ...opus, ...live]), 'a.webm');
        await runDueMediaJob({ ...app.services, db: failAtCommit(app) }, running);
        await app.http.call('DELETE', `/api/dashboard/recordings/${recording.id}`, { token: team.admin.token });
        await removeDiscardedObjects(app.services);
        expect(await readKeys()).toEqual([]);
      });

      test('is looked at by one of two processes only', async () => {
        const recording = await startRecording();
        await uploadByTus(recording, await makeVideo('a.webm', 5, [...vp9, ...opus, ...live]), 'a.webm');
        const leases = await Promise.all([leaseMediaJob(app.services), leaseMediaJob(app.services)]);
        expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
        app.clock.advance(2 * MINUTE_MS);
        await Promise.all([runJobs(), runJobs()]);
        expect(await completedEvents()).toBe(1);
      });
    });

    describe('a library item', () => {
      test('gets a duration later that the store did not tell in time, and the stream says so', async () => {
        const file = makeMp4({ durationSeconds: 42, moov: 'back', mdatBytes: 400_000 });
        faults.read = failUnavailable;
        const video = { filename: 'a.mp4', type: 'video/mp4' };
        const { body } = await upload(app, team.path, team.member.token, Uint8Array.from(file), video);
        const { item } = body;
        expect(item.duration).toBeNull();
        Reflect.deleteProperty(faults, 'read');
        await runJobs();
        const path = `/api/workspaces/${team.id}/library/${item.id}`;
        expect((await app.http.get(path, team.member.token)).body.item.duration).toBe(42);
        const updated = (await eventsOf(app, team.id)).filter(({ type }) => type === 'library_item.updated');
        expect(updated).toHaveLength(1);
        expect(updated[0]?.data).toMatchObject({ item_id: item.id, duration: 42 });
      });

      test('cannot be subscribed to by a webhook when it is updated', async () => {
        const webhook = { name: 'Updates', url: 'https://example.com/hook', events: ['library_item.updated'] };
        const { status } = await app.http.post(`/api/workspaces/${team.id}/webhooks`, team.owner.token, webhook);
        expect(status).toBe(400);
      });
    });

    test('a workspace with many files does not keep the others waiting', async () => {
      const other = await addTeam(app);
      const video = { filename: 'a.mp4', type: 'video/mp4' };
      const file = Uint8Array.from(makeMp4({ durationSeconds: 1, moov: 'front' }));
      const due = app.clock.now();
      const add = async ({ id: workspaceId, path, member }: Team) => {
        const { item } = (await upload(app, path, member.token, file, video)).body;
        await app.services.db.mediaJob.create({ data: { workspaceId, itemId: item.id, nextAttemptAt: due } });
      };
      for (let count = 0; count < 3; count += 1) await add(team);
      await add(other);
      const workspaces: (number | undefined)[] = [];
      for (let count = 0; count < 5; count += 1) workspaces.push((await leaseMediaJob(app.services))?.workspaceId);
      expect(workspaces).toEqual([other.id, team.id, team.id, team.id, undefined]);
    });
  });
}

/** The kinds, the times in milliseconds and the sizes of all packets of a video. */
async function packetsOf(bytes: Buffer): Promise<string[]> {
  using input = new Input({ formats: [WEBM], source: new BufferSource(bytes) });
  const packets: string[] = [];
  for (const track of await input.getTracks())
    for await (const { timestamp, data } of new EncodedPacketSink(track).packets())
      packets.push(`${track.type} ${Math.round(timestamp * 1000)} ${data.length}`);
  return packets;
}

/** A database whose Prisma transactions fail. */
function failAtCommit({ services: { db } }: TestApp): TestApp['services']['db'] {
  return new Proxy(db, {
    get: (target, name) =>
      name === '$transaction' ? () => Promise.reject(new Error('Killed')) : Reflect.get(target, name, target),
  });
}
