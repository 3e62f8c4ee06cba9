/** What becomes of a file that a provider reports, whatever its server does. */
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { runDueMediaJob } from '../../../src/features/media-jobs/media-worker.ts';
import { leaseCopies } from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { failStaleRecordings } from '../../../src/features/recordings/fail-stale-recordings.ts';
import { makeVideo, noFfmpeg, videos } from '../../media/ffmpeg.ts';
import { eventsOf } from '../../support/events.ts';
import { eventually } from '../../support/eventually.ts';
import { makeMp4 } from '../../support/media.ts';
import { closedUrl, type Handler, respond } from '../../support/receiver.ts';
import { storedKeys } from '../../support/stored-files.ts';
import { startTestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import {
  genericEvent,
  livekitEgress,
  livekitFile,
  RECORDED_AT,
  vonageArchive,
  vonageEmptyArchive,
} from '../adapters/callbacks.ts';
import { addRoom, connect } from '../ingest/connected-provider.ts';
import {
  copyDue,
  expectFailed,
  expectRetry,
  MP4,
  readRecording,
  reportAvailable,
  serveMp4,
  startCopies,
  useCopyScene,
} from './copy-scene.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const scene = useCopyScene();

describe('a recorded callback becomes a recording that can be downloaded:', () => {
  const session = () => ({ sessionId: `session ${scene.team.id}` });
  const url = () => `${scene.server.url}/archive.mp4?Signature=x`;

  test.each([
    ['vonage', () => [vonageEmptyArchive('started', session()), vonageArchive({ ...session(), url: url() })]],
    [
      'livekit',
      () => {
        const egress = { roomName: scene.room.name, ...livekitFile({ location: url() }) };
        return [livekitEgress('egress_ended', 'EGRESS_COMPLETE', egress, { id: 'EV_1' })];
      },
    ],
    ['generic', () => [genericEvent('recording.available', { url: url() }, { room: scene.room.name })]],
  ] as const)('%s', async (provider, callbacks) => {
    const { app, server, team } = scene;
    // LiveKit's SDK signs by the clock of the machine.
    app.clock.advance(Date.now() - app.clock.now().getTime());
    const connected = await connect(app, team, provider);
    for (const callback of callbacks()) expect((await connected.post(callback)).status).toBe(200);
    await copyDue(scene);
    const { status, copy, size, duration, sha256 } = await readRecording(scene);
    expect([status, copy, Number(size), Number(duration), sha256?.length]).toEqual([
      'available',
      null,
      MP4.length,
      12,
      32,
    ]);
    const events = (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => /^recording/.test(type));
    expect(events).toEqual(['recording.started', 'recording.completed']);

    const { body } = await app.http.get('/api/dashboard/recordings', team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'available', duration: 12, size: MP4.length }]);
    const download = await app.http.getJson(
      `/api/dashboard/recordings/${body.recordings[0].id}/download`,
      team.owner.token,
    );
    const file = await fetch(download.body.url);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(MP4);
    expect(server.requests.map(({ method, target }) => [method, target])).toEqual([
      ['GET', '/archive.mp4?Signature=x'],
    ]);
  });
});

describe.skipIf(noFfmpeg !== null)('a file whose URL and content type say MP4', () => {
  const { vp8, vp9, opus, live } = videos;
  const served = { 'content-type': 'video/mp4' };

  test('and that is a WebM, is copied as such, and becomes an MP4 in which players can seek', async () => {
    const { app, server, team } = scene;
    const file = await makeVideo('a.webm', 5, [...vp9, ...opus, ...live]);
    server.respondWith(respond(200, file, served));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    const copied = { status: 'available', mediaType: 'video/webm', duration: 5n, size: BigInt(file.length) };
    expect(await readRecording(scene)).toMatchObject(copied);
    while (await runDueMediaJob(app.services, new AbortController().signal));
    expect(await readRecording(scene)).toMatchObject({ status: 'available', mediaType: 'video/mp4', duration: 5n });
    expect(await eventsOf(app, team.id, 'recording.completed')).toHaveLength(1);
  });

  test('and that is another Matroska, is refused', async () => {
    const { server } = scene;
    server.respondWith(respond(200, await makeVideo('a.mkv', 1, [...vp8, ...opus]), served));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe('Only MP4 and WebM files are supported');
  });
});

