/** However a visit ends, the person is removed from the LiveKit server that carries the meeting; and nobody else is. */
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { finishRoom, livekitRooms } from '../../src/features/meeting-providers/livekit-rooms/room-queue.ts';
import { updateDueRooms } from '../../src/features/meeting-providers/livekit-rooms/room-worker.ts';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { bodyOf, livekitParticipant, signLivekit } from '../meeting-providers/adapters/callbacks.ts';
import { newConnectionId, openPage } from '../meetings/pages.ts';
import { concurrently } from '../support/concurrently.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { type LivekitServer, startLivekitServer } from './livekit-server.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

let app: TestApp;
let server: LivekitServer;
let team: Team;
let room: { id: number; name: string };
let ingest: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await startLivekitServer(key);
});
beforeEach(async () => {
  server.rooms.clear();
  await app.services.db.$executeRaw`delete from livekit_rooms`;
  team = await addTeam(app);
  const credentials = { ...key, url: server.url };
  const input = { id: team.id, name: 'V', provider: 'livekit', credentials } as const;
  const { connection } = await host().connections.create.mutate(input);
  ingest = new URL(connection.ingest_url).pathname;
  ({ room } = await host().rooms.create.mutate({ workspace_id: team.id }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await app.close();
});

const host = () => team.owner.client;
const post = (operation: string, json: object) =>
  app.http.post(`/api/rooms/${room.name}/${operation}`, undefined, json);
const leave = ({ token }: { token: string }) => post('leave', { token });
const readIdentity = async (token: string) =>
  (await new TokenVerifier(key.api_key, key.api_secret).verify(token)).sub ?? '';

function connect(identity: string): void {
  const people = server.rooms.get(room.name) ?? new Map<string, boolean>();
  server.rooms.set(room.name, people.set(identity, true));
}

/** Joins, and connects to the server with the token, as a browser would. */
async function enter(name: string, earlier?: string) {
  const { participant, media } = (await post('join', { name, ...(earlier && { token: earlier }) })).body;
  const identity = await readIdentity(media.token);
  connect(identity);
  return { id: participant.id as number, token: participant.token as string, identity };
}

const people = () => [...(server.rooms.get(room.name)?.keys() ?? [])];
const update = () => updateDueRooms(app.services);
/** Whether the server has to be looked at since somebody has left. */
const isDue = async () => (await app.services.db.livekitRoom.count({ where: { watchedUntil: null } })) > 0;
const countRooms = () => app.services.db.livekitRoom.count();

// The first test, because LiveKit signs callbacks by the clock of this machine.
test('somebody whose connection the server has reported as ended is not removed when they are back', async () => {
  const [gus, vera] = [await enter('Gus'), await enter('Vera')];
  const report = async (event: string) => {
    const participant = {
      identity: gus.identity,
      sid: 'PA_gus',
      joinedAt: String((app.clock.now().getTime() / 1_000) | 0),
    };
    const body = bodyOf(livekitParticipant(event, participant, { room: { sid: 'RM_1', name: room.name }, id: event }));
    const headers = await signLivekit(body, key.api_key, key.api_secret);
    expect((await app.http.call('POST', ingest, { body: new Uint8Array(body), headers })).status).toBe(200);
  };
  await report('participant_joined');
  await report('participant_left');
  const { status } = await app.services.db.participant.findFirstOrThrow({ where: { id: gus.id } });
  // The server knows it already.
  expect([status, await isDue()]).toEqual(['left', false]);
  await leave(vera);
  await update();
  expect(people()).toEqual([gus.identity]);
});

test('somebody who leaves is removed, also once they connect again with the token that they have', async () => {
  const [gus, vera] = [await enter('Gus'), await enter('Vera')];
  await leave(gus);
  await update();
  expect(people()).toEqual([vera.identity]);
  connect(gus.identity);
  app.clock.advance(MINUTE_MS);
  await update();
  expect(people()).toEqual([vera.identity]);
});

test('somebody whose pages have stopped is removed', async () => {
  await enter('Gus');
  app.clock.advance(10 * MINUTE_MS);
  await expireParticipants(app.services);
  await update();
  expect(people()).toEqual([]);
});

test('somebody who leaves and joins again at once stays, by their new identity', async () => {
  const before = await enter('Gus');
  await leave(before);
  const after = await enter('Gus', before.token);
  expect(after.id).not.toBe(before.id);
  await update();
  expect(people()).toEqual([after.identity]);
});

test('a page that another page of the participant has replaced is removed', async () => {
  const gus = await enter('Gus');
  const visitor = { app, room: room.name, name: 'Gus', ...gus };
  const pages = [];
  for (const connectionId of [newConnectionId(), newConnectionId()]) {
    const page = await openPage(visitor, connectionId);
    const presence = await post('presence', { token: gus.token, connection_id: connectionId });
    pages.push({ page, identity: await readIdentity(presence.body.media.token) });
    connect(pages.at(-1)?.identity ?? '');
  }
  await update();
  expect(people()).toEqual([gus.identity, pages[1]?.identity]);
  for (const { page } of pages) page.stream.close();
});

test.each([
  ['closed', () => host().rooms.close.mutate({ name: room.name })],
  ['deleted', () => host().rooms.delete.mutate({ name: room.name })],
  ['moved to the trash', () => app.http.post(`${team.path}/trash/rooms`, team.owner.token, { room_name: room.name })],
  ['deleted with its workspace', () => host().workspaces.delete.mutate({ id: team.id })],
])('a room that is %s ends on the server', async (_, end) => {
  await enter('Gus');
  await end();
  await update();
  expect(server.rooms.has(room.name)).toBe(false);
  app.clock.advance(30 * MINUTE_MS);
  await update();
  expect(await countRooms()).toBe(0);
});

test('a room ends on the server of the operator with the account that owned it', async () => {
  await using operator = await startLivekitServer(key);
  app.services.settings.meetings.livekit = { origin: operator.url.replace('ws', 'http'), ...key };
  const owner = await addPerson(app);
  ({ room } = await owner.client.rooms.create.mutate({}));
  const gus = await enter('Gus');
  operator.rooms.set(`${room.name}.${room.id}`, new Map([[gus.identity, true]]));
  await owner.client.auth.deleteMe.mutate();
  await update();
  app.services.settings.meetings.livekit = null;
  expect(operator.rooms.size).toBe(0);
});

test('somebody who is erased is removed, and who holds a pass that is revoked stays', async () => {
  const { body } = await post('join', { name: 'Gus', email: 'gus@example.com' });
  connect(await readIdentity(body.media.token));
  const pass = await host().participants.create.mutate({ id: team.id, roomName: room.name, name: 'Pat' });
  const pat = (await post('exchange', { token: pass.token })).body;
  const identity = await readIdentity(pat.media.token);
  connect(identity);
  await host().people.erase.mutate({ id: team.id, email: 'gus@example.com' });
  await host().participants.revokePass.mutate({ id: team.id, roomName: room.name, passId: pass.participant.id });
  await update();
  expect(people()).toEqual([identity]);
});

test('nobody gets a token for a visit that ends meanwhile, of which the server would not be told', async () => {
  const gus = await enter('Gus');
  await app.services.db.$executeRaw`delete from livekit_rooms`;
  const { status, body } = await changeWhileBlocked(
    app,
    `update participants set status = 'left', left_at = joined_at where id = ${gus.id}`,
    () => post('presence', { token: gus.token }),
  );
  expect([status, body.media, await countRooms()]).toEqual([200, null, 0]);
});

test('somebody who leaves while a worker looks at the server is not missed', async () => {
  const [gus, vera] = [await enter('Gus'), await enter('Vera')];
  await leave(vera);
  const now = app.clock.now();
  const leasedUntil = new Date(now.getTime() + MINUTE_MS);
  const [lease] = await livekitRooms.lease(app.services.db.sql, { now, leasedUntil, max: 1 });
  if (lease === undefined) throw new Error('No room is due');
  await leave(gus);
  // The worker has found Gus in the room.
  await finishRoom(app.services, lease, false);
  expect(await isDue()).toBe(true);
  await update();
  expect(people()).toEqual([]);
});

test('however quickly people come and go, those who are in the room stay and no others', async () => {
  const staying: string[] = [];
  await concurrently(5, async (index) => {
    let earlier: string | undefined;
    for (let round = 0; round < 4; round += 1) {
      const visit = await enter(`Guest ${index}`, earlier);
      earlier = visit.token;
      const working = update();
      if (round === 3) staying.push(visit.identity);
      else await leave(visit);
      await working;
    }
  });
  await update();
  await update();
  expect(people().sort()).toEqual(staying.sort());
});
