/** Events arrive in any order and twice, and always result in the same rows and emitted events. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, hashToken } from '../../../src/auth/tokens.ts';
import { lockWorkspace } from '../../../src/auth/workspace-lock.ts';
import { transact } from '../../../src/db/client.ts';
import { createGenericSecret } from '../../../src/features/meeting-providers/adapters/generic.ts';
import { providers } from '../../../src/features/meeting-providers/adapters/index.ts';
import type { ProviderCredentials } from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';
import type { ProviderEvent } from '../../../src/features/meeting-providers/adapters/provider-event.ts';
import { applyEvent } from '../../../src/features/meeting-providers/ingest/apply-callback.ts';
import { MAX_CONNECTIONS } from '../../../src/features/participants/visit-connections.ts';
import { defaultQuotas } from '../../../src/quotas/quotas.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import {
  bodyOf,
  genericEvent,
  livekitEgress,
  livekitFile,
  livekitParticipant,
  RECORDED_AT,
  signGeneric,
  signLivekit,
  signVonage,
  vonageArchive,
  vonageConnection,
  vonageEmptyArchive,
} from '../adapters/callbacks.ts';
import { connect, LIVEKIT, type Room, VONAGE } from './connected-provider.ts';

const MINUTE = 60_000;
/** The first of two connections. */
const CONNECTION_ID = 1;
const startedAt = RECORDED_AT.getTime();
function secondsAt(minutes: number): number {
  return startedAt / 1000 + minutes * 60;
}

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date(startedAt + 60 * MINUTE) });
  team = await addTeam(app);
  for (const id of [CONNECTION_ID, CONNECTION_ID + 1])
    expect(await connect(app, team, 'generic')).toMatchObject({ id });
});
afterAll(() => app.close());

type Sent = { body: unknown; minutes: number };

/** What each provider sends for a meeting with one visit and one recording. */
const meetings: Record<string, readonly Sent[]> = {
  vonage: [
    {
      body: vonageConnection('connectionCreated', {}, { data: '{"name":"Grace","email":"grace@example.com"}' }),
      minutes: 0,
    },
    { body: vonageEmptyArchive('started', { createdAt: startedAt + MINUTE }), minutes: 1 },
    { body: vonageArchive({ status: 'stopped', url: null }), minutes: 7 },
    { body: vonageConnection('connectionDestroyed', { timestamp: startedAt + 8 * MINUTE }, { data: '' }), minutes: 8 },
    { body: vonageArchive(), minutes: 9 },
  ],
  livekit: [
    { body: livekitParticipant('participant_joined', { attributes: { email: 'grace@example.com' } }), minutes: 0 },
    { body: livekitEgress('egress_started', 'EGRESS_STARTING'), minutes: 0 },
    { body: livekitEgress('egress_updated', 'EGRESS_ENDING'), minutes: 2 },
    { body: livekitParticipant('participant_left', {}, { createdAt: String(secondsAt(3)) }), minutes: 3 },
    { body: livekitEgress('egress_ended', 'EGRESS_COMPLETE', livekitFile()), minutes: 4 },
  ],
  generic: [
    { body: genericEvent('participant.joined', { name: 'Grace', email: 'grace@example.com' }), minutes: 0 },
    { body: genericEvent('recording.started', { title: 'Weekly' }, { occurred_at: secondsAt(1) }), minutes: 1 },
    { body: genericEvent('recording.ended', { duration: 90 }, { occurred_at: secondsAt(3) }), minutes: 3 },
    { body: genericEvent('participant.left', {}, { occurred_at: secondsAt(4) }), minutes: 4 },
    {
      body: genericEvent(
        'recording.available',
        { url: 'https://example.com/a.mp4', size: 9 },
        { occurred_at: secondsAt(5) },
      ),
      minutes: 5,
    },
  ],
  'generic, a recording that fails': [
    { body: genericEvent('participant.joined', {}), minutes: 0 },
    { body: genericEvent('recording.started', { title: 'Weekly' }, { occurred_at: secondsAt(1) }), minutes: 1 },
    { body: genericEvent('recording.failed', { reason: 'Disk full' }, { occurred_at: secondsAt(2) }), minutes: 2 },
    { body: genericEvent('participant.left', {}, { occurred_at: secondsAt(2) }), minutes: 2 },
  ],
  'generic, a recording whose file follows a failure': [
    { body: genericEvent('recording.started', { title: 'Weekly' }, { occurred_at: secondsAt(1) }), minutes: 1 },
    { body: genericEvent('recording.failed', { reason: 'Disk full' }, { occurred_at: secondsAt(2) }), minutes: 2 },
    {
      body: genericEvent('recording.available', { url: 'https://example.com/a.mp4' }, { occurred_at: secondsAt(5) }),
      minutes: 5,
    },
  ],
};