describe('a file that cannot be fetched', () => {
  test('is tried once even if its URL has expired on arrival', async () => {
    const { app, server } = scene;
    server.respondWith(respond(403));
    const expiredAt = Math.floor(app.clock.now().getTime() / 1000) - 60;
    await reportAvailable(scene, `${server.url}/old.mp4`, { url_expires_at: expiredAt });
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe(
      'The file could not be copied in time: The server responded with status 403',
    );
    expect(server.requests).toHaveLength(1);
  });

  test('is copied when a later attempt succeeds', async () => {
    const { app, server } = scene;
    server.respondWith((request, response, index) => (index === 0 ? respond(500) : serveMp4)(request, response, index));
    await reportAvailable(scene, `${server.url}/slow.mp4`);
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe('The server responded with status 500');
    app.clock.advance(5_000);
    await copyDue(scene);
    expect((await readRecording(scene)).status).toBe('available');
  });

  test.each([
    ['refuses connections', closedUrl, 'The connection was refused'],
    ['redirects', async () => `${scene.server.url}/r`, 'The server responded with status 302'],
    ['has a name that does not resolve', async () => 'http://nowhere.invalid/a.mp4', 'The host name does not resolve'],
  ])('since its server %s, is tried again', async (_, url, reason) => {
    const { server } = scene;
    server.respondWith(respond(302, '', { location: `${server.url}/elsewhere` }));
    await reportAvailable(scene, await url());
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe(reason);
    expect(server.requests.map(({ target }) => target)).not.toContain('/elsewhere');
  });

  const half: Handler = (_, response) => void response.writeHead(200).write(MP4.subarray(0, 100_000));
  test.each([
    ['does not answer', () => {}, { headersMs: 100 }, 'The server did not respond in time'],
    ['stops half-way', half, { idleMs: 100 }, 'The server stopped sending the file'],
    [
      'breaks the connection off',
      (_: unknown, response: Parameters<Handler>[1]) => {
        response.writeHead(200, { 'content-length': MP4.length });
        response.write(MP4.subarray(0, 100_000), () => response.destroy());
      },
      {},
      'The connection was closed before a response arrived',
    ],
  ] as const)('since its server %s, is tried again, and leaves no file', async (_, handler, timeouts, reason) => {
    const keys = await storedKeys(scene.app);
    scene.server.respondWith(handler);
    await reportAvailable(scene, `${scene.server.url}/a.mp4`);
    await copyDue(scene, timeouts);
    expect(await expectRetry(scene)).toBe(reason);
    expect(await storedKeys(scene.app)).toEqual(keys);
  });

  test('since its URL cannot be opened, delays no other', async () => {
    const { app, server, team } = scene;
    await reportAvailable(scene, `${server.url}/sealed.mp4`);
    await app.services.db.recordingCopy.updateMany({ data: { sealedUrl: new Uint8Array(40) } });
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe('Internal error');
    await reportAvailable(scene, `${server.url}/b.mp4`, { id: 'recording-2' });
    await copyDue(scene);
    const where = { workspaceId: team.id, archiveId: 'recording-2', status: 'available' };
    expect(await app.services.db.recording.count({ where })).toBe(1);
  });
});

/** The link dies, and the file is tried for the last time. */
async function afterDay(check: () => Promise<unknown>): Promise<void> {
  scene.app.clock.advance(DAY_MS);
  await copyDue(scene);
  await check();
  scene.app.clock.advance(-DAY_MS);
}

const page = '<!doctype html><html><body>Sign in</body></html>';
const gzipped = gzipSync(MP4);
const wrongContents: [string, Handler, string][] = [
  ['a page', respond(200, page), 'Only MP4 and WebM files are supported'],
  ['a PDF', respond(200, '%PDF-1.4\n%...'), 'Only MP4 and WebM files are supported'],
  [
    'a page of an internal service, which no type is recognised in',
    respond(200, '{"aws_secret":"INTERNAL-SECRET-42"}', { 'content-type': 'application/json' }),
    'Only MP4 and WebM files are supported',
  ],
  ['bytes without a box', respond(200, 'x'.repeat(5000)), 'Only MP4 and WebM files are supported'],
  ['a compressed file', respond(200, gzipped, { 'content-encoding': 'gzip' }), 'Only MP4 and WebM files are supported'],
  ['nothing', respond(200, ''), 'File is empty'],
  ['a file that says it is too large', respond(200, '', { 'content-length': '1000001' }), 'The file is too large'],
  [
    'a file that turns out too large',
    respond(200, makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 1_000_000 }), {
      'transfer-encoding': 'chunked',
    }),
    'The file is too large',
  ],
];

