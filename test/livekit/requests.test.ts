/** What hosts do reaches the LiveKit server of the workspace, also after it has failed and after a restart. */
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { createAddressGuard, resolveByDns } from '../../src/egress/address-guard.ts';
import { livekitRequests } from '../../src/features/meeting-providers/livekit-requests/request-queue.ts';
import {
  runDueLivekitRequests,
  startLivekitWorker,
} from '../../src/features/meeting-providers/livekit-requests/request-worker.ts';
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
  await app.services.db.$executeRaw`delete from livekit_requests`;
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
const runDue = () => runDueLivekitRequests(app.services);
const countWaiting = () => app.services.db.livekitRequest.count({ where: { workspaceId: team.id } });

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
  expect(await countWaiting()).toBe(0);
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
  await runDueLivekitRequests({ ...app.services, addressGuard });
  expect(server.calls).toEqual([]);
  expect(people()).toEqual([gus.identity]);
});

test('another process carries out the request of one that was killed', async () => {
  const gus = await enter('Gus');
  await remove(gus.id);
  const now = app.clock.now();
  const leasedUntil = new Date(now.getTime() + 30 * SECOND_MS);
  expect(await livekitRequests.lease(app.services.db.sql, { now, leasedUntil, max: 1 })).toHaveLength(1);
  await runDue();
  expect(people()).toEqual([gus.identity]);
  app.clock.advance(31 * SECOND_MS);
  await runDue();
  expect(people()).toEqual([]);
});

test('a request that is old is given up, and one of a workspace without a server is dropped', async () => {
  const gus = await enter('Gus');
  await host().rooms.muteAll.mutate({ name: roomName });
  server.fault = 500;
  app.clock.advance(2 * MINUTE_MS);
  await runDue();
  expect(await countWaiting()).toBe(0);
  await remove(gus.id);
  const { connections } = await host().connections.list.query({ id: team.id });
  await host().connections.delete.mutate({ id: team.id, connectionId: connections[0]?.id ?? 0 });
  await runDue();
  expect(await countWaiting()).toBe(0);
  // Without a server, nothing is queued.
  await host().rooms.lock.mutate({ name: roomName });
  expect(await countWaiting()).toBe(0);
});
