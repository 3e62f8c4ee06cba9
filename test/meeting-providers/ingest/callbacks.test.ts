/** Receiving callbacks: which are accepted, which are refused, and that each is applied once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyCallback, applyPendingCallbacks } from '../../../src/features/meeting-providers/ingest/apply-callback.ts';
import { pruneCallbacks } from '../../../src/features/meeting-providers/ingest/callback-store.ts';
import { concurrently, countStatuses } from '../../support/concurrently.ts';
import { dumpTables } from '../../support/dump.ts';
import { eventsOf } from '../../support/events.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import {
  bodyOf,
  genericEvent,
  livekitParticipant,
  signGeneric,
  vonageArchive,
  vonageConnection,
  vonageEmptyArchive,
} from '../adapters/callbacks.ts';
import { addRoom, connect, type ProviderName, type Room, type Source } from './connected-provider.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let app: TestApp;
let team: Team;
let room: Room;
let source: Source;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  room = await addRoom(app, team, `session ${team.id}`);
  source = await connect(app, team, 'generic');
});

async function typesOf(): Promise<string[]> {
  return (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => /^room\.[jl]|^recording/.test(type));
}

function joined(subject: object = {}, fields: object = {}) {
  return genericEvent(
    'participant.joined',
    { name: 'Grace', email: 'Grace@example.com', ...subject },
    { room: room.name, ...fields },
  );
}

test('a callback is applied before it is answered', async () => {
  const answer = await source.post(joined());
  expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
  expect(await typesOf()).toEqual(['room.joined']);
  const { body } = await app.http.get(`/api/dashboard/rooms/${room.name}/participants`, team.owner.token);
  expect(body.participants).toMatchObject([{ name: 'Grace', status: 'joined' }]);
  const { body: connections } = await app.http.get(`${team.path}/connections`, team.owner.token);
  expect(connections.connections[0].last_event_at).toBeGreaterThan(1_700_000_000);
});

test.each([
  [
    'vonage',
    () => vonageConnection('connectionCreated', { sessionId: `session ${team.id}` }, { data: 'Vera' }),
    'Vera',
  ],
  ['livekit', () => livekitParticipant('participant_joined', {}, { room: { name: room.name } }), 'Grace Hopper'],
  ['generic', () => joined(), 'Grace'],
] as [ProviderName, () => object, string][])('%s reports a join', async (provider, callback, name) => {
  const { status } = await (await connect(app, team, provider)).post(callback());
  expect(status).toBe(200);
  expect(await eventsOf(app, team.id, 'room.joined')).toMatchObject([{ data: { participant_name: name } }]);
});

test('any content type is accepted, and none', async () => {
  for (const type of ['application/webhook+json', 'text/plain', 'no type at all', '']) {
    const body = bodyOf(joined({ id: `c ${type}` }));
    const headers = { ...(await source.sign(body)), 'content-type': type };
    const { status } = await app.http.call('POST', source.path, { body: new Uint8Array(body), headers });
    expect(status, type).toBe(200);
  }
  expect(await typesOf()).toHaveLength(4);
});

describe('a refused callback changes nothing:', () => {
  const expectRefusal = async (send: () => ReturnType<Source['post']>, status: number, message: string) => {
    const before = await dumpTables(app);
    const answer = await send();
    expect([answer.status, answer.body.error]).toEqual([status, message]);
    expect(await dumpTables(app)).toEqual(before);
  };
  const post = (body: Buffer, headers: Record<string, string>, path = source.path) =>
    app.http.call('POST', path, { body: new Uint8Array(body), headers });

  test('with a signature of another secret, of another body or of yesterday, and without one', async () => {
    const body = bodyOf(joined());
    const wrong = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const at = app.clock.now();
    await expectRefusal(() => post(body, signGeneric(body, wrong, { at })), 401, 'The signature is not valid');
    const ofOther = await source.sign(bodyOf(joined({ name: 'Other' })));
    await expectRefusal(() => post(body, ofOther), 401, 'The signature is not valid');
    await expectRefusal(
      () => post(body, signGeneric(body, source.secret ?? '', { at: new Date(at.getTime() - DAY_MS) })),
      401,
      'webhook-timestamp must be within 5 minutes of now',
    );
    await expectRefusal(() => post(body, {}), 401, 'webhook-id, webhook-timestamp and webhook-signature are required');
    await expectRefusal(
      () => app.http.call('POST', source.path),
      401,
      'webhook-id, webhook-timestamp and webhook-signature are required',
    );
  });

  test("signed for one workspace's connection and posted to another's", async () => {
    const other = await connect(app, await addTeam(app), 'generic');
    const body = bodyOf(joined());
    const headers = await source.sign(body);
    await expectRefusal(() => post(body, headers, other.path), 401, 'The signature is not valid');
  });

  test('for an unknown connection, whatever the form of its id', async () => {
    const body = bodyOf(joined());
    const headers = await source.sign(body);
    for (const id of ['x', 'A'.repeat(32), '%00', `${source.path.slice(12)}x`])
      await expectRefusal(() => post(body, headers, `/api/ingest/${id}`), 404, 'Connection not found');
  });

  test('with a valid signature and an invalid body', async () => {
    await expectRefusal(() => source.post('{"type":'), 400, 'Request body must be JSON in UTF-8');
    await expectRefusal(() => source.post({ ...joined(), room: undefined }), 400, 'room is required');
    await expectRefusal(
      () => source.post(joined({ id: 'a\u0000b' })),
      400,
      'participant.id must not contain control characters or invalid Unicode',
    );
  });

  test('of more than 64 KiB: 413; exactly 64 KiB is accepted', async () => {
    const fill = (size: number): string => {
      const text = JSON.stringify(joined({ padding: '' }));
      return text.replace('"padding":""', `"padding":"${'x'.repeat(size - text.length)}"`);
    };
    await expectRefusal(() => source.post(fill(64 * 1024 + 1)), 413, 'Request body is too large');
    expect((await source.post(fill(64 * 1024))).status).toBe(200);
  });

  test('with more than 2,048 values: 400', async () => {
    await expectRefusal(
      () => source.post(joined({ values: Array(2_048).fill(0) })),
      400,
      'Request body must have at most 2048 values',
    );
  });

  test('with another method: 405', async () => {
    expect((await app.http.get(source.path)).status).toBe(405);
  });
});

describe('rooms', () => {
  test('a callback for an unknown room is stored and applied, and changes nothing', async () => {
    expect((await source.post(joined({}, { room: 'nobody-has-this' }))).status).toBe(200);
    const [event] = await app.services.db.ingestEvent.findMany({ where: { workspaceId: team.id } });
    expect(event?.appliedAt).not.toBeNull();
    expect(await typesOf()).toEqual([]);
  });

  test('a callback for a room of another workspace changes nothing, by name and by session', async () => {
    const stranger = await addTeam(app);
    const before = await app.services.db.event.count({ where: { workspaceId: team.id } });
    const generic = await connect(app, stranger, 'generic');
    expect((await generic.post(joined())).status).toBe(200);
    expect((await generic.post(genericEvent('recording.started', {}, { room: room.name }))).status).toBe(200);
    const vonage = await connect(app, stranger, 'vonage');
    const session = { sessionId: `session ${team.id}` };
    expect((await vonage.post(vonageConnection('connectionCreated', session))).status).toBe(200);
    expect((await vonage.post(vonageEmptyArchive('started', session))).status).toBe(200);
    expect(await app.services.db.participant.count({ where: { roomId: room.id } })).toBe(0);
    expect(await app.services.db.recording.count({ where: { roomId: room.id } })).toBe(0);
    expect(await app.services.db.event.count({ where: { workspaceId: team.id } })).toBe(before);
  });
});

describe('repeated and concurrent callbacks', () => {
  const repeat = async (value: unknown) => {
    const body = bodyOf(value);
    const options = { body: new Uint8Array(body), headers: await source.sign(body) };
    return () => app.http.call('POST', source.path, options);
  };

  test('a repeated callback gets 200 and changes nothing', async () => {
    const send = await repeat(joined());
    expect((await send()).status).toBe(200);
    const before = await dumpTables(app);
    app.clock.advance(1000);
    const again = await send();
    app.clock.advance(-1000);
    expect([again.status, again.body]).toEqual([200, { ok: true }]);
    expect(await dumpTables(app)).toEqual(before);
  });

  test('a callback that has been applied is not applied again, not even by a retry that took it before', async () => {
    await source.post(genericEvent('recording.started', { title: 'Weekly' }, { room: room.name }));
    const where = { workspaceId: team.id };
    const { workspaceId, connectionId, dedupeKey } = await app.services.db.ingestEvent.findFirstOrThrow({ where });
    // Applying the callback again would set the title again.
    await app.services.db.recording.updateMany({ where, data: { title: null } });
    const before = await dumpTables(app);
    app.clock.advance(1000);
    await applyCallback(app.services, { workspaceId, connectionId, dedupeKey });
    app.clock.advance(-1000);
    expect(await dumpTables(app)).toEqual(before);
  });

  test('the same callback 20 times at once is applied once', async () => {
    const send = await repeat(joined());
    expect(countStatuses(await concurrently(20, send))).toEqual({ 200: 20 });
    expect(await typesOf()).toEqual(['room.joined']);
    expect(await app.services.db.ingestEvent.count({ where: { workspaceId: team.id } })).toBe(1);
    expect(await app.services.db.contactEvent.count({ where: { workspaceId: team.id } })).toBe(1);
  });

  test('all callbacks of one archive at once create one recording and emit one event', async () => {
    source = await connect(app, team, 'vonage');
    const of = (fields: object) => ({ sessionId: `session ${team.id}`, ...fields });
    const sent = [
      vonageEmptyArchive('started', of({})),
      vonageEmptyArchive('paused', of({})),
      vonageArchive(of({ status: 'stopped', url: null })),
      vonageArchive(of({ status: 'uploaded', url: null })),
      vonageArchive(of({ url: 'https://example.com/archive.mp4' })),
    ];
    const answers = await Promise.all(sent.flatMap((value) => [source.post(value), source.post(value)]));
    expect(countStatuses(answers)).toEqual({ 200: 10 });
    expect(await typesOf()).toEqual(['recording.started']);
    const recordings = await app.services.db.recording.findMany({
      where: { workspaceId: team.id },
      include: { copy: true },
    });
    expect(recordings).toMatchObject([{ status: 'uploaded', title: 'Foo', duration: 328n, copy: { attempts: 0 } }]);
  });

  test('20 joins and their leaves at once are 20 joins and 20 leaves', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => `c${index}`).flatMap((id) => [
        source.post(genericEvent('participant.left', { id }, { room: room.name })),
        source.post(joined({ id })),
      ]),
    );
    expect(countStatuses(answers)).toEqual({ 200: 40 });
    expect((await typesOf()).sort()).toEqual([...Array(20).fill('room.joined'), ...Array(20).fill('room.left')]);
  });
});

describe('a callback that cannot be applied', () => {
  const breakEvents = () => app.services.db.$executeRawUnsafe('alter table events rename to events_away');
  const restoreEvents = () => app.services.db.$executeRawUnsafe('alter table events_away rename to events');

  test('is stored and logged, and a schedule applies it once', async () => {
    await breakEvents();
    const answer = await source.post(joined()).finally(restoreEvents);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(app.logLines.at(-2)?.msg).toBe('Failed to apply a callback; it will be retried');
    expect(await app.services.db.participant.count({ where: { workspaceId: team.id } })).toBe(0);

    await concurrently(4, () => applyPendingCallbacks(app.services));
    expect(await typesOf()).toEqual(['room.joined']);
    expect(await app.services.db.ingestEvent.count({ where: { appliedAt: null } })).toBe(0);
  });

  test('does not delay later callbacks', async () => {
    const poison = { workspaceId: team.id, connectionId: source.id, dedupeKey: 'poison', facts: [{ kind: 'none' }] };
    await app.services.db.ingestEvent.create({ data: { ...poison, receivedAt: new Date(0) } });
    await breakEvents();
    await source.post(joined()).finally(restoreEvents);
    await applyPendingCallbacks(app.services);
    expect(await typesOf()).toEqual(['room.joined']);
    expect(await app.services.db.ingestEvent.count({ where: { appliedAt: null } })).toBe(1);
    await app.services.db.ingestEvent.deleteMany({ where: { dedupeKey: 'poison' } });
  });

  test('gets its turn, however many older ones fail each time', async () => {
    const poison = {
      workspaceId: team.id,
      connectionId: source.id,
      facts: [{ kind: 'none' }],
      receivedAt: new Date(0),
    };
    const data = ['a', 'b', 'c', 'd'].map((dedupeKey) => ({ ...poison, dedupeKey }));
    await app.services.db.ingestEvent.createMany({ data });
    await breakEvents();
    await source.post(joined()).finally(restoreEvents);
    const applied: string[][] = [];
    for (let minute = 0; minute < 3; minute += 1) {
      app.clock.advance(60_000);
      await applyPendingCallbacks(app.services, 2);
      applied.push(await typesOf());
    }
    app.clock.advance(-3 * 60_000);
    expect(applied).toEqual([[], [], ['room.joined']]);
    const where = { workspaceId: team.id, appliedAt: null };
    const tried = await app.services.db.ingestEvent.findMany({ where, select: { triedAt: true } });
    expect(tried.map(({ triedAt }) => triedAt)).toEqual(Array(4).fill(expect.any(Date)));
    await app.services.db.ingestEvent.deleteMany({ where });
  });
});

test('applied callbacks are deleted after a week, pending ones are not', async () => {
  await source.post(joined());
  const waiting = { workspaceId: team.id, connectionId: source.id, dedupeKey: 'waiting', facts: [] };
  await app.services.db.ingestEvent.create({ data: { ...waiting, receivedAt: app.clock.now() } });
  app.clock.advance(7 * DAY_MS - 60_000);
  await pruneCallbacks(app.services);
  expect(await app.services.db.ingestEvent.count({ where: { workspaceId: team.id } })).toBe(2);
  app.clock.advance(120_000);
  await pruneCallbacks(app.services);
  const left = await app.services.db.ingestEvent.findMany({ where: { workspaceId: team.id } });
  expect(left.map(({ dedupeKey }) => dedupeKey)).toEqual(['waiting']);
  app.clock.advance(-7 * DAY_MS - 60_000);
});

test('the database contains neither the token of a participant nor the URL of a file', async () => {
  const token = `lnp_${'A'.repeat(43)}`;
  await source.post(joined({ token }));
  await source.post(
    genericEvent('recording.available', { url: 'https://example.com/secret-link.mp4' }, { room: room.name }),
  );
  const { participants, recording_copies, ingest_events } = await dumpTables(app);
  const tables = JSON.stringify([participants, recording_copies, ingest_events]);
  expect(tables).not.toContain(token);
  expect(tables).not.toContain('secret-link');
});

test('only callbacks without a valid signature count towards the rate limit of the network', async () => {
  const limited = await startTestApp({ limits: { publicPerAddress: 3 } });
  try {
    const connected = await connect(limited, await addTeam(limited), 'generic');
    const send = async (isSigned: boolean, id: string) => {
      const body = bodyOf(genericEvent('participant.left', { id }));
      const headers = isSigned ? await connected.sign(body) : {};
      return (await limited.http.call('POST', connected.path, { body: new Uint8Array(body), headers })).status;
    };
    for (let index = 0; index < 10; index += 1) expect(await send(true, `a${index}`)).toBe(200);
    const refused = [await send(false, 'b'), await send(false, 'b'), await send(false, 'b'), await send(false, 'b')];
    expect(refused).toEqual([401, 401, 401, 429]);
    expect((await limited.http.call('POST', `/api/ingest/${'A'.repeat(32)}`)).status).toBe(429);
    expect(await send(true, 'c')).toBe(200);
  } finally {
    await limited.close();
  }
});

test('the document describes how each provider signs', async () => {
  const { paths, components } = (await app.http.get('/openapi.json')).body;
  const { security, parameters } = paths['/api/ingest/{connectionId}'].post;
  expect(security).toEqual([{}, { meetingProvider: [] }]);
  expect(components.securitySchemes.meetingProvider).toMatchObject({ in: 'header', name: 'Authorization' });
  expect(parameters.filter(({ in: place }: { in: string }) => place === 'header')).toHaveLength(3);
});