describe('a link that answers with wrong content is tried until it dies, and leaves no file:', () => {
  test.each(wrongContents)('%s', async (_, handler, reason) => {
    const { app, server, team } = scene;
    const keys = await storedKeys(app);
    server.respondWith(handler);
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe(reason);
    const { body } = await app.http.get('/api/dashboard/recordings', team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'uploaded', failure_reason: null, copy_error: reason }]);
    await afterDay(async () =>
      expect(await expectFailed(scene)).toBe(`The file could not be copied in time: ${reason}`),
    );
    expect(await storedKeys(app)).toEqual(keys);
    expect(server.requests).toHaveLength(2);
  });

  test.each(wrongContents)('%s once, and then the file, which is copied', async (_, handler) => {
    const { app, server, team } = scene;
    server.respondWith((request, response, index) => (index === 0 ? handler : serveMp4)(request, response, index));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    app.clock.advance(5_000);
    await copyDue(scene);
    const { body } = await app.http.get('/api/dashboard/recordings', team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'available', failure_reason: null, copy_error: null }]);
  });

  test('a page that never ends, whose connection is closed', async () => {
    const { server } = scene;
    server.respondWith((_, response) => void response.writeHead(200).write(page.repeat(200)));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe('Only MP4 and WebM files are supported');
    for (const socket of server.connections) if (!socket.destroyed) await once(socket, 'close');
  });

  test.each(['http://169.254.169.254/latest/meta-data', 'http://10.0.0.1/a.mp4', 'http://[fd00::1]/a.mp4'])(
    '%s, which is not dialled',
    async (url) => {
      await reportAvailable(scene, url);
      await copyDue(scene);
      expect(await expectRetry(scene)).toMatch(/not allowed|private|loopback/i);
    },
  );

  test('a name that leads to a private address', async () => {
    const app = await startTestApp({ resolveHost: async () => [{ address: '169.254.169.254', family: 4 }] });
    try {
      const team = await addTeam(app);
      const room = await addRoom(app, team);
      const inside = { ...scene, app, team, room, source: await connect(app, team, 'generic') };
      await reportAvailable(inside, 'http://files.example.com/a.mp4');
      await copyDue(inside);
      expect(await expectRetry(inside)).toMatch(/not allowed|private/i);
    } finally {
      await app.close();
    }
  });
});

describe('a recording that has failed', () => {
  const retry = async (token = scene.team.owner.token) => {
    const { id } = await readRecording(scene);
    return scene.app.http.post(`/api/dashboard/recordings/${id}/retry-copy`, token);
  };
  const failToCopy = async (recording: object = {}) => {
    scene.server.respondWith(respond(200, page));
    await reportAvailable(scene, `${scene.server.url}/a.mp4`, recording);
    scene.app.clock.advance(DAY_MS);
    await copyDue(scene);
    await expectFailed(scene);
    scene.server.respondWith(serveMp4);
  };
  afterEach(() => scene.app.clock.advance(scene.startedAt - scene.app.clock.now().getTime()));

  test('gets its file when the provider reports another link', async () => {
    await failToCopy();
    await reportAvailable(scene, `${scene.server.url}/b.mp4`);
    expect(await readRecording(scene)).toMatchObject({ status: 'uploaded', failureReason: null });
    await copyDue(scene);
    expect((await readRecording(scene)).status).toBe('available');
    expect(await eventsOf(scene.app, scene.team.id, 'recording.completed')).toHaveLength(1);
  });

  test('gets its file after the provider reported the failure, if a link follows, in either order', async () => {
    const { server, source, room, team, app } = scene;
    const seconds = RECORDED_AT.getTime() / 1000;
    const of = (seconds: number) => ({ room: room.name, occurred_at: seconds });
    const failed = (archive: string, at: number) => genericEvent('recording.failed', { id: archive }, of(seconds + at));
    const available = (archive: string, at: number) =>
      genericEvent('recording.available', { id: archive, url: `${server.url}/${archive}.mp4` }, of(seconds + at));
    for (const callback of [failed('late-link', 1), available('late-link', 2)]) await source.post(callback);
    for (const callback of [available('late-failure', 2), failed('late-failure', 1)]) await source.post(callback);
    for (const callback of [available('broken', 1), failed('broken', 2)]) await source.post(callback);
    for (const callback of [available('restored', 1), failed('restored', 2), available('restored', 3)])
      await source.post(callback);
    for (const callback of [failed('broken-late', 2), available('broken-late', 1)]) await source.post(callback);
    await copyDue(scene);
    const where = { workspaceId: team.id };
    const recordings = await app.services.db.recording.findMany({ where, orderBy: { archiveId: 'asc' } });
    expect(recordings.map(({ archiveId, status }) => [archiveId, status])).toEqual([
      ['broken', 'failed'],
      ['broken-late', 'failed'],
      ['late-failure', 'available'],
      ['late-link', 'available'],
      ['restored', 'available'],
    ]);
  });

  test('does not come back by any other report', async () => {
    await failToCopy();
    for (const type of ['recording.started', 'recording.ended', 'recording.uploaded'])
      await scene.source.post(genericEvent(type, { url: `${scene.server.url}/b.mp4` }, { room: scene.room.name }));
    expect((await readRecording(scene)).status).toBe('failed');
  });

  test('gets its file when a host retries, who is the user of the room, the owner or an admin', async () => {
    const { team } = scene;
    await failToCopy();
    for (const token of [team.member.token, team.outsider.token]) expect((await retry(token)).status).toBe(404);
    const { status, body } = await retry(team.admin.token);
    expect([status, body.recording]).toMatchObject([200, { status: 'uploaded', failure_reason: null }]);
    await copyDue(scene);
    const { body: again } = await retry();
    expect(again.recording).toMatchObject({ status: 'available', copy_error: null });
  });

  test('is tried for another day after a retry, and fails again with the reason', async () => {
    await failToCopy();
    scene.server.respondWith(respond(403));
    await retry();
    await copyDue(scene);
    expect((await readRecording(scene)).status).toBe('uploaded');
    scene.app.clock.advance(DAY_MS);
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe(
      'The file could not be copied in time: The server responded with status 403',
    );
  });

  test('cannot be retried once the link has expired, or without a link: 409', async () => {
    await failToCopy({ url_expires_at: Math.floor(scene.app.clock.now().getTime() / 1000) + 60 });
    const expired = await retry();
    expect([expired.status, expired.body.message]).toEqual([409, 'The link to the file has expired']);
    await scene.app.services.db.recordingCopy.deleteMany();
    const unknown = await retry();
    expect([unknown.status, unknown.body.message]).toEqual([
      409,
      'No meeting provider has reported a link to the file',
    ]);
    expect((await readRecording(scene)).status).toBe('failed');
  });

  test('is retried at once while it waits for the next attempt', async () => {
    const { server } = scene;
    server.respondWith(respond(500));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    server.respondWith(serveMp4);
    expect((await retry()).body.recording).toMatchObject({ copy_error: 'The server responded with status 500' });
    await copyDue(scene);
    expect((await readRecording(scene)).status).toBe('available');
  });
});