/** Reads a callback with the real adapter. */
async function readEvents(meeting: string, { body, minutes }: Sent): Promise<ProviderEvent[]> {
  const name = meeting.split(',')[0] as keyof typeof providers;
  const bytes = bodyOf(body);
  const at = new Date(startedAt + minutes * MINUTE);
  const secret = createGenericSecret();
  const [headers, credentials]: [Record<string, string>, ProviderCredentials] =
    name === 'vonage'
      ? [await signVonage(bytes, VONAGE.signature_secret, { at }), VONAGE]
      : name === 'livekit'
        ? [await signLivekit(bytes, LIVEKIT.api_key, LIVEKIT.api_secret), LIVEKIT]
        : [signGeneric(bytes, secret, { at }), { secret }];
  // LiveKit's SDK signs by the clock of the machine.
  const now = name === 'livekit' ? new Date() : at;
  return (await providers[name].readAndVerify({ body: bytes, headers }, credentials, now)).events;
}

/** The event in another room, by its name or its session. An archive of a session has an id of its own. */
function inRoom(event: ProviderEvent, { name }: Room): ProviderEvent {
  if (event.room.kind === 'name') return { ...event, room: { kind: 'name', name } };
  const archive = 'archiveId' in event && { archiveId: `${event.archiveId} of ${name}` };
  return { ...event, ...archive, room: { kind: 'session', sessionId: `session of ${name}` } };
}

function apply(room: Room, events: readonly ProviderEvent[], connectionId = CONNECTION_ID): Promise<void> {
  return transact(app.services.db, async (tx) => {
    await lockWorkspace(tx, team.id);
    const { sealer } = app.services;
    const context = { tx, now: app.clock.now(), sealer, quotas: defaultQuotas, workspaceId: team.id, connectionId };
    for (const event of events) await applyEvent(context, inRoom(event, room));
  });
}

/**
 * All rows and events of a room, without ids and without what depends on which event arrived first for a
 * recording.
 */
async function outcomeOf({ id: roomId, name: roomName }: Room) {
  const { db } = app.services;
  const where = { workspaceId: team.id, roomId };
  const participants = await db.participant.findMany({
    where,
    omit: { id: true, roomId: true, meeting: true },
    orderBy: { name: 'asc' },
  });
  const recordings = await db.recording.findMany({
    where,
    omit: { id: true, roomId: true },
    include: { copy: { select: { deadline: true, nextAttemptAt: true, attempts: true } } },
  });
  const contactEvents = await db.contactEvent.findMany({ where, omit: { id: true, roomId: true } });
  const [sums] = await db.$queryRaw<unknown[]>`
    select coalesce(sum(count), 0)::int as count from (
      select count, workspace_id, type, subject_id from contact_event_subjects
      union all select amount, workspace_id, type, subject_id from counter_changes) counted
    where workspace_id = ${team.id} and type = 'room_join' and subject_id = ${roomId}`;
  const events = await db.$queryRaw<{ type: string; created_at: Date; data: Record<string, unknown> }[]>`
    select type, created_at, data from events
    where workspace_id = ${team.id} and (data->>'room_id')::int = ${roomId} and type <> 'room.created'
    order by type, created_at`;
  const withoutRoom = (archiveId: unknown) => String(archiveId).replace(` of ${roomName}`, '');
  const emitted = events.map(({ type, created_at, data }) => {
    const { room_id: _, room_name: __, participant_id: ___, recording_id: ____, ...rest } = data;
    return type === 'recording.started'
      ? { type, archive: withoutRoom(rest.archive_id) }
      : { type, created_at, ...rest };
  });
  const named = recordings.map(({ archiveId, ...rest }) => ({ ...rest, archiveId: withoutRoom(archiveId) }));
  return { participants, recordings: named, contactEvents, sums, events: emitted };
}

