/** Heartbeats, leaving, and when silent participants expire. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { createSchedule } from '../../src/runtime/schedule.ts';
import { concurrently } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  expectError,
  HELD_AT,
  HELD_SECONDS,
  leave,
  presence,
  roomEvents,
} from './rooms.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

/** Runs `work` later by the clock, and sets the clock back. */
async function afterSeconds<Result>(seconds: number, work: () => Promise<Result>): Promise<Result> {
  app.clock.advance(seconds * 1000);
  try {
    return await work();
  } finally {
    app.clock.advance(-seconds * 1000);
  }
}

function rowOf(id: number) {
  return app.services.db.participant.findFirstOrThrow({ where: { id } });
}

describe('a heartbeat', () => {
  test('returns the status, and is stored at most every ten seconds', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const { id, token } = await addGuest(app, room.name);
    const lastSeen = async (): Promise<number> => (await rowOf(id)).lastSeenAt.getTime() / 1000 - HELD_SECONDS;
    const { status, body } = await afterSeconds(9, () => presence(app, room.name, token));
    expect(status).toBe(200);
    expect(body).toEqual({
      participant: {
        id,
        room_name: room.name,
        name: 'Gina',
        status: 'waiting',
        end_reason: null,
        is_host: 0,
        is_member: 0,
        room_locked: 0,
        may_record: null,
        user_id: null,
        external_id: null,
        metadata: null,
        waiting_room_message: 'One moment, please',
        joined_at: null,
        created_at: HELD_SECONDS,
      },
      media: null,
    });
    expect(await lastSeen()).toBe(0);
    await afterSeconds(10, () => presence(app, room.name, token));
    expect(await lastSeen()).toBe(10);
    await afterSeconds(19, () => presence(app, room.name, token));
    expect(await lastSeen()).toBe(10);
    await afterSeconds(60, () => presence(app, room.name, token));
    expect(await lastSeen()).toBe(60);
  });

  test.each(['presence', 'leave'] as const)(
    '%s without the token of this room: 404, and nothing changes',
    async (what) => {
      const room = await addRoom(app, team, team.owner);
      const other = await addRoom(app, team, team.owner);
      const { token } = await addGuest(app, room.name);
      const before = await dumpTables(app);
      const call = (name: string, shown: unknown) =>
        app.http.post(`/api/rooms/${name}/${what}`, undefined, { token: shown });
      for (const [name, shown] of [
        [other.name, token],
        [room.name, `lnp_${'A'.repeat(43)}`],
        [room.name, token.toUpperCase()],
        [room.name, ''],
        [room.name, '\u0000'],
        [room.name, team.owner.token],
        ['%00', token],
        ['no-such-room', token],
      ] as const)
        expectError(await call(name, shown), 404, 'Participant not found');
      expectError(await call(room.name, undefined), 400, 'token is required');
      expectError(await call(room.name, 5), 400, 'token must be a string');
      const trpc = await app.http.post(`/trpc/participants.${what}`, undefined, { roomName: '\ud800', token });
      expect(trpc.status).toBe(404);
      expect(await dumpTables(app)).toEqual(before);
    },
  );

  test('callers with a token have separate rate limits, callers without one share that of their network', async () => {
    const limited = await startTestApp({ limits: { publicPerAddress: 8, perUser: 60 } });
    try {
      const other = await addTeam(limited);
      const room = await addRoom(limited, other, other.owner);
      const guests = [await addGuest(limited, room.name), await addGuest(limited, room.name)];
      for (const { token } of guests) {
        const statuses = [];
        for (let call = 0; call < 61; call += 1) statuses.push((await presence(limited, room.name, token)).status);
        expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
      }
      const strangers = [];
      for (let call = 0; call < 9; call += 1)
        strangers.push((await presence(limited, room.name, `lnp_${'A'.repeat(43)}`)).status);
      expect(strangers).toContain(404);
      expect(strangers.at(-1)).toBe(429);
    } finally {
      await limited.close();
    }
  });
});

