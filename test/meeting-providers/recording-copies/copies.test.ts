/** Recordings are copied from their providers into our store, whatever their servers do. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Copier,
  type CopierOptions,
  startCopier,
} from '../../../src/features/meeting-providers/recording-copies/copier.ts';
import {
  leaseCopies,
  openUrl,
  recordFailure,
} from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { copyRecording, maxCopyMs } from '../../../src/features/meeting-providers/recording-copies/copy-recording.ts';
import { createFileFetcher } from '../../../src/features/meeting-providers/recording-copies/fetch-file.ts';
import { type Jobs, startJobs } from '../../../src/jobs/jobs.ts';
import { storedKeys } from '../../recordings/recording-fixtures.ts';
import { concurrently } from '../../support/concurrently.ts';
import { eventsOf } from '../../support/events.ts';
import { makeMp4 } from '../../support/media.ts';
import { closedUrl, type Handler, type Receiver, respond, startReceiver } from '../../support/receiver.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { genericEvent, livekitEgress, livekitFile, vonageArchive, vonageEmptyArchive } from '../adapters/callbacks.ts';
import { addRoom, connect, eventually, type Room, type Source } from '../ingest/connected-provider.ts';

const HOUR_MS = 60 * 60 * 1000;
const MP4 = makeMp4({ durationSeconds: 12, moov: 'front', mdatBytes: 300_000 });
const serveMp4: Handler = respond(200, MP4, { 'content-type': 'video/mp4' });

let app: TestApp;
let jobs: Jobs;
let server: Receiver;
let team: Team;
let room: Room;
let source: Source;
const copiers: Copier[] = [];

beforeAll(async () => {
  app = await startTestApp({ settings: { maxRecordingBytes: 1_000_000 } });
  jobs = await startJobs({ connectionString: app.databaseUrl, schedule: [], log: app.services.log });
  server = await startReceiver();
});
afterAll(async () => {
  await jobs.stop();
  await server.close();
  await app.close();
});
beforeEach(async () => {
  server.respondWith(serveMp4);
  server.requests.length = 0;
  team = await addTeam(app);
  room = await addRoom(app, team, `session ${team.id}`);
  source = await connect(app, team, 'generic');
});
afterEach(async () => {
  await Promise.all(copiers.splice(0).map((copier) => copier.stop()));
  await app.services.db.recordingCopy.deleteMany();
});

async function copyFiles(options: Partial<CopierOptions> = {}): Promise<Copier> {
  const copier = await startCopier({ boss: jobs.boss, services: app.services, ...options });
  copiers.push(copier);
  return copier;
}

function wake() {
  return app.services.db.$queryRaw`select pg_notify('lynxroom_copies', '')::text`;
}

function available(url: string, recording: object = {}) {
  return source.post(genericEvent('recording.available', { url, ...recording }, { room: room.name }));
}

function recordingOf() {
  return app.services.db.recording.findFirstOrThrow({ where: { workspaceId: team.id }, include: { copy: true } });
}

function settled(status: string) {
  return eventually(async () => {
    const recording = await recordingOf();
    return recording.status === status && recording;
  });
}

async function failed() {
  const { failureReason, copy, fileKey } = await settled('failed');
  expect([copy, fileKey]).toEqual([null, null]);
  expect(await eventsOf(app, team.id, 'recording.completed')).toEqual([]);
  return failureReason;
}

/** After the first attempt, which failed. */
function tried(attempts = 1) {
  return eventually(async () => {
    const { copy } = await recordingOf();
    return copy && copy.attempts === attempts && copy.leasedUntil === null && copy.lastError !== null && copy;
  });
}

