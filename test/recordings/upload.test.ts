/** Uploading the file of a recording: access, accepted files, and that it is stored in full or not at all. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { failStaleRecordings } from '../../src/features/recordings/fail-stale-recordings.ts';
import { findRecorder, findUploader, uploadRecording } from '../../src/features/recordings/upload.ts';
import { createFaultyStore, failUnavailable } from '../library/upload/faults.ts';
import { startUploadServer } from '../library/upload/upload-server.ts';
import {
  type Answer,
  fieldPart,
  filePart,
  multipart,
  openUpload,
  parseAnswer,
  partHead,
  readUntilClosed,
  send,
  writeAll,
} from '../library/upload/wire.ts';
import { addKey } from '../rooms/keys.ts';
import { until } from '../storage/sources.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createManualTicker } from '../support/manual-ticker.ts';
import { makeMp4, makePdf } from '../support/media.ts';
import { stagedIn, storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';
import { advance, uploadFile, videoForm } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const MIB = 1024 * 1024;
const UPLOADING = "The recording's file is being uploaded";

const { faults, wrapStore, real } = createFaultyStore();

type Started = { id: number; token: string; archiveId: string };

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
let recording: Started;
beforeAll(async () => {
  app = await startTestApp({ wrapStore, settings: { maxRecordingBytes: 2 * MIB } });
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
  recording = await startRecording();
});
afterEach(() => {
  for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
});
afterAll(() => app.close());

async function startRecording(): Promise<Started> {
  const { body } = await app.http.post(`${ROOMS}/${room.name}/recordings`, team.admin.token, {});
  return { id: body.recording.id, token: body.upload_token, archiveId: body.recording.archive_id };
}

function urlOf(id: number | string = recording.id): string {
  return `${app.url}/api/recordings/${id}/file`;
}

function mp4(size = 200_000): Buffer {
  const empty = makeMp4({ durationSeconds: 61.6, moov: 'front', mdatBytes: 0 }).length;
  return makeMp4({ durationSeconds: 61.6, moov: 'front', mdatBytes: size - empty });
}
function part(bytes: Buffer | string = mp4()): Buffer {
  return filePart({ bytes, filename: 'a.mp4', type: 'video/mp4' });
}
function post(
  body: Iterable<Buffer> | AsyncIterable<Buffer> = [multipart(part())],
  token: string | undefined = recording.token,
) {
  return send(urlOf(), body, { token });
}

function expectError(answer: Pick<Answer, 'status' | 'body'>, status: number, message: string): void {
  expect([answer.status, answer.body.error]).toEqual([status, message]);
}

function rowOf(id: number) {
  return app.services.db.recording.findFirst({ where: { workspaceId: team.id, id } });
}

/** The objects, staged files and rows that uploads have left in the workspace. */
async function traces() {
  return {
    available: await app.services.db.recording.count({ where: { workspaceId: team.id, status: 'available' } }),
    completed: (await eventsOf(app, team.id, 'recording.completed')).length,
    objects: (await storedKeys(app, team.id)).length,
    staged: (await stagedIn(app)).length,
  };
}
const NOTHING = { available: 0, completed: 0, objects: 0, staged: 0 };
const ONE = { available: 1, completed: 1, objects: 1, staged: 0 };