describe("a file in the customer's own storage", () => {
  const reportUploaded = (file: object = {}) => {
    const recording = { duration: 90, size: 9, ...file };
    return scene.source.post(genericEvent('recording.uploaded', recording, { room: scene.room.name }));
  };
  const aDayLater = (check: () => Promise<unknown>) =>
    afterDay(async () => {
      await failStaleRecordings(scene.app.services);
      await check();
    });
  const expectUploaded = async (failureReason: string | null) => {
    const { copy, ...recording } = await readRecording(scene);
    expect(recording).toMatchObject({ status: 'uploaded', duration: 90n, size: 9n, failureReason, fileKey: null });
    expect(copy?.nextAttemptAt ?? null).toBeNull();
    const { body } = await scene.app.http.get('/api/dashboard/recordings', scene.team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'uploaded', duration: 90, size: 9, url: null }]);
  };

  test.each([
    ['vonage', () => [vonageArchive({ sessionId: `session ${scene.team.id}`, status: 'uploaded', url: null })]],
    [
      'livekit',
      () => [
        livekitEgress('egress_ended', 'EGRESS_COMPLETE', {
          roomName: scene.room.name,
          ...livekitFile({ location: 's3://bucket/a.mp4' }),
        }),
      ],
    ],
    ['generic', () => [genericEvent('recording.uploaded', {}, { room: scene.room.name })]],
  ] as const)('without a URL ends as uploaded (%s)', async (provider, callbacks) => {
    scene.app.clock.advance(Date.now() - scene.app.clock.now().getTime());
    const connected = await connect(scene.app, scene.team, provider);
    for (const callback of callbacks()) expect((await connected.post(callback)).status).toBe(200);
    await aDayLater(async () => expect((await readRecording(scene)).status).toBe('uploaded'));
  });

  test('that cannot be read ends as uploaded after a day, with the reason', async () => {
    const { server } = scene;
    server.respondWith(respond(403));
    await reportUploaded({ url: `${server.url}/private.mp4` });
    await copyDue(scene);
    expect(await expectRetry(scene)).toBe('The server responded with status 403');
    await aDayLater(() => expectUploaded('The file could not be copied in time: The server responded with status 403'));
  });

  test('that is too large to be copied ends as uploaded after a day, with the reason', async () => {
    scene.server.respondWith(respond(200, '', { 'content-length': '1000001' }));
    await reportUploaded({ url: `${scene.server.url}/large.mp4` });
    await copyDue(scene);
    await aDayLater(() => expectUploaded('The file could not be copied in time: The file is too large'));
  });

  test('that is no MP4 fails after a day', async () => {
    scene.server.respondWith(respond(200, 'a text'));
    await reportUploaded({ url: `${scene.server.url}/a.txt` });
    await copyDue(scene);
    await aDayLater(async () =>
      expect(await expectFailed(scene)).toBe(
        'The file could not be copied in time: Only MP4 and WebM files are supported',
      ),
    );
  });

  test('becomes available without a reason if a later URL can be fetched', async () => {
    const { server } = scene;
    await reportUploaded({ url: 'http://10.0.0.1/a.mp4' });
    await aDayLater(async () =>
      expect((await readRecording(scene)).failureReason).toMatch(/^The file could not be copied in time: Address not/),
    );
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await readRecording(scene)).toMatchObject({ status: 'available', failureReason: null });
  });
});