describe('a recorded callback becomes a recording that can be downloaded:', () => {
  const session = () => ({ sessionId: `session ${team.id}` });
  const url = () => `${server.url}/archive.mp4?Signature=x`;

  test.each([
    ['vonage', () => [vonageEmptyArchive('started', session()), vonageArchive({ ...session(), url: url() })]],
    [
      'livekit',
      () => {
        const egress = { roomName: room.name, ...livekitFile({ location: url() }) };
        return [livekitEgress('egress_ended', 'EGRESS_COMPLETE', egress, { id: 'EV_1' })];
      },
    ],
    ['generic', () => [genericEvent('recording.available', { url: url() }, { room: room.name })]],
  ] as const)('%s', async (provider, callbacks) => {
    await copyFiles();
    const connected = await connect(app, team, provider);
    for (const callback of callbacks()) expect((await connected.post(callback)).status).toBe(200);
    const { copy, size, duration, sha256 } = await settled('available');
    expect([copy, Number(size), Number(duration), sha256?.length]).toEqual([null, MP4.length, 12, 32]);
    const events = (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => /^recording/.test(type));
    expect(events).toEqual(['recording.started', 'recording.completed']);

    const { body } = await app.http.get('/api/dashboard/recordings', team.owner.token);
    expect(body.recordings).toMatchObject([{ status: 'available', duration: 12, size: MP4.length }]);
    const download = await app.http.get(
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

describe('a link that is dead', () => {
  test('is tried again after 5, 10, 20 s ... up to 5 minutes, a last time when it dies, and then the recording failed', async () => {
    server.respondWith(respond(404));
    const start = app.clock.now();
    await available(`${server.url}/gone.mp4`);
    const pauses: number[] = [];
    for (;;) {
      const [claim] = await leaseCopies(app.services, 1);
      if (!claim) throw new Error('Nothing is due');
      const at = app.clock.now();
      await recordFailure(app.services, claim, { why: 'The server answered 404', isFinal: false });
      const { copy, status } = await recordingOf();
      if (copy === null) {
        expect(status).toBe('failed');
        break;
      }
      expect(await leaseCopies(app.services, 1), 'before its time').toEqual([]);
      const pause = copy.nextAttemptAt.getTime() - at.getTime();
      pauses.push(Math.round(pause / 1000));
      app.clock.advance(pause + 1);
    }
    expect(pauses.slice(0, 9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect(app.clock.now().getTime() - start.getTime()).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(await failed()).toBe('The file could not be copied in time: The server answered 404');
    app.clock.advance(start.getTime() - app.clock.now().getTime());
  });

  test('is tried for a day where it says that it lives for decades', async () => {
    const before = app.clock.now().getTime();
    await available(`${server.url}/a.mp4`, { url_expires_at: Date.parse('2099-01-01T00:00:00Z') / 1000 });
    const [claim] = await leaseCopies(app.services, 1);
    if (!claim) throw new Error('Nothing is due');
    expect(claim.deadline.getTime()).toBeGreaterThanOrEqual(before + 24 * HOUR_MS);
    expect(claim.deadline.getTime()).toBeLessThanOrEqual(app.clock.now().getTime() + 24 * HOUR_MS);
    app.clock.advance(24 * HOUR_MS);
    await recordFailure(app.services, claim, { why: 'The server answered 404', isFinal: false });
    expect(await failed()).toBe('The file could not be copied in time: The server answered 404');
    app.clock.advance(-24 * HOUR_MS);
  });

  test('is tried once even where it is dead on arrival', async () => {
    server.respondWith(respond(403));
    await copyFiles();
    await available(`${server.url}/old.mp4`, { url_expires_at: Math.floor(Date.now() / 1000) - 60 });
    expect(await failed()).toBe('The file could not be copied in time: The server answered 403');
    expect(server.requests).toHaveLength(1);
  });

  test('that comes alive is copied', async () => {
    server.respondWith((request, response, index) => (index === 0 ? respond(500) : serveMp4)(request, response, index));
    await copyFiles();
    await available(`${server.url}/slow.mp4`);
    const { lastError } = await tried();
    expect(lastError).toBe('The server answered 500');
    app.clock.advance(6_000);
    await wake();
    await settled('available');
    app.clock.advance(-6_000);
  });

  test.each([
    ['refuses connections', closedUrl, 'The connection was refused'],
    ['redirects', async () => `${server.url}/r`, 'The server answered 302'],
    ['has a name that does not resolve', async () => 'http://nowhere.invalid/a.mp4', 'The host name does not resolve'],
  ])('that %s is tried again', async (_, url, why) => {
    server.respondWith(respond(302, '', { location: `${server.url}/elsewhere` }));
    await copyFiles();
    await available(`${await url()}`);
    expect((await tried()).lastError).toBe(why);
    expect(server.requests.map(({ target }) => target)).not.toContain('/elsewhere');
  });

  test('that does not answer, or stops half-way, or breaks off, is tried again, and leaves no file', async () => {
    await copyFiles({ headersMs: 100, idleMs: 100 });
    const keys = await storedKeys(app);
    const handlers: [string, Handler][] = [
      ['No answer in time', () => {}],
      ['The file stopped coming', (_, response) => void response.writeHead(200).write(MP4.subarray(0, 100_000))],
      [
        'The connection was closed before a response arrived',
        (_, response) => {
          response.writeHead(200, { 'content-length': MP4.length }).write(MP4.subarray(0, 100_000));
          setTimeout(() => response.destroy(), 50);
        },
      ],
    ];
    for (const [index, [why, handler]] of handlers.entries()) {
      server.respondWith(handler);
      if (index === 0) await available(`${server.url}/a.mp4`);
      expect((await tried(index + 1)).lastError).toBe(why);
      app.clock.advance(60_000);
      if (handlers[index + 1]) server.respondWith(handlers[index + 1]?.[1] ?? serveMp4);
      await wake();
    }
    expect(await storedKeys(app)).toEqual(keys);
  });
});

describe('of two links to one file the one that lives longer is kept:', () => {
  const expiry = (minutes: number): number => Math.floor(app.clock.now().getTime() / 1000) + minutes * 60;

  test.each([
    ['the later one', [10, 60], 'second'],
    ['the earlier one', [60, 10], 'first'],
    ['the earlier one of two that live as long', [60, 60], 'first'],
    ['one that does not say when it dies, and is tried for a day', [60, undefined], 'second'],
  ] as const)('%s', async (_, [first, second], kept) => {
    const links = [['first', first] as const, ['second', second] as const];
    const deadlines: Record<string, number | undefined> = {};
    for (const [name, minutes] of links) {
      deadlines[name] = minutes === undefined ? undefined : expiry(minutes);
      await available(`${server.url}/${name}.mp4`, { url_expires_at: deadlines[name] });
    }
    const [claim, ...rest] = await leaseCopies(app.services, 5);
    if (!claim) throw new Error('Nothing is due');
    expect(rest).toEqual([]);
    expect(openUrl(app.services.sealer, claim)).toBe(`${server.url}/${kept}.mp4`);
    const deadline = deadlines[kept];
    if (deadline !== undefined) expect(claim.deadline.getTime()).toBe(deadline * 1000);
  });
});

describe('what can never become a recording has failed at once, and leaves no file:', () => {
  const page = '<!doctype html><html><body>Sign in</body></html>';
  test.each([
    ['a page', respond(200, page), 'The file could not be copied: Only MP4 files are supported'],
    ['a PDF', respond(200, '%PDF-1.4\n%...'), 'The file could not be copied: Only MP4 files are supported'],
    ['nothing', respond(200, ''), 'The file could not be copied: File is empty'],
    [
      'a file that says it is too large',
      respond(200, '', { 'content-length': '1000001' }),
      'The file could not be copied: The file is too large',
    ],
  ])('%s', async (_, handler, reason) => {
    const keys = await storedKeys(app);
    server.respondWith(handler);
    await copyFiles();
    await available(`${server.url}/a.mp4`);
    expect(await failed()).toBe(reason);
    expect(await storedKeys(app)).toEqual(keys);
    expect(server.requests).toHaveLength(1);
  });

  test('a page that never ends, whose connection is closed', async () => {
    server.respondWith((_, response) => void response.writeHead(200).write(page.repeat(200)));
    await copyFiles();
    await available(`${server.url}/a.mp4`);
    expect(await failed()).toBe('The file could not be copied: Only MP4 files are supported');
    await eventually(async () => server.connections.every((socket) => socket.destroyed));
  });

  test('a file that turns out too large', async () => {
    const keys = await storedKeys(app);
    const large = makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 1_000_000 });
    server.respondWith((_, response) => {
      response.write(large);
      response.end();
    });
    await copyFiles();
    await available(`${server.url}/a.mp4`);
    expect(await failed()).toMatch(/^The file could not be copied: File is larger than /);
    expect(await storedKeys(app)).toEqual(keys);
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/a.mp4',
    'http://[fd00::1]/a.mp4',
    'http://127.0.0.1:22/a.mp4',
  ])('%s, which is not dialled', async (url) => {
    await copyFiles();
    await available(url);
    expect(await failed()).toMatch(/^The file could not be copied: /);
  });

  test('a name that leads to a private address', async () => {
    const inside = await startTestApp({ resolveHost: async () => [{ address: '169.254.169.254', family: 4 }] });
    const other = await startJobs({ connectionString: inside.databaseUrl, schedule: [], log: inside.services.log });
    const copier = await startCopier({ boss: other.boss, services: inside.services });
    try {
      const people = await addTeam(inside);
      const { name } = await addRoom(inside, people);
      const url = 'http://files.example.com/a.mp4';
      await (await connect(inside, people, 'generic')).post(
        genericEvent('recording.available', { url }, { room: name }),
      );
      const recording = await eventually(() => inside.services.db.recording.findFirst({ where: { status: 'failed' } }));
      expect(recording.failureReason).toMatch(/^The file could not be copied: /);
    } finally {
      await copier.stop();
      await other.stop();
      await inside.close();
    }
  });
});

describe('several workers', () => {
  test('one that was killed is missed after a minute, and another one copies the file', async () => {
    await available(`${server.url}/a.mp4`);
    // What a worker that is killed leaves behind is its claim.
    expect(await leaseCopies(app.services, 1)).toHaveLength(1);
    app.clock.advance(50_000);
    expect(await leaseCopies(app.services, 1), 'before a minute has passed').toEqual([]);
    await copyFiles();
    app.clock.advance(11_000);
    await wake();
    await settled('available');
    expect(server.requests).toHaveLength(1);
    expect(await eventsOf(app, team.id, 'recording.completed')).toHaveLength(1);
    app.clock.advance(-61_000);
  });

  test('one that comes back after its claim was taken over changes nothing any more', async () => {
    await available(`${server.url}/a.mp4`);
    const [stale] = await leaseCopies(app.services, 1);
    if (!stale) throw new Error('Nothing is due');
    app.clock.advance(61_000);
    expect(await leaseCopies(app.services, 1)).toHaveLength(1);
    const before = await recordingOf();
    await recordFailure(app.services, stale, { why: 'too late', isFinal: true });
    expect(await recordingOf()).toEqual(before);
    app.clock.advance(-61_000);
  });

  test('a claim is renewed while the file comes', async () => {
    let go = (): void => {};
    server.respondWith((_, response) => {
      response.writeHead(200).write(MP4.subarray(0, 150_000));
      const timer = setInterval(() => response.write(Buffer.alloc(20_000)), 20);
      response.on('close', () => clearInterval(timer));
      go = () => {
        clearInterval(timer);
        response.destroy();
      };
    });
    await copyFiles({ times: { renewMs: 100 } });
    await available(`${server.url}/a.mp4`);
    const { copy } = await eventually(async () => {
      const recording = await recordingOf();
      return recording.copy?.leasedUntil ? recording : null;
    });
    await eventually(async () => {
      const { copy: now } = await recordingOf();
      return (now?.leasedUntil ?? 0) > (copy?.leasedUntil ?? 0);
    });
    go();
  });

  test('a file that drips in is given up', async () => {
    server.respondWith((_, response) => {
      response.writeHead(200).write(MP4.subarray(0, 5_000));
      const timer = setInterval(() => response.write(Buffer.alloc(10)), 20);
      response.on('close', () => clearInterval(timer));
    });
    await copyFiles({ times: { renewMs: 150, graceMs: 100 } });
    await available(`${server.url}/a.mp4`);
    expect((await tried()).lastError).toBe('The file came too slowly');
  });

  test('a file that comes slowly at first has its grace, and one that comes for too long is given up', async () => {
    server.respondWith((_, response) => {
      response.writeHead(200).write(MP4.subarray(0, 5_000));
      const timer = setInterval(() => response.write(Buffer.alloc(10)), 20);
      response.on('close', () => clearInterval(timer));
    });
    await copyFiles({ times: { renewMs: 50, graceMs: 60_000, maxMs: 400 } });
    await available(`${server.url}/a.mp4`);
    expect((await tried()).lastError).toBe('The file took too long');
  });

  test('the largest file has the time that it takes at 10 Mbit/s, and never less than 30 minutes', () => {
    const minutes = (bytes: number): number => Math.round(maxCopyMs(bytes) / 60_000);
    expect([1_000_000, 2 * 1024 ** 3, 10_000_000_000].map(minutes)).toEqual([30, 30, 133]);
  });

  test('a link that cannot be opened holds up no other', async () => {
    await available(`${server.url}/sealed.mp4`);
    await app.services.db.recordingCopy.updateMany({ data: { sealedUrl: new Uint8Array(40) } });
    await copyFiles();
    expect((await tried()).lastError).toBe('Something went wrong here');
    await available(`${server.url}/b.mp4`, { id: 'recording-2' });
    const where = { workspaceId: team.id, archiveId: 'recording-2', status: 'available' };
    await eventually(() => app.services.db.recording.findFirst({ where }));
  });

  test('three of them fetch each of 12 files of a workspace once, three at a time in all', async () => {
    let underWay = 0;
    let max = 0;
    server.respondWith((request, response, index) => {
      underWay += 1;
      max = Math.max(max, underWay);
      setTimeout(() => {
        underWay -= 1;
        serveMp4(request, response, index);
      }, 50);
    });
    const ids = Array.from({ length: 12 }, (_, index) => `recording-${index}`);
    await Promise.all(ids.map((id) => available(`${server.url}/${id}.mp4`, { id })));
    await Promise.all([copyFiles(), copyFiles(), copyFiles()]);
    await eventually(async () => {
      const where = { workspaceId: team.id, status: 'available' };
      return (await app.services.db.recording.count({ where })) === 12;
    });
    expect(server.requests.map(({ target }) => target).sort()).toEqual(ids.map((id) => `/${id}.mp4`).sort());
    expect(max).toBeLessThanOrEqual(3);
    expect(await eventsOf(app, team.id, 'recording.completed')).toHaveLength(12);
  });

  test('one that stops gives its file back, and the next one has it at once', async () => {
    server.respondWith((_, response) => void response.writeHead(200).write(MP4.subarray(0, 100_000)));
    const first = await copyFiles();
    await available(`${server.url}/a.mp4`);
    await server.waitFor(1);
    await first.stop();
    expect((await recordingOf()).copy).toMatchObject({ leasedUntil: null, lastError: null });
    server.respondWith(serveMp4);
    await copyFiles();
    await settled('available');
  });
});

describe('several workspaces', () => {
  /** Puts files of another workspace down to be copied. */
  const addOther = async () => {
    const other = await addTeam(app);
    const { name } = await addRoom(app, other);
    const posting = await connect(app, other, 'generic');
    return {
      id: other.id,
      available: (recording: Record<string, unknown>) =>
        posting.post(genericEvent('recording.available', recording, { room: name })),
    };
  };

  test('files that hang cost their own workspace its places, and no other one', async () => {
    server.respondWith((request, response, index) => {
      if (request.target.startsWith('/fast')) serveMp4(request, response, index);
      else response.writeHead(200).write(MP4.subarray(0, 100_000));
    });
    for (let index = 0; index < 5; index += 1)
      await available(`${server.url}/hangs-${index}.mp4`, { id: `recording-${index}` });
    await copyFiles();
    await copyFiles();
    await server.waitFor(3);
    const other = await addOther();
    await other.available({ url: `${server.url}/fast.mp4` });
    const where = { workspaceId: other.id, status: 'available' };
    await eventually(() => app.services.db.recording.findFirst({ where }));
    const targets = server.requests.map(({ target }) => target);
    expect(targets.filter((target) => target.startsWith('/hangs'))).toHaveLength(3);
    const underWay = await app.services.db.recordingCopy.count({ where: { NOT: { leasedUntil: null } } });
    expect(underWay).toBe(3);
  });

  test('claims at the same time take no more than three files of a workspace together', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `recording-${index}`);
    for (const id of ids) await available(`${server.url}/${id}.mp4`, { id });
    const claims = await concurrently(6, () => leaseCopies(app.services, 2));
    expect(claims.flat()).toHaveLength(3);
    expect(await leaseCopies(app.services, 12)).toEqual([]);
  });

  test('what dies first is claimed first, whoever came first', async () => {
    const other = await addOther();
    const inMinutes = (minutes: number): number => Math.floor(app.clock.now().getTime() / 1000) + minutes * 60;
    await available(`${server.url}/a.mp4`, { id: 'a', url_expires_at: inMinutes(50) });
    await available(`${server.url}/b.mp4`, { id: 'b', url_expires_at: inMinutes(10) });
    await other.available({ id: 'c', url: `${server.url}/c.mp4`, url_expires_at: inMinutes(30) });
    const order: (string | undefined)[] = [];
    for (let turn = 0; turn < 3; turn += 1) order.push((await leaseCopies(app.services, 1))[0]?.archiveId);
    expect(order).toEqual(['b', 'c', 'a']);
  });
});

describe('meanwhile', () => {
  /** Holds the file back until it is told to go on. */
  const holdFile = () => {
    let go = (): void => {};
    server.respondWith((_, response) => {
      response.writeHead(200).write(MP4.subarray(0, 100_000));
      go = () => void response.end(MP4.subarray(100_000));
    });
    return () => go();
  };

  /** Begins to copy the one file that is due, as the copier does. Resolves when all is done that comes of it. */
  const beginCopy = async (): Promise<{ ended: Promise<void> }> => {
    const [claim] = await leaseCopies(app.services, 1);
    if (!claim) throw new Error('Nothing is due');
    const fetcher = createFileFetcher(app.services.addressGuard);
    const copy = copyRecording({ services: app.services, fetcher }, claim, new AbortController().signal);
    const ended = copy.finally(() => fetcher.close());
    await server.waitFor(1);
    return { ended };
  };

  test('the recording was deleted with its room: the file is not kept', async () => {
    const keys = await storedKeys(app);
    const go = holdFile();
    await available(`${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    expect((await app.http.delete(`/api/dashboard/rooms/${room.name}`, team.owner.token)).status).toBe(200);
    go();
    await ended;
    expect(await app.services.db.recordingCopy.count()).toBe(0);
    expect(await storedKeys(app)).toEqual(keys);
  });

  test('the provider said that it failed: so it stays, and the file is not kept', async () => {
    const keys = await storedKeys(app);
    const go = holdFile();
    await available(`${server.url}/a.mp4`);
    const { ended } = await beginCopy();
    await source.post(genericEvent('recording.failed', { reason: 'Corrupt' }, { room: room.name }));
    go();
    await ended;
    expect(await failed()).toBe('Corrupt');
    expect(await storedKeys(app)).toEqual(keys);
  });

  test('what is available stays so, whatever is told later', async () => {
    const copier = await copyFiles();
    await available(`${server.url}/a.mp4`);
    const before = await settled('available');
    await copier.stop();
    for (const type of ['recording.failed', 'recording.started', 'recording.ended', 'recording.uploaded'])
      await source.post(genericEvent(type, { duration: 5000, size: 1, reason: 'x' }, { room: room.name }));
    await available(`${server.url}/b.mp4`);
    expect(await leaseCopies(app.services, 1)).toEqual([]);
    const { updatedAt: _, ...after } = await recordingOf();
    expect(before).toMatchObject({ ...after, createdAt: expect.any(Date), endedAt: expect.any(Date) });
    expect(server.requests).toHaveLength(1);
  });
});
