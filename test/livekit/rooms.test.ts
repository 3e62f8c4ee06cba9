/** What hosts do reaches the LiveKit server that carries the meeting, also after it has failed and after a restart. */
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { createAddressGuard, resolveByDns } from '../../src/egress/address-guard.ts';
import { livekitRooms } from '../../src/features/meeting-providers/livekit-rooms/room-queue.ts';
import { startLivekitWorker, updateDueRooms } from '../../src/features/meeting-providers/livekit-rooms/room-worker.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { type Fault, type LivekitServer, startLivekitServer } from './livekit-server.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

let app: TestApp;
let server: LivekitServer;
let team: Team;
let roomName: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await startLivekitServer(key);
});
beforeEach(async () => {
  server.fault = null;
  server.rooms.clear();
  server.calls.length = 0;
  await app.services.db.$executeRaw`delete from livekit_rooms`;
  team = await addTeam(app);
  const credentials = { ...key, url: server.url };
  await team.owner.client.connections.create.mutate({ id: team.id, name: 'V', provider: 'livekit', credentials });
  roomName = (await team.owner.client.rooms.create.mutate({ workspace_id: team.id })).room.name;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await app.close();
});

/** Joins, and connects to the server with the token, as a browser would. */
async function enter(name: string, token?: string) {
  const { participant, media } = (await app.http.post(`/api/rooms/${roomName}/join`, token, { name })).body;
  const identity = (await new TokenVerifier(key.api_key, key.api_secret).verify(media.token)).sub ?? '';
  reconnect(identity);
  return { id: participant.id as number, identity };
}

function reconnect(identity: string): void {
  const people = server.rooms.get(roomName) ?? new Map<string, boolean>();
  server.rooms.set(roomName, people.set(identity, true));
}

const people = () => [...(server.rooms.get(roomName)?.keys() ?? [])];
const host = () => team.owner.client;
const remove = (participantId: number) => host().participants.remove.mutate({ name: roomName, participantId });
const runDue = () => updateDueRooms(app.services);
const countRooms = () => app.services.db.livekitRoom.count({ where: { workspaceId: team.id } });
/** Of how many rooms the server still has to be told something. */
const countWaiting = () => {
  const waiting = [
    { watchedUntil: null },
    { watchedUntil: { gt: app.clock.now() } },
    { isClosing: true },
    { mutingUntil: { not: null } },
  ];
  return app.services.db.livekitRoom.count({ where: { workspaceId: team.id, OR: waiting } });
};

test('somebody who is removed leaves the server, and again as long as a token could let them back', async () => {
  const [gus, vera] = [await enter('Gus'), await enter('Vera')];
  const recorder = 'EG_recorder';
  reconnect(recorder);
  await remove(gus.id);
  await runDue();
  expect(people()).toEqual([vera.identity, recorder]);
  reconnect(gus.identity);
  app.clock.advance(10 * SECOND_MS);
  await runDue();
  expect(people()).toEqual([vera.identity, recorder]);
  app.clock.advance(11 * MINUTE_MS);
  await runDue();
  expect([await countWaiting(), await countRooms()]).toEqual([0, 1]);
  // While somebody is there, the room is looked at from time to time, and then forgotten.
  server.calls.length = 0;
  for (let minutes = 0; minutes < 30; minutes += 1) {
    app.clock.advance(MINUTE_MS);
    await runDue();
  }
  expect(server.calls.length).toBeLessThan(5);
  expect(await countRooms()).toBe(1);
  server.rooms.clear();
  app.clock.advance(20 * MINUTE_MS);
  await runDue();
  expect(await countRooms()).toBe(0);
});

test('a worker that waits is woken: within two seconds, somebody who is removed is gone', async () => {
  const gus = await enter('Gus');
  const wakeUps = createWakeUps(app.services.db.eventSignal);
  const worker = startLivekitWorker({ services: app.services, wakeUps });
  const listener = wakeUps.start({ connectionString: app.databaseUrl, log: app.services.log });
  try {
    await remove(gus.id);
    await expect.poll(people, { timeout: 2 * SECOND_MS }).toEqual([]);
  } finally {
    await Promise.all([worker.stop(), listener.stop()]);
  }
});

test('closing ends the room, unless the next meeting has begun; then only those of the earlier one leave', async () => {
  await enter('Gus');
  await host().rooms.close.mutate({ name: roomName });
  await runDue();
  expect(server.rooms.has(roomName)).toBe(false);

  const late = await enter('Vera');
  await host().rooms.close.mutate({ name: roomName });
  const next = await enter('Kim');
  await runDue();
  expect(people()).toEqual([next.identity]);
  expect(people()).not.toContain(late.identity);
});