describe('while a file is being fetched', () => {
  /** Sends the first part of the file. The result sends the rest. */
  const holdFile = () => {
    let finish = (): void => {};
    scene.server.respondWith((_, response) => {
      response.writeHead(200).write(MP4.subarray(0, 100_000));
      finish = () => void response.end(MP4.subarray(100_000));
    });
    return () => finish();
  };

  /** Starts to copy the file that is due. Resolves when its server has been asked for it. */
  const beginCopy = async () => {
    const { ended } = await startCopies(scene);
    await scene.server.waitFor(1);
    return { ended };
  };

  test('its lease is renewed', async () => {
    const { app, server, ticker } = scene;
    const finish = holdFile();
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    const leasedUntil = (await readRecording(scene)).copy?.leasedUntil?.getTime() ?? 0;
    app.clock.advance(20_000);
    ticker.advance(20_000);
    await eventually(async () => (await readRecording(scene)).copy?.leasedUntil?.getTime() === leasedUntil + 20_000);
    finish();
    await ended;
    expect((await readRecording(scene)).status).toBe('available');
  });

  test('too slowly, the attempt ends', async () => {
    const { server, ticker } = scene;
    holdFile();
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    ticker.advance(40_000);
    await ended;
    expect(await expectRetry(scene)).toBe('The file was sent too slowly');
  });

  test('and another process has taken its lease over, the attempt ends and changes nothing', async () => {
    const { app, server, ticker } = scene;
    holdFile();
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    app.clock.advance(61_000);
    expect(await leaseCopies(app.services, 1)).toHaveLength(1);
    const before = await readRecording(scene);
    ticker.advance(20_000);
    await ended;
    expect(await readRecording(scene)).toEqual(before);
  });

  test('the recording was deleted with its room: the file is not kept', async () => {
    const { app, room, server, team } = scene;
    const keys = await storedKeys(app);
    const finish = holdFile();
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    expect((await app.http.delete(`/api/dashboard/rooms/${room.name}`, team.owner.token)).status).toBe(200);
    finish();
    await ended;
    expect(await app.services.db.recordingCopy.count()).toBe(0);
    expect(await storedKeys(app)).toEqual(keys);
  });

  test('the provider reported that the recording failed: it stays failed, and the file is not kept', async () => {
    const { app, room, server, source } = scene;
    const keys = await storedKeys(app);
    const finish = holdFile();
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    await source.post(genericEvent('recording.failed', { reason: 'Corrupt' }, { room: room.name }));
    finish();
    await ended;
    expect(await expectFailed(scene)).toBe('Corrupt');
    expect(await storedKeys(app)).toEqual(keys);
  });
});

test('a recording that is available stays so, whatever the provider reports later', async () => {
  const { app, room, server, source } = scene;
  await reportAvailable(scene, `${server.url}/a.mp4`);
  await copyDue(scene);
  const before = await readRecording(scene);
  expect(before.status).toBe('available');
  for (const type of ['recording.failed', 'recording.started', 'recording.ended', 'recording.uploaded'])
    await source.post(genericEvent(type, { duration: 5000, size: 1, reason: 'x' }, { room: room.name }));
  await reportAvailable(scene, `${server.url}/b.mp4`);
  expect(await leaseCopies(app.services, 1)).toEqual([]);
  const { updatedAt: _, failedAt: __, ...after } = await readRecording(scene);
  expect(before).toMatchObject({ ...after, createdAt: expect.any(Date), endedAt: expect.any(Date) });
  expect(server.requests).toHaveLength(1);
});