function permutations<Value>(values: readonly Value[]): Value[][] {
  return values.length < 2
    ? [[...values]]
    : values.flatMap((value, index) => permutations(values.toSpliced(index, 1)).map((rest) => [value, ...rest]));
}

/** Creates many rooms, each with its own session. */
async function newRooms(count: number): Promise<Room[]> {
  const at = app.clock.now();
  const [template] = await app.services.db.$queryRaw<{ next: number }[]>`select count(*)::int as next from rooms`;
  const names = Array.from({ length: count }, (_, index) => `meeting-${(template?.next ?? 0) + index}`);
  const common = { workspaceId: team.id, userId: team.owner.id, accentColor: '#6366f1', createdAt: at, lastUsedAt: at };
  return app.services.db.room.createManyAndReturn({
    data: names.map((name) => ({ ...common, name, sessionId: `session of ${name}` })),
    select: { id: true, name: true },
  });
}

async function newRoom(): Promise<Room> {
  const [room] = await newRooms(1);
  if (!room) throw new Error('No room was created');
  return room;
}

/** The part of an outcome that the tests below state. */
function summaryOf({ participants, recordings, contactEvents, sums, events }: Awaited<ReturnType<typeof outcomeOf>>) {
  return {
    participants: participants.map(({ name, email, status, joinedAt, leftAt }) => [
      name,
      email,
      status,
      joinedAt,
      leftAt,
    ]),
    recordings: recordings.map(({ title, status, duration, size, createdAt, endedAt, failureReason, copy }) => [
      [title, status, Number(duration), Number(size), failureReason, copy?.deadline ?? null],
      [createdAt, endedAt],
    ]),
    joins: [contactEvents.length, sums],
    events: events.map(({ type }) => type),
  };
}

function minute(minutes: number): Date {
  return new Date(startedAt + minutes * MINUTE);
}
const joins = [1, { count: 1 }];
const events = ['recording.started', 'room.joined', 'room.left'];

const outcomes: Record<string, unknown> = {
  vonage: {
    participants: [['Grace', 'grace@example.com', 'left', minute(0), minute(8)]],
    recordings: [
      [
        ['Foo', 'uploaded', 328, 18023312, null, minute(19)],
        [minute(1), minute(7)],
      ],
    ],
    joins,
    events,
  },
  livekit: {
    participants: [['Grace Hopper', 'grace@example.com', 'left', minute(0), minute(3)]],
    recordings: [
      [
        [null, 'uploaded', 123, 5368709120, null, minute(24 * 60 + 60)],
        [minute(0), new Date(startedAt + 123_000)],
      ],
    ],
    joins,
    events,
  },
  generic: {
    participants: [['Grace', 'grace@example.com', 'left', minute(0), minute(4)]],
    recordings: [
      [
        ['Weekly', 'uploaded', 90, 9, null, minute(24 * 60 + 60)],
        [minute(1), minute(3)],
      ],
    ],
    joins,
    events,
  },
  'generic, a recording that fails': {
    participants: [['Guest', null, 'left', minute(0), minute(2)]],
    recordings: [
      [
        ['Weekly', 'failed', 0, 0, 'Disk full', null],
        [minute(1), minute(2)],
      ],
    ],
    joins,
    events,
  },
  'generic, a recording whose file follows a failure': {
    participants: [],
    recordings: [
      [
        ['Weekly', 'uploaded', 0, 0, null, minute(24 * 60 + 60)],
        [minute(1), minute(2)],
      ],
    ],
    joins: [0, { count: 0 }],
    events: ['recording.started'],
  },
};