test('muting mutes the microphones of everybody but the host who asks', async () => {
  const [gus, owner] = [await enter('Gus'), await enter('Ada', team.owner.token)];
  await host().rooms.muteAll.mutate({ name: roomName });
  await runDue();
  expect(Object.fromEntries(server.rooms.get(roomName) ?? [])).toEqual({
    [gus.identity]: false,
    [owner.identity]: true,
  });

  // A host with a pass asks with their own token.
  const { token: link } = await host().participants.create.mutate({
    id: team.id,
    roomName,
    name: 'Pat',
    is_host: 1,
  });
  const { participant, media } = (await app.http.post(`/api/rooms/${roomName}/exchange`, undefined, { token: link }))
    .body;
  const identity = (await new TokenVerifier(key.api_key, key.api_secret).verify(media.token)).sub ?? '';
  reconnect(identity);
  const asked = await app.http.post(`/api/dashboard/rooms/${roomName}/mute-all`, participant.token);
  expect([asked.status, asked.body]).toEqual([200, { ok: true }]);
  await runDue();
  expect([...(server.rooms.get(roomName)?.entries() ?? [])].filter(([, isOn]) => isOn)).toEqual([[identity, true]]);
});

test('locking removes those who are there without a visit', async () => {
  const [gus, vera] = [await enter('Gus'), await enter('Vera')];
  await app.services.db.participant.updateMany({
    where: { id: gus.id },
    data: { status: 'left', leftAt: app.clock.now() },
  });
  await host().rooms.lock.mutate({ name: roomName });
  await runDue();
  expect(people()).toEqual([vera.identity]);
});

test.each<Fault>([401, 500, 404, 'lie', 'hang'])(
  'a server that fails (%s) is asked again',
  async (fault) => {
    const gus = await enter('Gus');
    await remove(gus.id);
    server.fault = fault;
    await runDue();
    expect(people()).toEqual([gus.identity]);
    server.fault = null;
    expect(await runDue()).toBe(0);
    app.clock.advance(5 * SECOND_MS);
    await runDue();
    expect(people()).toEqual([]);
  },
  30_000,
);

test('only a server at an address that the guard allows is called', async () => {
  const gus = await enter('Gus');
  await remove(gus.id);
  const addressGuard = createAddressGuard({ policy: 'public', resolveHost: resolveByDns });
  await updateDueRooms({ ...app.services, addressGuard });
  expect(server.calls).toEqual([]);
  expect(people()).toEqual([gus.identity]);
});

test('another process carries out the request of one that was killed', async () => {
  const gus = await enter('Gus');
  await remove(gus.id);
  const now = app.clock.now();
  const leasedUntil = new Date(now.getTime() + 30 * SECOND_MS);
  expect(await livekitRooms.lease(app.services.db.sql, { now, leasedUntil, max: 1 })).toHaveLength(1);
  await runDue();
  expect(people()).toEqual([gus.identity]);
  app.clock.advance(31 * SECOND_MS);
  await runDue();
  expect(people()).toEqual([]);
});

test('a request to mute that is old is given up, and every other one after a day', async () => {
  const gus = await enter('Gus');
  await host().rooms.muteAll.mutate({ name: roomName });
  server.fault = 500;
  await runDue();
  server.fault = null;
  app.clock.advance(2 * MINUTE_MS);
  await runDue();
  expect(server.rooms.get(roomName)).toEqual(new Map([[gus.identity, true]]));
  expect(await countWaiting()).toBe(0);
  await remove(gus.id);
  server.fault = 500;
  await runDue();
  app.clock.advance(DAY_MS - MINUTE_MS);
  await runDue();
  expect(await countWaiting()).toBe(1);
  app.clock.advance(MINUTE_MS);
  await runDue();
  expect(await countRooms()).toBe(0);
});

test('a room on a server whose credentials cannot be opened any more is given up', async () => {
  const gus = await enter('Gus');
  await remove(gus.id);
  const { db } = app.services;
  await db.$executeRaw`update meeting_connections set sealed_credentials = '\\x00' where workspace_id = ${team.id}`;
  await runDue();
  expect([await countRooms(), server.calls]).toEqual([1, []]);
  app.clock.advance(11 * MINUTE_MS);
  await runDue();
  expect([await countRooms(), server.calls]).toEqual([0, []]);
});

test('a room for which nobody got a token is not on the server', async () => {
  await host().rooms.lock.mutate({ name: roomName });
  await host().rooms.close.mutate({ name: roomName });
  await host().rooms.delete.mutate({ name: roomName });
  expect([await countRooms(), await runDue(), server.calls]).toEqual([0, 0, []]);
});
