/** One person has many connections at a provider: devices, tabs, and a new one after a change of network. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expireParticipants } from '../../../src/features/participants/expire-participants.ts';
import { createReference } from '../../../src/features/participants/participant-reference.ts';
import { decide, join, leave, list, presence } from '../../participants/rooms.ts';
import { eventsOf } from '../../support/events.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { genericEvent, livekitParticipant, vonageConnection } from '../adapters/callbacks.ts';
import { addRoom, connect, type Room, type Source } from './connected-provider.ts';

const DAY_SECONDS = 24 * 60 * 60;

let app: TestApp;
let team: Team;
let room: Room;
let source: Source;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date() });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  room = await addRoom(app, team, `session ${team.id}`);
  source = await connect(app, team, 'generic');
});

type Joined = { id: number; token: string; reference: string };

async function joinAs(name: string, json: object = {}, inRoom = room): Promise<Joined> {
  const { status, body } = await join(app, inRoom.name, { name, ...json });
  expect(status).toBe(200);
  return body.participant;
}

function secondsNow(): number {
  return Math.floor(app.clock.now().getTime() / 1000);
}

/** The provider reports that a connection has begun, now. */
async function connected(id: string, person: object = {}): Promise<void> {
  const callback = genericEvent(
    'participant.joined',
    { id, ...person },
    { room: room.name, occurred_at: secondsNow() },
  );
  expect((await source.post(callback)).status).toBe(200);
}

/** The provider reports that a connection has ended, now. */
async function disconnected(id: string): Promise<void> {
  const callback = genericEvent('participant.left', { id }, { room: room.name, occurred_at: secondsNow() });
  expect((await source.post(callback)).status).toBe(200);
}

async function statusOf({ token }: Joined): Promise<string> {
  return (await presence(app, room.name, token)).body.participant.status;
}

async function present(): Promise<{ id: number; name: string }[]> {
  return (await list(app, room.name, team.owner.token)).body.participants;
}

async function visitEvents(): Promise<string[]> {
  return (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => /^room\.[jl]/.test(type));
}

function passSeconds(seconds: number): void {
  app.clock.advance(seconds * 1000);
}

describe.each(['reference', 'token'] as const)('a guest whom the provider names by the %s', (field) => {
  const byName = (guest: Joined) => ({ [field]: guest[field] });

  test('stays until the last connection ends', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', byName(vera));
    await connected('c2', byName(vera));
    await disconnected('c1');
    expect(await statusOf(vera)).toBe('joined');
    expect(await present()).toMatchObject([{ id: vera.id }]);
    await disconnected('c2');
    expect(await statusOf(vera)).toBe('left');
    expect(await visitEvents()).toEqual(['room.joined', 'room.left']);
  });

  test('goes on with the visit after a short break of the connection', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', byName(vera));
    await disconnected('c1');
    passSeconds(50);
    await connected('c2', byName(vera));
    expect(await statusOf(vera)).toBe('joined');
    expect(await present()).toMatchObject([{ id: vera.id }]);
    expect(await visitEvents()).toEqual(['room.joined', 'room.left', 'room.joined']);
    const where = { workspaceId: team.id, type: 'room_join' };
    expect(await app.services.db.contactEvent.count({ where })).toBe(1);
  });

  test('who presses "Join again" after a break is counted once, whichever comes first', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', byName(vera));
    await disconnected('c1');
    const again = await joinAs('Vera', { token: vera.token });
    await connected('c2', byName(vera));
    expect(await present()).toMatchObject([{ id: again.id }]);
    await disconnected('c2');
    expect(await present()).toEqual([]);

    await connected('c3', byName(again));
    expect((await joinAs('Vera', { token: again.token })).id).toBe(again.id);
    expect(await present()).toMatchObject([{ id: again.id }]);
  });

  test('who connects again later is one person on another visit, and keeps the token', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', byName(vera));
    await disconnected('c1');
    passSeconds(600);
    for (const id of ['c2', 'c3']) await connected(id, byName(vera));
    const [visit, ...others] = await present();
    expect([visit?.name, others]).toEqual(['Vera', []]);
    expect(visit?.id).not.toBe(vera.id);
    expect(await statusOf(vera)).toBe('joined');
    expect((await joinAs('Vera', { token: vera.token })).id).toBe(visit?.id);
    expect(await visitEvents()).toEqual(['room.joined', 'room.left', 'room.joined']);
  });
});

test('a user who joins again in another browser is one person', async () => {
  const first = (await join(app, room.name, {}, team.member.token)).body.participant;
  await connected('c1', { reference: first.reference });
  await disconnected('c1');
  const second = (await join(app, room.name, {}, team.member.token)).body.participant;
  expect(second.id).not.toBe(first.id);
  await connected('c2', { reference: first.reference });
  expect(await present()).toMatchObject([{ id: second.id }]);
});