describe('an upload', () => {
  test('makes the recording available, with the metadata of the file', async () => {
    const bytes = mp4();
    const { status, body } = await post([multipart(fieldPart('title', 'ignored'), part(bytes))]);
    expect(status).toBe(200);
    expect(body.recording).toMatchObject({
      id: recording.id,
      title: null,
      status: 'available',
      duration: 62,
      size: bytes.length,
      url: `${app.url}/api/dashboard/recordings/${recording.id}/download`,
      ended_at: expect.any(Number),
    });
    const row = await rowOf(recording.id);
    expect(Buffer.from(row?.sha256 ?? [])).toEqual(createHash('sha256').update(bytes).digest());
    expect(row?.fileKey).toMatch(new RegExp(`^v1/workspaces/${team.id}/recordings/[0-9a-f-]{36}$`));
    const { room_name, room_id, archive_id, title, duration, size, created_at } = body.recording;
    const data = { workspace_id: team.id, room_id, room_name, recording_id: recording.id, archive_id, title };
    expect(await eventsOf(app, team.id, 'recording.completed')).toEqual([
      { type: 'recording.completed', data: { ...data, duration, size, status: 'available', created_at } },
    ]);
    expect(await traces()).toEqual(ONE);
    const path = `/api/dashboard/recordings/${recording.id}/download`;
    const { url } = (await app.http.getJson(path, team.admin.token)).body;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true);
    const workspace = await app.services.db.workspace.findUnique({ where: { id: team.id } });
    expect(workspace?.recordingSeconds).toBe(62n);
  });

  test('again after a lost response: 409, with the token too, and the file stays', async () => {
    expect((await post()).status).toBe(200);
    const before = await rowOf(recording.id);
    for (const token of [recording.token, team.admin.token])
      expectError(await post(undefined, token), 409, 'The recording already has a file');
    expect(await rowOf(recording.id)).toEqual(before);
    expect(await traces()).toEqual(ONE);
    // The token of a finished recording does not prevent the next recording.
    expect((await startRecording()).id).not.toBe(recording.id);
  });

  test('does not change the end of a stopped recording', async () => {
    await app.http.post(`${ROOMS}/${room.name}/recordings/${recording.id}/stop`, team.admin.token);
    const ended = (await rowOf(recording.id))?.endedAt;
    app.clock.advance(60_000);
    expect((await post()).status).toBe(200);
    expect((await rowOf(recording.id))?.endedAt).toEqual(ended);
  });

  test('of a recording with a file at its provider removes it from the copy queue', async () => {
    await advance(
      app,
      { workspaceId: team.id, roomId: room.id, archiveId: recording.archiveId },
      { status: 'uploaded' },
    );
    const at = app.clock.now();
    const copy = { workspaceId: team.id, recordingId: recording.id, sealedUrl: new Uint8Array(1) };
    await app.services.db.recordingCopy.create({ data: { ...copy, deadline: at, nextAttemptAt: at } });
    expect((await post()).status).toBe(200);
    expect(await app.services.db.recordingCopy.count({ where: { workspaceId: team.id } })).toBe(0);
  });
});

describe('who may upload', () => {
  test('the user of the room may, by session or key, whatever their role', async () => {
    const key = await addKey(app, team.id, team.admin);
    for (const token of [team.admin.token, key]) {
      expect((await uploadFile(app, recording.id, token)).status).toBe(200);
      recording = await startRecording();
    }
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    expect((await uploadFile(app, recording.id, team.admin.token)).status).toBe(200);
  });

  test('others are refused before the body is read', async () => {
    const other = await addTeam(app);
    const foreignKey = await addKey(app, other.id, other.owner);
    const stopped = app.http.post(`${ROOMS}/${room.name}/recordings/${recording.id}/stop`, team.admin.token);
    await stopped;
    const another = await startRecording();
    const hear = async (id: number | string, token: string | undefined, status: number, message: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const silent = async function* () {
        yield partHead({ type: 'video/mp4' });
        await promise;
      };
      const answer = await send(urlOf(id), silent(), { token, length: 1_000_000 });
      expectError(answer, status, message);
      expect(answer.headers.connection).toBe('close');
      if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
      resolve();
    };
    for (const token of [undefined, 'x', `lnr_${'A'.repeat(43)}`, `lns_${'A'.repeat(43)}`])
      await hear(recording.id, token, 401, 'Unauthorized');
    await hear('x', undefined, 401, 'Unauthorized');
    for (const token of [team.member.token, team.outsider.token, foreignKey, another.token])
      await hear(recording.id, token, 404, 'Recording not found');
    for (const id of ['2147483647', '0', '-1', '2147483648'])
      await hear(id, recording.token, 404, 'Recording not found');
    await hear('x', recording.token, 400, 'recordingId must be a positive 32-bit integer');
    expect(await traces()).toEqual(NOTHING);
  });

  test('the token grants access to nothing else', async () => {
    for (const path of ['/api/auth/me', '/api/dashboard/recordings', team.path])
      expect((await app.http.get(path, recording.token)).status).toBe(401);
    expect((await upload(app, team.path, recording.token)).status).toBe(401);
  });

  test('a page of another origin cannot use the cookie', async () => {
    const headers = { cookie: `session=${team.admin.token}`, origin: 'https://elsewhere.example' };
    expectError(
      await send(urlOf(), [multipart(part())], { headers }),
      403,
      'Cross-origin request refused: add the origin of the page to CORS_ORIGINS, or send a token',
    );
  });

  test('a caller above the rate limit: 429', async () => {
    const limited = await startTestApp({ limits: { perUser: 40 } });
    const { admin, path } = await addTeam(limited);
    const { body } = await limited.http.post(ROOMS, admin.token, { workspace_id: Number(path.split('/').at(-1)) });
    const started = await limited.http.post(`${ROOMS}/${body.room.name}/recordings`, admin.token, {});
    const url = `${limited.url}/api/recordings/${started.body.recording.id}/file`;
    const options = { token: started.body.upload_token, contentType: 'application/json' };
    const answers = await concurrently(45, () => send(url, [Buffer.from('{}')], options));
    expect(countStatuses(answers)).toEqual({ 400: 40, 429: 5 });
    await limited.close();
  });
});

