/** What becomes of a file that a provider reports, whatever its server does. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { leaseCopies } from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { failStaleRecordings } from '../../../src/features/recordings/fail-stale-recordings.ts';
import { eventsOf } from '../../support/events.ts';
import { eventually } from '../../support/eventually.ts';
import { makeMp4 } from '../../support/media.ts';
import { closedUrl, type Handler, respond } from '../../support/receiver.ts';
import { storedKeys } from '../../support/stored-files.ts';
import { startTestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { genericEvent, livekitEgress, livekitFile, vonageArchive, vonageEmptyArchive } from '../adapters/callbacks.ts';
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

describe('what can never become a recording fails at once, and leaves no file:', () => {
  const page = '<!doctype html><html><body>Sign in</body></html>';
  test.each([
    ['a page', respond(200, page), 'The file could not be copied: Only MP4 files are supported'],
    ['a PDF', respond(200, '%PDF-1.4\n%...'), 'The file could not be copied: Only MP4 files are supported'],
    [
      'a page of an internal service, which no type is recognised in',
      respond(200, '{"aws_secret":"INTERNAL-SECRET-42"}', { 'content-type': 'application/json' }),
      'The file could not be copied: Only MP4 files are supported',
    ],
    [
      'bytes without a box',
      respond(200, 'x'.repeat(5000)),
      'The file could not be copied: Only MP4 files are supported',
    ],
    ['nothing', respond(200, ''), 'The file could not be copied: File is empty'],
    [
      'a file that says it is too large',
      respond(200, '', { 'content-length': '1000001' }),
      'The file could not be copied: The file is too large',
    ],
  ])('%s', async (_, handler, reason) => {
    const { app, server } = scene;
    const keys = await storedKeys(app);
    server.respondWith(handler);
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe(reason);
    expect(await storedKeys(app)).toEqual(keys);
    expect(server.requests).toHaveLength(1);
  });

  test('a page that never ends, whose connection is closed', async () => {
    const { server } = scene;
    server.respondWith((_, response) => void response.writeHead(200).write(page.repeat(200)));
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe('The file could not be copied: Only MP4 files are supported');
    for (const socket of server.connections) if (!socket.destroyed) await once(socket, 'close');
  });

  test('a file that turns out too large', async () => {
    const { app, server } = scene;
    const keys = await storedKeys(app);
    const large = makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 1_000_000 });
    server.respondWith((_, response) => {
      response.write(large);
      response.end();
    });
    await reportAvailable(scene, `${server.url}/a.mp4`);
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe('The file could not be copied: The file is too large');
    expect(await storedKeys(app)).toEqual(keys);
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/a.mp4',
    'http://[fd00::1]/a.mp4',
    'http://127.0.0.1:22/a.mp4',
  ])('%s, which is not dialled', async (url) => {
    await reportAvailable(scene, url);
    await copyDue(scene);
    expect(await expectFailed(scene)).toMatch(/^The file could not be copied: /);
  });

  test('a name that leads to a private address', async () => {
    const app = await startTestApp({ resolveHost: async () => [{ address: '169.254.169.254', family: 4 }] });
    try {
      const team = await addTeam(app);
      const room = await addRoom(app, team);
      const inside = { ...scene, app, team, room, source: await connect(app, team, 'generic') };
      await reportAvailable(inside, 'http://files.example.com/a.mp4');
      await copyDue(inside);
      expect(await expectFailed(inside)).toMatch(/^The file could not be copied: /);
    } finally {
      await app.close();
    }
  });
});

describe("a file in the customer's own storage", () => {
  const reportUploaded = (file: object = {}) => {
    const recording = { duration: 90, size: 9, ...file };
    return scene.source.post(genericEvent('recording.uploaded', recording, { room: scene.room.name }));
  };
  const aDayLater = async (check: () => Promise<unknown>) => {
    scene.app.clock.advance(25 * 60 * 60 * 1000);
    await failStaleRecordings(scene.app.services);
    await copyDue(scene);
    await check();
    scene.app.clock.advance(-25 * 60 * 60 * 1000);
  };
  const expectUploaded = async (failureReason: string | null) => {
    const { copy, ...recording } = await readRecording(scene);
    expect(recording).toMatchObject({ status: 'uploaded', duration: 90n, size: 9n, failureReason, fileKey: null });
    expect(copy).toBeNull();
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

  test.each([
    ['is too large to be copied', respond(200, '', { 'content-length': '1000001' }), 'The file is too large'],
    [
      'turns out to be too large',
      respond(200, makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 1_000_000 }), {
        'transfer-encoding': 'chunked',
      }),
      'The file is too large',
    ],
  ])('that %s ends as uploaded at once', async (_, handler, reason) => {
    scene.server.respondWith(handler);
    await reportUploaded({ url: `${scene.server.url}/large.mp4` });
    await copyDue(scene);
    await expectUploaded(`The file could not be copied: ${reason}`);
  });

  test('that is no MP4 fails', async () => {
    scene.server.respondWith(respond(200, 'a text'));
    await reportUploaded({ url: `${scene.server.url}/a.txt` });
    await copyDue(scene);
    expect(await expectFailed(scene)).toBe('The file could not be copied: Only MP4 files are supported');
  });

  test('becomes available without a reason if a later URL can be fetched', async () => {
    const { server } = scene;
    await reportUploaded({ url: 'http://10.0.0.1/a.mp4' });
    await copyDue(scene);
    expect((await readRecording(scene)).failureReason).toMatch(/^The file could not be copied: Address not allowed/);
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
  const { updatedAt: _, ...after } = await readRecording(scene);
  expect(before).toMatchObject({ ...after, createdAt: expect.any(Date), endedAt: expect.any(Date) });
  expect(server.requests).toHaveLength(1);
});