describe('a visit that was ended does not go on with a connection that begins', () => {
  test('after the participant has left: it is another visit', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', { reference: vera.reference });
    passSeconds(5);
    await leave(app, room.name, vera.token);
    await disconnected('c1');
    expect(await present()).toEqual([]);
    passSeconds(5);
    await connected('c2', { reference: vera.reference });
    const [visit] = await present();
    expect(visit?.id).not.toBe(vera.id);
  });

  test('after a host has removed the person, whose token stays invalid', async () => {
    const vera = await joinAs('Vera');
    await connected('c1', { reference: vera.reference });
    const path = `/api/dashboard/rooms/${room.name}/participants/${vera.id}/remove`;
    expect((await app.http.post(path, team.owner.token)).status).toBe(200);
    passSeconds(5);
    await disconnected('c1');
    await connected('c2', { reference: vera.reference });
    expect(await present()).toMatchObject([{ name: 'Vera' }]);
    expect((await presence(app, room.name, vera.token)).body.code).toBe('PARTICIPANT_REMOVED');
  });

  test('and lets nobody past the waiting room', async () => {
    const waiting = await addRoom(app, team);
    const path = `/api/dashboard/rooms/${waiting.name}`;
    room = waiting;
    await app.http.patch(path, team.owner.token, { waiting_room_enabled: 1 });
    const vera = await joinAs('Vera');
    await decide(app, 'admit', room.name, vera.id, team.owner.token);
    await connected('c1', { reference: vera.reference });
    await disconnected('c1');
    // Within an hour, the guest would come back without waiting.
    passSeconds(3_700);
    const again = await joinAs('Vera', { token: vera.token });
    passSeconds(600);
    await connected('c2', { reference: vera.reference });
    expect(await statusOf(again)).toBe('waiting');
    expect(await statusOf(vera)).toBe('left');
  });
});

test('a connection whose end is never reported ends the visit after a day', async () => {
  const vera = await joinAs('Vera');
  for (const id of ['c1', 'c2']) await connected(id, { reference: vera.reference });
  await disconnected('c1');
  passSeconds(DAY_SECONDS - 60);
  await expireParticipants(app.services);
  expect(await present()).toMatchObject([{ id: vera.id }]);
  passSeconds(120);
  await expireParticipants(app.services);
  expect(await present()).toEqual([]);
  await disconnected('c2');
  expect(await visitEvents()).toEqual(['room.joined', 'room.left']);
});

describe('the reference of a participant', () => {
  test('is no credential: no operation accepts it', async () => {
    const { id, reference } = await joinAs('Vera');
    const inRoom = `/api/rooms/${room.name}`;
    const { recording } = (await app.http.post(`/api/dashboard/rooms/${room.name}/recordings`, team.owner.token)).body;
    for (const path of ['presence', 'leave', 'recordings', `recordings/${recording.id}/stop`])
      expect((await app.http.post(`${inRoom}/${path}`, undefined, { token: reference })).status, path).toBe(404);
    for (const operation of ['participants.presence', 'participants.leave', 'recordings.startInRoom'])
      expect(
        (await app.http.post(`/trpc/${operation}`, undefined, { roomName: room.name, token: reference })).status,
      ).toBe(404);
    expect((await app.http.get(`${inRoom}/presence/stream?token=${reference}`)).status).toBe(404);
    for (const path of ['/api/auth/me', '/api/workspaces', `${team.path}/library`])
      expect((await app.http.get(path, reference)).status, path).toBe(401);
    expect((await join(app, room.name, { name: 'Mallory' }, reference)).status).toBe(401);
    expect((await joinAs('Mallory', { token: reference })).id).not.toBe(id);
    expect(await app.http.call('POST', `/api/recordings/${recording.id}/file`, { token: reference })).toMatchObject({
      status: 401,
    });
    expect((await present()).map(({ name }) => name).sort()).toEqual(['Mallory', 'Vera']);
  });

  test('names nobody if it is forged, or belongs to another workspace or room', async () => {
    const vera = await joinAs('Vera');
    const stranger = await addTeam(app);
    const elsewhere = await joinAs('Eve', {}, await addRoom(app, team));
    const { sealer } = app.services;
    const forged = [
      vera.reference.replace(`ref_${vera.id}_`, `ref_${elsewhere.id}_`),
      `ref_${vera.id}_${'A'.repeat(43)}`,
      createReference(sealer, stranger.id, vera.id),
      elsewhere.reference,
      vera.token.replace('lnp_', 'ref_'),
    ];
    for (const [index, reference] of forged.entries()) await connected(`c${index}`, { reference });
    expect((await present()).map(({ name }) => name).sort()).toEqual([...Array(forged.length).fill('Guest'), 'Vera']);
    expect(await app.services.db.participantConnection.count({ where: { participantId: vera.id } })).toBe(0);
  });

  test('is found where LiveKit and Vonage carry it', async () => {
    // LiveKit's SDK signs by the clock of the machine.
    app.clock.advance(Date.now() - app.clock.now().getTime());
    const vera = await joinAs('Vera');
    const { reference } = vera;
    const livekit = await connect(app, team, 'livekit');
    const seconds = String(secondsNow());
    for (const [index, person] of [
      { attributes: { participant_reference: reference } },
      { metadata: JSON.stringify({ participant_reference: reference }) },
      { identity: `${reference}.tab-2` },
    ].entries()) {
      const of = { id: `EV_${index}`, createdAt: seconds, room: { name: room.name } };
      const callback = livekitParticipant('participant_joined', { sid: `PA_${index}`, ...person }, of);
      expect((await livekit.post(callback)).status).toBe(200);
    }
    const vonage = await connect(app, team, 'vonage');
    const session = { sessionId: `session ${team.id}`, timestamp: secondsNow() * 1000 };
    const data = JSON.stringify({ participant_reference: reference });
    expect((await vonage.post(vonageConnection('connectionCreated', session, { data }))).status).toBe(200);
    expect(await present()).toMatchObject([{ id: vera.id }]);
    expect(await app.services.db.participantConnection.count({ where: { participantId: vera.id } })).toBe(4);
  });
});