describe('accepted files', () => {
  test('exactly the limit is accepted, one byte more is refused, with and without Content-Length', async () => {
    const tooLarge = [multipart(part(mp4(2 * MIB + 1)))];
    for (const options of [{}, { length: tooLarge[0]?.length ?? 0 }, { length: 500_000_000 }]) {
      const answer = await send(urlOf(), tooLarge, { token: recording.token, ...options });
      expectError(answer, 400, 'File is larger than 2 MB');
      expect(answer.body.issues).toEqual([{ path: 'file', message: 'File is larger than 2 MB' }]);
    }
    expect(await traces()).toEqual(NOTHING);
    const { body } = await post([multipart(part(mp4(2 * MIB)))]);
    expect(body.recording.size).toBe(2 * MIB);
  });

  test('only MP4 and WebM are accepted, by the declared type and by the bytes', async () => {
    const message = 'Only MP4 and WebM files are supported';
    for (const wrong of [
      filePart({ bytes: makePdf() }),
      filePart({ bytes: makePdf(), type: 'video/mp4' }),
      filePart({ bytes: mp4(), type: 'video/webm' }),
      filePart({ bytes: mp4(), type: 'text/plain', filename: 'a.txt' }),
      filePart({ bytes: mp4(), type: 'video/mp4', filename: 'a.exe' }),
      filePart({ bytes: mp4(), type: 'video/webm', filename: 'a.webm' }),
      filePart({ bytes: Buffer.from('1a45dfa3', 'hex'), type: 'video/mp4', filename: 'a.mp4' }),
      filePart({ bytes: '<html>', filename: 'a.mp4', type: 'video/mp4' }),
      filePart({ bytes: 'nothing that is recognised', filename: 'a.mp4', type: 'video/mp4' }),
      filePart({ bytes: '\0\0\0\x07ftypisom', filename: 'a.mp4', type: 'video/mp4' }),
    ])
      expectError(await post([multipart(wrong)]), 400, message);
    expectError(await post([multipart(part(''))]), 400, 'File is empty');
    expectError(await post([multipart(fieldPart('name', 'x'))]), 400, 'File is required');
    expectError(
      await send(urlOf(), [Buffer.from('{}')], { token: recording.token, contentType: 'application/json' }),
      400,
      'File is required',
    );
    expect(await traces()).toEqual(NOTHING);
    const generic = filePart({ bytes: mp4(), type: 'application/octet-stream', filename: 'a.mp4' });
    expect((await post([multipart(generic)])).status).toBe(200);
  });
});