describe.each(Object.entries(meetings))('%s', (meeting, sent) => {
  test('every order results in the same rows and events, also if each event arrives twice', async () => {
    const events = (await Promise.all(sent.map((one) => readEvents(meeting, one)))).flat();
    expect(events).toHaveLength(sent.length);
    const inOrder = await newRoom();
    await apply(inOrder, events);
    const expected = await outcomeOf(inOrder);
    expect(summaryOf(expected)).toEqual(outcomes[meeting]);
    const orders = permutations(events);
    const rooms = await newRooms(orders.length);
    for (const [index, order] of orders.entries()) {
      const room = rooms[index] ?? inOrder;
      // Some orders are applied twice in full; in all of them, one event is repeated in the middle.
      const again = index % 6 === 0 ? order.toReversed() : order.slice(-2);
      await apply(room, [...order.slice(0, 2), ...order.slice(0, 1), ...order.slice(2), ...again]);
    }
    for (const [index, order] of orders.entries())
      expect(await outcomeOf(rooms[index] ?? inOrder), order.map(({ kind }) => kind).join()).toEqual(expected);
  });
});

describe('a participant who joined by our operation', () => {
  const [joined, left] = [
    { kind: 'participant.joined', participantReference: 'c1', name: 'Other', email: null, at: new Date(startedAt) },
    { kind: 'participant.left', participantReference: 'c1', at: new Date(startedAt + MINUTE) },
  ] as const;

  test.each(['waiting', 'joined'])(
    'and is %s is the same participant as the one that the provider reports, in either order',
    async (status) => {
      const ends = [];
      for (const isLate of [false, true]) {
        const room = await newRoom();
        const token = createToken('lnp_');
        const at = new Date(startedAt - MINUTE);
        const who = { workspaceId: team.id, roomId: room.id, name: 'Vera', tokenHash: hashToken(token) };
        const times = { createdAt: at, lastSeenAt: at, ...(status === 'joined' && { joinedAt: at }) };
        await app.services.db.participant.create({ data: { ...who, status, ...times } });
        const reference = { kind: 'name', name: room.name } as const;
        const events = [
          { ...joined, token, room: reference },
          { ...left, room: reference },
        ];
        await apply(room, isLate ? events.toReversed() : events);
        await apply(room, events);
        const outcome = await outcomeOf(room);
        ends.push({ ...outcome, participants: outcome.participants.map(({ tokenHash: _, ...rest }) => rest) });
        expect(outcome.participants).toMatchObject([
          { name: 'Vera', status: 'left', connectionId: CONNECTION_ID, participantReference: 'c1' },
        ]);
        expect(outcome.events.map(({ type }) => type)).toEqual(
          status === 'waiting' ? ['room.joined', 'room.left'] : ['room.left'],
        );
      }
      expect(ends[1]).toEqual(ends[0]);
    },
  );

  test('is not found by a token of another room', async () => {
    const [room, other] = [await newRoom(), await newRoom()];
    const token = createToken('lnp_');
    const at = new Date(startedAt);
    const who = { workspaceId: team.id, roomId: other.id, name: 'Vera', tokenHash: hashToken(token) };
    await app.services.db.participant.create({ data: { ...who, status: 'waiting', createdAt: at, lastSeenAt: at } });
    await apply(room, [{ ...joined, token, room: { kind: 'name', name: room.name } }]);
    expect((await outcomeOf(room)).participants).toMatchObject([{ name: 'Other', tokenHash: null }]);
    expect((await outcomeOf(other)).participants).toMatchObject([
      { status: 'waiting', connectionId: null, participantReference: null },
    ]);
  });

  test('leaves when the last of their connections ends, in every order of the callbacks', async () => {
    const room = (name: string) => ({ kind: 'name', name }) as const;
    const orders = permutations([
      { ...joined, participantReference: 'c1' },
      { ...joined, participantReference: 'c2', at: minute(1) },
      { ...left, participantReference: 'c1', at: minute(2) },
      { ...left, participantReference: 'c2', at: minute(3) },
    ]);
    for (const [index, { id, name }] of (await newRooms(orders.length)).entries()) {
      const token = createToken('lnp_');
      const at = minute(-1);
      const who = { workspaceId: team.id, roomId: id, name: 'Vera', tokenHash: hashToken(token), status: 'joined' };
      await app.services.db.participant.create({ data: { ...who, createdAt: at, joinedAt: at, lastSeenAt: at } });
      const order = (orders[index] ?? []).map((event) => ({ ...event, token, room: room(name) }));
      await apply({ id, name }, [...order.slice(0, 2), ...order.slice(0, 1), ...order.slice(2), ...order.slice(-2)]);
      const { participants, contactEvents, events } = await outcomeOf({ id, name });
      const because = order.map(({ kind, participantReference }) => `${kind} ${participantReference}`).join();
      expect(participants, because).toMatchObject([{ status: 'left', leftAt: minute(3), lastSeenAt: minute(1) }]);
      expect(participants, because).toHaveLength(1);
      expect(contactEvents, because).toEqual([]);
      // A visit that a late callback continues is announced again, and each announcement ends.
      const count = (type: string) => events.filter((event) => event.type === type).length;
      expect(count('room.left'), because).toBe(count('room.joined') + 1);
    }
  });

  test('has at most 100 connections, of which open ones are forgotten last', async () => {
    const room = await newRoom();
    const token = createToken('lnp_');
    const who = { workspaceId: team.id, roomId: room.id, name: 'Vera', tokenHash: hashToken(token), status: 'waiting' };
    const visit = { data: { ...who, createdAt: minute(0), lastSeenAt: minute(0) } };
    const { id } = await app.services.db.participant.create(visit);
    const reference = { kind: 'name', name: room.name } as const;
    for (let number = 0; number < MAX_CONNECTIONS + 5; number += 1) {
      const connection = { participantReference: `c${number}`, room: reference };
      await apply(room, [{ ...joined, ...connection, token }]);
      if (number > 0 && number < 50) await apply(room, [{ ...left, ...connection }]);
    }
    const stored = await app.services.db.participantConnection.findMany({ where: { participantId: id } });
    expect(stored).toHaveLength(MAX_CONNECTIONS);
    expect(stored.find(({ reference }) => reference === 'c0')).toMatchObject({ leftAt: null });
    expect((await outcomeOf(room)).participants).toMatchObject([{ status: 'joined' }]);
  });
});

