/** Recordings that are sent while they are made, and whose recorder falls silent. */
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { runDueMediaJob } from '../../src/features/media-jobs/media-worker.ts';
import { failStaleRecordings } from '../../src/features/recordings/fail-stale-recordings.ts';
import { finishIdleUploads } from '../../src/features/uploads/finish-idle-uploads.ts';
import { finishCompleteUploads, removeExpiredUploads } from '../../src/features/uploads/maintain-uploads.ts';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { createFaultyStore, failUnavailable } from '../library/upload/faults.ts';
import { makeVideo, noFfmpeg, videos } from '../media/ffmpeg.ts';
import { addGuest } from '../recordings/recording-fixtures.ts';
import { concurrently } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, created, head, toMetadata } from './tus-fixtures.ts';

const running = new AbortController().signal;
const IDLE_MS = 15 * MINUTE_MS + SECOND_MS;
/** Each part has two seconds. */
const PARTS = 10;
const SECONDS = 2 * PARTS;

type Live = { id: number; token: string; guest: string; upload: string; file: Buffer };

/** Tests recordings with a store, which `openStore` may replace. */
export function describeLiveRecordings(name: string, openStore: (disk: ObjectStore) => ObjectStore): void {
  describe.skipIf(noFfmpeg !== null)(name, () => {
    const { faults, wrapStore } = createFaultyStore();
    let app: TestApp;
    let team: Team;
    let room: { id: number; name: string };
    let fragmented: Buffer;
    let webm: Buffer;
    beforeAll(async () => {
      const { h264, aac, vp8, opus, live, fragmented: inFragments } = videos;
      fragmented = await makeVideo('a.mp4', SECONDS, [...h264, ...aac, ...inFragments]);
      webm = await makeVideo('a.webm', SECONDS, [...vp8, ...opus, ...live]);
      app = await startTestApp({ frozenAt: new Date(), wrapStore: (disk) => wrapStore(openStore(disk)) });
    });
    beforeEach(async () => {
      team = await addTeam(app);
      room = (await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id })).body.room;
    });
    afterEach(() => {
      for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
    });
    afterAll(() => app.close());

    async function startRecording(file = fragmented): Promise<Live> {
      const guest = await addGuest(app, { workspaceId: team.id, roomId: room.id });
      const { body } = await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token: guest });
      const { id } = body.recording;
      const token = body.upload_token;
      const metadata = toMetadata({ filename: file === webm ? 'a.webm' : 'a.mp4' });
      const upload = await created(app, `/api/recordings/${id}/uploads`, token, { metadata });
      return { id, token, guest, upload, file };
    }

    /** Sends the parts `from` to `until`, of `PARTS`. */
    async function send({ upload, token, file }: Live, from: number, until: number, last?: 'last') {
      let status = 0;
      for (let part = from; part < until; part += 1) {
        const length = last !== undefined && part === until - 1 ? { 'upload-length': String(file.length) } : {};
        const [begin, end] = [beginOf(file, part), beginOf(file, part + 1)];
        ({ status } = await append(app, upload, token, begin, file.subarray(begin, end), length));
      }
      return status;
    }

    /** Where a part begins: with a fragment of the MP4, of which each has a second, or anywhere in the WebM. */
    function beginOf(file: Buffer, part: number): number {
      if (part === 0 || part === PARTS) return part === 0 ? 0 : file.length;
      if (file === webm) return Math.floor((file.length * part) / PARTS);
      let at = -1;
      for (let fragment = 0; fragment <= 2 * part; fragment += 1) at = file.indexOf('moof', at + 1);
      return at - 4;
    }

    async function runJobs(): Promise<void> {
      while (await runDueMediaJob(app.services, running));
    }

    async function fallSilent(): Promise<void> {
      app.clock.advance(IDLE_MS);
      await finishIdleUploads(app.services);
    }

    async function read({ id }: Pick<Live, 'id'>) {
      const { body } = await app.http.get(`/api/workspaces/${team.id}/recordings`, team.owner.token);
      return body.recordings.find((recording: { id: number }) => recording.id === id);
    }

    async function download({ id }: Live): Promise<Buffer> {
      const path = `/api/dashboard/recordings/${id}/download`;
      const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${team.admin.token}` } });
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    }

    async function keys(): Promise<string[]> {
      const found: string[] = [];
      for await (const { key } of app.services.store.list(`v1/workspaces/${team.id}/`)) found.push(key);
      return found;
    }

    async function keyOf({ id }: Live): Promise<string | null> {
      return (await app.services.db.recording.findFirstOrThrow({ where: { id } })).fileKey;
    }

    async function completedEvents(): Promise<number> {
      return (await eventsOf(app, team.id)).filter(({ type }) => type === 'recording.completed').length;
    }

    async function storedBytes(): Promise<number> {
      return Number((await app.services.db.workspace.findUniqueOrThrow({ where: { id: team.id } })).storedBytes);
    }

    const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

    test.each([
      ['with the last bytes', true],
      ['afterwards', false],
    ])('is complete when its length is named %s', async (_, isWithLastBytes) => {
      const live = await startRecording();
      if (isWithLastBytes) expect(await send(live, 0, PARTS, 'last')).toBe(204);
      else {
        await send(live, 0, PARTS);
        const state = await head(app, live.upload, live.token);
        expect(state.headers.get('upload-offset')).toBe(String(live.file.length));
        expect(state.headers.get('upload-defer-length')).toBe('1');
        const { status, headers } = await append(app, live.upload, live.token, live.file.length, undefined, {
          'upload-length': String(live.file.length),
        });
        expect([status, headers.get('upload-result')]).toEqual([204, `/api/dashboard/recordings/${live.id}`]);
      }
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 20 });
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test('is finished with what it has after fifteen minutes of silence, and again when more has come', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      app.clock.advance(14 * MINUTE_MS);
      await finishIdleUploads(app.services);
      expect(await read(live)).toMatchObject({ status: 'started', ended_at: null });
      const lastBytesAt = (await app.services.db.upload.findFirstOrThrow({ where: { recordingId: live.id } })).activeAt;
      await fallSilent();
      const first = await read(live);
      expect(first).toMatchObject({ status: 'uploaded', url: null });
      expect(first.ended_at).toBe(Math.floor(Number(lastBytesAt) / SECOND_MS));
      await runJobs();
      const half = await read(live);
      expect(half).toMatchObject({ status: 'available', duration: 10 });
      expect(await storedBytes()).toBe(half.size);
      expect(await completedEvents()).toBe(1);
      const firstFile = await download(live);

      // The page opens again, and its upload goes on.
      const state = await head(app, live.upload, live.token);
      expect(state.headers.get('upload-offset')).toBe(String(beginOf(live.file, 5)));
      expect(state.headers.get('upload-length')).toBeNull();
      expect(await send(live, 5, 8)).toBe(204);
      expect((await download(live)).equals(firstFile)).toBe(true);
      expect(await read(live)).toEqual(half);
      await fallSilent();
      expect((await download(live)).length).toBeGreaterThan(firstFile.length);
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 16 });

      expect(await send(live, 8, PARTS, 'last')).toBe(204);
      const whole = await app.services.db.recording.findFirstOrThrow({ where: { id: live.id } });
      expect(Buffer.from(whole.sha256 ?? []).toString('hex')).toBe(hashOf(live.file));
      expect(hashOf(await download(live))).toBe(hashOf(live.file));
      await runJobs();
      const last = await read(live);
      expect(last).toMatchObject({ status: 'available', duration: 20 });
      expect(last.size).toBe((await download(live)).length);
      expect(await completedEvents()).toBe(1);
      expect(await storedBytes()).toBe(last.size);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test('is complete with a length that is named after it was finished, without more bytes', async () => {
      const live = await startRecording();
      await send(live, 0, PARTS);
      await fallSilent();
      await runJobs();
      const finished = await read(live);
      const length = { 'upload-length': String(live.file.length) };
      const answer = await append(app, live.upload, live.token, live.file.length, undefined, length);
      expect([answer.status, answer.headers.get('upload-result')]).toEqual([
        204,
        `/api/dashboard/recordings/${live.id}`,
      ]);
      await runJobs();
      expect(await read(live)).toEqual(finished);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test('a WebM is finished and continued too', async () => {
      const live = await startRecording(webm);
      await send(live, 0, 5);
      await fallSilent();
      await runJobs();
      const { duration } = await read(live);
      expect(duration).toBeGreaterThanOrEqual(8);
      expect(duration).toBeLessThanOrEqual(12);
      await send(live, 5, PARTS, 'last');
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 20 });
    });

    test('can be continued for a day after it was finished, and then leaves no object behind', async () => {
      const live = await startRecording();
      await send(live, 0, 4);
      await fallSilent();
      await runJobs();
      app.clock.advance(23 * HOUR_MS);
      await send(live, 4, 6);
      await removeExpiredUploads(app.services);
      await sweepStorage(app.services);
      await fallSilent();
      await runJobs();
      const { duration } = await read(live);
      expect(duration).toBe(12);
      app.clock.advance(HOUR_MS);
      await removeExpiredUploads(app.services);
      expect((await head(app, live.upload, live.token)).status).toBe(404);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
      expect((await sweepStorage(app.services)).rowsWithoutObject).toBe(0);
      expect(await download(live)).toBeInstanceOf(Buffer);
    });

    test('what arrives just before the day ends is added to the recording before its upload is removed', async () => {
      const live = await startRecording();
      await send(live, 0, 4);
      await fallSilent();
      await runJobs();
      app.clock.advance(24 * HOUR_MS - MINUTE_MS);
      await send(live, 4, 6);
      app.clock.advance(MINUTE_MS);
      expect(await send(live, 6, PARTS, 'last')).toBe(404);
      await removeExpiredUploads(app.services);
      await finishIdleUploads(app.services);
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 12 });
      await removeExpiredUploads(app.services);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test('requests for the offset alone keep a recording unfinished for a day at most', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      for (let hour = 0; hour < 24; hour += 1) {
        app.clock.advance(HOUR_MS - MINUTE_MS);
        await head(app, live.upload, live.token);
        app.clock.advance(MINUTE_MS);
      }
      // The jobs run every five minutes, in any order.
      app.clock.advance(5 * MINUTE_MS);
      await failStaleRecordings(app.services);
      await removeExpiredUploads(app.services);
      await finishIdleUploads(app.services);
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 10 });
    });

    test('a request for the offset is a sign of life, and so is the presence of the starter for an hour', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      const presence = { token: live.guest };
      for (let minute = 0; minute < 50; minute += 5) {
        app.clock.advance(5 * MINUTE_MS);
        await app.http.post(`/api/rooms/${room.name}/presence`, undefined, presence);
        await finishIdleUploads(app.services);
      }
      expect(await read(live)).toMatchObject({ status: 'started' });
      app.clock.advance(10 * MINUTE_MS);
      await app.http.post(`/api/rooms/${room.name}/presence`, undefined, presence);
      await head(app, live.upload, live.token);
      app.clock.advance(10 * MINUTE_MS);
      await finishIdleUploads(app.services);
      expect(await read(live)).toMatchObject({ status: 'started' });
      for (let minute = 0; minute < 60; minute += 5) {
        app.clock.advance(5 * MINUTE_MS);
        await app.http.post(`/api/rooms/${room.name}/presence`, undefined, presence);
        await finishIdleUploads(app.services);
      }
      expect(await read(live)).toMatchObject({ status: 'uploaded' });
    });

    test('more bytes and the finishing at the same moment: nothing is lost', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      app.clock.advance(IDLE_MS);
      await concurrently(4, async (index) => {
        if (index === 0) expect(await send(live, 5, 6)).toBe(204);
        else await finishIdleUploads(app.services);
      });
      await runJobs();
      expect(await send(live, 6, PARTS, 'last')).toBe(204);
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 20 });
      expect(await completedEvents()).toBe(1);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test('more bytes while the worker makes it seekable: it looks at the longer file', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      await fallSilent();
      const { store } = app.services;
      const reading = Promise.withResolvers<void>();
      const put = store.put;
      faults.put = async (...args) => {
        reading.resolve();
        await arrived.promise;
        return put.apply(store, args);
      };
      const arrived = Promise.withResolvers<void>();
      const job = runDueMediaJob(app.services, running);
      await reading.promise;
      expect(await send(live, 5, PARTS, 'last')).toBe(204);
      Reflect.deleteProperty(faults, 'put');
      arrived.resolve();
      await job;
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 20 });
      expect(await completedEvents()).toBe(1);
    });

    test('is finished later if the store fails', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      const { partial } = app.services.store;
      faults.partial = { ...partial, complete: failUnavailable };
      await fallSilent();
      expect(await read(live)).toMatchObject({ status: 'started' });
      Reflect.deleteProperty(faults, 'partial');
      await finishIdleUploads(app.services);
      await runJobs();
      expect(await read(live)).toMatchObject({ status: 'available', duration: 10 });
    });

    test('the next bytes first finish what a process had begun to finish when it was killed', async () => {
      const live = await startRecording();
      await send(live, 0, 5);
      const { partial } = app.services.store;
      faults.partial = {
        ...partial,
        async complete(...args) {
          await partial.complete(...args);
          throw new Error('The process was killed');
        },
      };
      await fallSilent();
      expect(await read(live)).toMatchObject({ status: 'started' });
      Reflect.deleteProperty(faults, 'partial');
      expect(await send(live, 5, 6)).toBe(204);
      expect(await read(live)).toMatchObject({ status: 'uploaded' });
      expect(await send(live, 6, PARTS, 'last')).toBe(204);
      await runJobs();
      await finishCompleteUploads(app.services);
      expect(await read(live)).toMatchObject({ status: 'available', duration: 20 });
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([await keyOf(live)]);
    });

    test.each([
      ['recording', (live: Live) => `/api/dashboard/recordings/${live.id}`],
      ['room', () => `/api/dashboard/rooms/${room.name}`],
      ['workspace', () => `/api/workspaces/${team.id}`],
    ])('a deleted %s takes the upload and all objects with it', async (_, toPath) => {
      const live = await startRecording();
      await send(live, 0, 5);
      await fallSilent();
      await runJobs();
      await send(live, 5, 6);
      const { stored } = await app.services.db.upload.findFirstOrThrow({ where: { recordingId: live.id } });
      const { partial } = app.services.store;
      const discarded: unknown[] = [];
      faults.partial = {
        ...partial,
        discard(key, state) {
          discarded.push(state);
          return partial.discard(key, state);
        },
      };
      expect((await app.http.call('DELETE', toPath(live), { token: team.owner.token })).status).toBe(200);
      expect((await head(app, live.upload, live.token)).status).toBe(401);
      await removeDiscardedObjects(app.services);
      expect(await keys()).toEqual([]);
      expect(discarded).toContainEqual(stored);
      expect(await app.services.db.discardedObject.count()).toBe(0);
    });
  });
}