describe('concurrent uploads and changes', () => {
  test('of ten uploads at once one succeeds, and the others leave nothing behind', async () => {
    const tokens = [recording.token, team.admin.token];
    const answers = await concurrently(10, (index) => post(undefined, tokens[index % 2]));
    const counts = countStatuses(answers);
    expect(counts).toEqual({ 200: 1, 409: 9 });
    for (const answer of answers.filter(({ status }) => status === 409))
      expect([UPLOADING, 'The recording already has a file']).toContain(answer.body.error);
    expect(await traces()).toEqual(ONE);
  });

  test('during an upload further ones are refused at once, and none of their bytes is stored', async () => {
    const answer = await interrupted(async () => {
      const others = await concurrently(12, (index) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const endless = async function* () {
          yield partHead({ type: 'video/mp4' });
          yield mp4(100_000);
          await promise;
        };
        const token = index % 2 ? recording.token : team.admin.token;
        return send(urlOf(), endless(), { token, length: 1_900_000 }).finally(resolve);
      });
      for (const other of others) expectError(other, 409, UPLOADING);
      expect(await stagedIn(app)).toHaveLength(1);
    });
    expect(answer.status).toBe(200);
    expect(await traces()).toEqual(ONE);
  });

  test('an upload that was cut off or refused does not block the next one', async () => {
    const body = multipart(part(mp4(1_500_000)));
    const socket = await openUpload(urlOf(), recording.token, `Content-Length: ${body.length}`);
    await writeAll(socket, body.subarray(0, 700_000));
    await until(async () => (await stagedIn(app)).length > 0);
    expectError(await post(), 409, UPLOADING);
    socket.destroy();
    await until(async () => (await stagedIn(app)).length === 0);
    expectError(await post([multipart(part(''))]), 400, 'File is empty');
    expect((await post()).status).toBe(200);
  });

  test('an upload does not block that of another recording', async () => {
    const answer = await interrupted(async () => {
      await app.http.post(`${ROOMS}/${room.name}/recordings/${recording.id}/stop`, team.admin.token);
      const another = await startRecording();
      expect((await uploadFile(app, another.id, another.token)).status).toBe(200);
    });
    expect(answer.status).toBe(200);
  });

  test('of uploads to two processes one succeeds, and the other leaves nothing behind', async () => {
    const second = await startUploadServer(app, {});
    const url = `${second.url}/api/recordings/${recording.id}/file`;
    const answer = await interrupted(async () => {
      expect((await send(url, [multipart(part())], { token: recording.token })).status).toBe(200);
    });
    expectError(answer, 409, 'The recording already has a file');
    expect(await traces()).toEqual(ONE);
    await second.close();
  });

  test('an upload that was admitted before another one ended is refused before it is stored', async () => {
    const { services } = app;
    const uploader = await uploaderOf();
    expect((await post()).status).toBe(200);
    const file = Promise.reject(new Error('Nobody reads this'));
    file.catch(() => {});
    const incoming = { file, fields: Promise.resolve({}), signal: AbortSignal.timeout(10_000) };
    await expect(uploadRecording(services, uploader, incoming, app.url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The recording already has a file',
    });
  });

  /** Finds the uploader by the token. */
  const uploaderOf = async () => {
    const recorder = await findRecorder(app.services, recording.token);
    if (recorder === null) throw new Error('The token is one');
    return findUploader(app.services.db, recorder, recording.id);
  };
  const hourlySettings = () => ({ ...app.services.settings, recordingTimeoutHours: 1 });

  /** Sends an upload that pauses half-way until `meanwhile` has run. */
  const interrupted = (meanwhile: () => Promise<unknown>, token = recording.token) => {
    const bytes = multipart(part(mp4(1_500_000)));
    const body = async function* () {
      yield bytes.subarray(0, 700_000);
      await until(async () => (await stagedIn(app)).length > 0);
      await meanwhile();
      yield bytes.subarray(700_000);
    };
    return post(body(), token);
  };

  test.each([
    ['the recording is deleted', () => app.http.delete(`/api/dashboard/recordings/${recording.id}`, team.admin.token)],
    ['the room is deleted', () => app.http.delete(`${ROOMS}/${room.name}`, team.admin.token)],
    ['the workspace is deleted', () => app.http.delete(team.path, team.owner.token)],
  ])('%s: 404, and no file', async (_, meanwhile) => {
    expectError(await interrupted(meanwhile), 404, 'Recording not found');
    expect(await traces()).toEqual(NOTHING);
  });

  test('the recording fails: 409, and no file', async () => {
    const key = { workspaceId: team.id, roomId: room.id, archiveId: recording.archiveId };
    expectError(await interrupted(() => advance(app, key, { status: 'failed' })), 409, 'The recording has failed');
    expectError(await post(), 409, 'The recording has failed');
    expect(await traces()).toEqual(NOTHING);
  });

  test('the uploader is removed: 404; an upload with the token still succeeds', async () => {
    const leave = () => app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
    expectError(await interrupted(leave, team.admin.token), 404, 'Recording not found');
    expect(await traces()).toEqual(NOTHING);
    expect((await post()).status).toBe(200);
  });

  test('a recording does not become stale when its upload begins', async () => {
    app.clock.advance(23 * HOUR_MS);
    const answer = await interrupted(async () => {
      app.clock.advance(2 * HOUR_MS);
      await failStaleRecordings(app.services);
      expect((await rowOf(recording.id))?.status).toBe('started');
    }, recording.token);
    expect(answer.status).toBe(200);
  });

  test('a recording does not become stale during its upload, however long that takes', async () => {
    const ticker = createManualTicker();
    const slowly = async function* () {
      const bytes = mp4(300_000);
      yield bytes.subarray(0, 100_000);
      for (let hours = 0; hours < 12; hours += 1) {
        app.clock.advance(HOUR_MS);
        const now = app.clock.now();
        ticker.advance(5 * MINUTE_MS);
        await eventually(async () => ((await rowOf(recording.id))?.updatedAt ?? 0) >= now);
        expect(await failStaleRecordings({ ...app.services, settings: hourlySettings() })).toBe(0);
      }
      yield bytes.subarray(100_000);
    };
    const stream = Readable.from(slowly(), { objectMode: false });
    const file = Promise.resolve({ stream, filename: 'a.mp4', declaredType: 'video/mp4' });
    const incoming = { file, fields: Promise.resolve({}), signal: AbortSignal.timeout(60_000) };
    const { status } = await uploadRecording(app.services, await uploaderOf(), incoming, app.url, ticker);
    expect(status).toBe('available');
    const { updatedAt } = (await rowOf(recording.id)) ?? {};
    app.clock.advance(HOUR_MS);
    expect(ticker.running()).toBe(0);
    ticker.advance(HOUR_MS);
    expect((await rowOf(recording.id))?.updatedAt).toEqual(updatedAt);
  });
});