describe('leaving', () => {
  test('emits room.left once; leaving again changes nothing', async () => {
    const room = await addRoom(app, team, team.owner);
    const { id, token } = await addGuest(app, room.name);
    const left = await afterSeconds(90, () => leave(app, room.name, token));
    expect([left.status, left.body]).toEqual([200, { ok: true }]);
    const before = await dumpTables(app);
    expect((await afterSeconds(100, () => leave(app, room.name, token))).body).toEqual({ ok: true });
    const answer = await afterSeconds(100, () => presence(app, room.name, token));
    expect(answer.body.participant.status).toBe('left');
    expect(await dumpTables(app)).toEqual(before);
    expect(await roomEvents(app, team.id, room.id, 'room.left')).toEqual([
      {
        workspace_id: team.id,
        room_id: room.id,
        room_name: room.name,
        participant_id: id,
        participant_name: 'Gina',
        user_id: null,
        contact_id: null,
        external_id: null,
        metadata: null,
        joined_at: HELD_SECONDS,
        left_at: HELD_SECONDS + 90,
      },
    ]);
  });

  test('a waiting participant leaves without an event', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const { id, token } = await addGuest(app, room.name);
    await leave(app, room.name, token);
    expect(await rowOf(id)).toMatchObject({ status: 'left', leftAt: HELD_AT, joinedAt: null });
    expect(await roomEvents(app, team.id, room.id, 'room.left')).toEqual([]);
  });

  test('deleting a room emits room.left for everyone in it, and for nobody else', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const { participant } = await team.owner.client.participants.join.mutate({ roomName: room.name });
    const gone = await team.admin.client.participants.join.mutate({ roomName: room.name });
    await leave(app, room.name, gone.participant.token);
    await addGuest(app, room.name);
    const { status } = await afterSeconds(30, () =>
      app.http.delete(`/api/dashboard/rooms/${room.name}`, team.owner.token),
    );
    expect(status).toBe(200);
    expect(await roomEvents(app, team.id, room.id, 'room.left')).toMatchObject([
      { participant_id: gone.participant.id },
      { participant_id: participant.id, user_id: team.owner.id, left_at: HELD_SECONDS + 30 },
    ]);
    expectError(await presence(app, room.name, participant.token), 404, 'Participant not found');
  });
});

describe('a silent participant', () => {
  beforeAll(() => app.services.db.participant.deleteMany());

  test('expires after the configured time, and has left at the last heartbeat', async () => {
    const room = await addRoom(app, team, team.owner);
    const lobby = await addWaitingRoom(app, team, team.owner);
    const silent = await addGuest(app, room.name, { name: 'Sil' });
    const lively = await addGuest(app, room.name, { name: 'Liv' });
    const waiting = await addGuest(app, lobby.name);
    await afterSeconds(100, () => presence(app, room.name, silent.token));
    await afterSeconds(300, () => presence(app, room.name, lively.token));
    await afterSeconds(350, () => expireParticipants(app.services));
    expect(await rowOf(silent.id)).toMatchObject({ status: 'joined' });
    expect(await rowOf(waiting.id)).toMatchObject({ status: 'left', leftAt: HELD_AT });
    expect(await afterSeconds(401, () => expireParticipants(app.services))).toBe(1);
    expect(await rowOf(silent.id)).toMatchObject({ status: 'left', leftAt: new Date(HELD_AT.getTime() + 100_000) });
    expect(await rowOf(lively.id)).toMatchObject({ status: 'joined', leftAt: null });
    expect(await roomEvents(app, team.id, room.id, 'room.left')).toMatchObject([
      { participant_id: silent.id, joined_at: HELD_SECONDS, left_at: HELD_SECONDS + 100 },
    ]);
    expect(await roomEvents(app, team.id, lobby.id, 'room.left')).toEqual([]);
    expect(await afterSeconds(401, () => expireParticipants(app.services))).toBe(0);
    const { body } = await afterSeconds(402, () => presence(app, room.name, silent.token));
    expect(body.participant.status).toBe('left');
  });

  test('whom a provider reported expires after a day', async () => {
    const room = await addRoom(app, team, team.owner);
    const { id } = await app.services.db.participant.create({
      data: {
        workspaceId: team.id,
        roomId: room.id,
        name: 'Pia',
        status: 'joined',
        connectionId: 1,
        meeting: 'session-1',
        participantReference: 'c-1',
        createdAt: HELD_AT,
        joinedAt: HELD_AT,
        lastSeenAt: HELD_AT,
      },
    });
    const day = 24 * 60 * 60;
    await afterSeconds(day, () => expireParticipants(app.services));
    expect(await rowOf(id)).toMatchObject({ status: 'joined' });
    await afterSeconds(day + 1, () => expireParticipants(app.services));
    expect(await rowOf(id)).toMatchObject({ status: 'left', leftAt: HELD_AT });
  });

  test('expires once, in many workspaces and by several servers at a time', async () => {
    const other = await addTeam(app);
    const places = [
      [team, await addRoom(app, team, team.owner)],
      [other, await addRoom(app, other, other.owner)],
    ] as const;
    const present = { name: 'Sil', status: 'joined', createdAt: HELD_AT, joinedAt: HELD_AT, lastSeenAt: HELD_AT };
    for (const [{ id: workspaceId }, room] of places)
      await app.services.db.participant.createMany({
        data: Array.from({ length: 450 }, (_, index) => ({
          ...present,
          workspaceId,
          roomId: room.id,
          tokenHash: new Uint8Array(Buffer.from(`${room.id}-${index}`)),
        })),
      });
    const counts = await afterSeconds(301, () => concurrently(5, () => expireParticipants(app.services)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(900);
    for (const [{ id }, room] of places) {
      const events = await roomEvents(app, id, room.id, 'room.left');
      expect(new Set(events.map((data) => (data as { participant_id: number }).participant_id)).size).toBe(450);
      expect(events).toHaveLength(450);
    }
  });

  test('is searched for every minute', () => {
    const jobs = createSchedule(app.services);
    const job = jobs.find(({ name }) => name === 'participants.close-silent');
    expect(job?.cron).toBe('* * * * *');
  });
});