describe('two connections that report the same id', () => {
  const at = (minutes: number): Date => new Date(startedAt + minutes * MINUTE);
  const [first, second] = [CONNECTION_ID, CONNECTION_ID + 1];
  const id = { participantReference: '1' };

  test('of a participant report two participants, who join and leave independently', async () => {
    const room = await newRoom();
    const of = { ...id, room: { kind: 'name', name: room.name } } as const;
    const join = (name: string): ProviderEvent => ({
      ...of,
      kind: 'participant.joined',
      name,
      email: null,
      token: null,
      at: at(0),
    });
    const leave: ProviderEvent = { ...of, kind: 'participant.left', at: at(5) };
    await apply(room, [join('Ada')], first);
    await apply(room, [leave], second);
    await apply(room, [join('Bob')], second);
    await apply(room, [join('Ada'), join('Ada')], first);
    const { participants, events: emitted } = await outcomeOf(room);
    expect(participants).toMatchObject([
      { name: 'Ada', status: 'joined', leftAt: null, connectionId: first, participantReference: '1' },
      { name: 'Bob', status: 'left', leftAt: at(5), connectionId: second, participantReference: '1' },
    ]);
    expect(emitted.map(({ type }) => type)).toEqual(['room.joined', 'room.joined', 'room.left']);
    expect(emitted.at(-1)).toMatchObject({ participant_name: 'Bob' });
  });

  test('of a recording report one recording', async () => {
    const room = await newRoom();
    const of = { archiveId: 'a1', room: { kind: 'name', name: room.name } } as const;
    await apply(room, [{ ...of, kind: 'recording.started', title: null, at: at(0) }], first);
    await apply(room, [{ ...of, kind: 'recording.ended', duration: 60, size: null, at: at(1) }], second);
    const { recordings, events: emitted } = await outcomeOf(room);
    expect(recordings).toMatchObject([{ archiveId: 'a1', endedAt: at(1), duration: 60n }]);
    expect(emitted.map(({ type }) => type)).toEqual(['recording.started']);
  });
});