describe('a failed upload leaves nothing behind and can be repeated:', () => {
  test('the store is down', async () => {
    faults.put = failUnavailable;
    const answer = await post();
    expectError(answer, 500, 'Upload failed: storage service unavailable');
    expect(answer.body.code).toBe('STORAGE_UNAVAILABLE');
    expect(await traces()).toEqual(NOTHING);
    delete faults.put;
    expect((await post()).status).toBe(200);
    expect(await traces()).toEqual(ONE);
  });

  test('the database rejects the row', async () => {
    const { db } = app.services;
    await db.$executeRawUnsafe(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'secret detail'; end $$`,
    );
    await db.$executeRawUnsafe(
      `create constraint trigger refuse after update of status on recordings deferrable initially deferred
       for each row execute function refuse()`,
    );
    const answer = await post();
    await db.$executeRawUnsafe('drop function refuse() cascade');
    expectError(answer, 500, 'Internal server error');
    expect(await traces()).toEqual(NOTHING);
    expect((await post()).status).toBe(200);
  });

  test('the client disconnects before its last byte', async () => {
    const body = multipart(part(mp4(1_500_000)));
    const socket = await openUpload(urlOf(), recording.token, `Content-Length: ${body.length}`);
    await writeAll(socket, body.subarray(0, -10));
    await until(async () => (await stagedIn(app)).length + (await storedKeys(app, team.id)).length > 0);
    socket.destroy();
    await until(async () => (await stagedIn(app)).length + (await storedKeys(app, team.id)).length === 0);
    expect(await traces()).toEqual(NOTHING);
    expect((await rowOf(recording.id))?.status).toBe('started');
  });

  test('the client disconnects after its last byte: the file is stored, however slow the store is', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    faults.put = (key, source, options) => {
      const slowly = async function* () {
        for await (const chunk of source) {
          yield chunk;
          await Promise.race([gone, delay(5)]);
        }
      };
      return real().put(key, Readable.from(slowly()), options);
    };
    const body = multipart(part(mp4(1_500_000)), fieldPart('after', 'x'));
    const socket = await openUpload(urlOf(), recording.token, `Content-Length: ${body.length}`);
    await writeAll(socket, body);
    socket.destroy();
    resolve();
    await until(async () => (await rowOf(recording.id))?.status === 'available');
    expect(await traces()).toEqual(ONE);
    expect((await rowOf(recording.id))?.size).toBe(1_500_000n);
  });

  test('a body that arrives too slowly: 408', async () => {
    const server = await startUploadServer(app, { periodMs: 60, minBytes: 1_000, drainMs: 50 });
    const url = `${server.url}/api/recordings/${recording.id}/file`;
    const socket = await openUpload(url, recording.token, 'Content-Length: 1000000');
    const said = readUntilClosed(socket);
    await writeAll(socket, Buffer.concat([partHead({ type: 'video/mp4' }), mp4(20_000)]));
    while (await writeAll(socket, Buffer.from('x'))) await delay(10);
    await server.close();
    expectError(parseAnswer(await said), 408, 'The request body arrived too slowly');
    expect(await traces()).toEqual(NOTHING);
  });
});

test('an upload with fetch, as a browser sends it', async () => {
  expect((await uploadFile(app, recording.id, recording.token, videoForm())).status).toBe(200);
});
