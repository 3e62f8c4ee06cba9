/** The LiveKit server of the operator carries the media of workspaces that have no connection with a provider. */
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAddressGuard, resolveByDns } from '../../src/egress/address-guard.ts';
import { readFrameAccess } from '../../src/features/embedding/read-frame-origins.ts';
import { readLinkPreview } from '../../src/features/link-previews/read-link-preview.ts';
import { updateDueRooms } from '../../src/features/meeting-providers/livekit-rooms/room-worker.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { type LivekitServer, startLivekitServer } from './livekit-server.ts';

const key = { api_key: 'APIoperator', api_secret: 'the API secret of the operator' };
const ownKey = { api_key: 'APIworkspace', api_secret: 'the API secret of a workspace' };
const ownUrl = 'wss://livekit.example.com';

let app: TestApp;
let server: LivekitServer;
beforeAll(async () => {
  server = await startLivekitServer(key);
  app = await startTestApp();
  app.services.settings.meetings.livekit = { origin: server.url.replace('ws', 'http'), ...key };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await app.close();
});

async function newRoom() {
  const team = await addTeam(app);
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  return { team, roomName: room.name, onServer: `${room.name}.${room.id}` };
}

const join = async (roomName: string, json: object = { name: 'Gus' }) =>
  (await app.http.post(`/api/rooms/${roomName}/join`, undefined, json)).body;

const identityOf = async ({ media }: { media: { token: string } }, by = key) =>
  (await new TokenVerifier(by.api_key, by.api_secret).verify(media.token)).sub ?? '';

const connect = ({ owner, id }: Team, credentials: { api_key: string; api_secret: string; url?: string }) =>
  owner.client.connections.create.mutate({ id, name: 'Video', provider: 'livekit', credentials });

/** What the answers and documents about a room say of its media. */
async function readMedia(roomName: string) {
  const { room } = (await app.http.get(`/api/rooms/${roomName}`)).body;
  const { mediaOrigin } = await readLinkPreview(app.services, 'room', roomName);
  const frame = await readFrameAccess(app.services, 'room', roomName);
  expect(frame.mediaOrigin).toBe(mediaOrigin);
  return { kind: (await join(roomName)).media.kind, room: room.media, origin: mediaOrigin };
}

const origin = () => server.url.replace('ws', 'http');

test('participants get its URL and a token that it accepts, and documents may connect to it', async () => {
  const { roomName, onServer } = await newRoom();
  const { participant, media } = await join(roomName);
  expect(media).toMatchObject({ kind: 'livekit', url: server.url });
  const claims = await new TokenVerifier(key.api_key, key.api_secret).verify(media.token);
  expect(claims).toMatchObject({ video: { room: onServer, roomAdmin: false }, attributes: { role: 'guest' } });
  expect(claims.sub?.startsWith(`${participant.reference}.`)).toBe(true);
  expect(await readMedia(roomName)).toEqual({ kind: 'livekit', room: 'livekit', origin: origin() });
});

test('a mesh stays one, and a connection of the workspace takes its place', async () => {
  const { team, roomName } = await newRoom();
  await team.owner.client.rooms.update.mutate({ name: roomName, media: 'mesh' });
  expect(await readMedia(roomName)).toEqual({ kind: 'mesh', room: 'mesh', origin: null });
  await team.owner.client.rooms.update.mutate({ name: roomName, media: null });
  const { connection } = await connect(team, ownKey);
  expect(await readMedia(roomName)).toEqual({ kind: 'none', room: 'none', origin: null });
  await connect(team, { ...ownKey, url: ownUrl });
  expect(await readMedia(roomName)).toEqual({
    kind: 'livekit',
    room: 'livekit',
    origin: 'https://livekit.example.com',
  });
  const { media } = await join(roomName);
  expect(media.url).toBe(ownUrl);
  await new TokenVerifier(ownKey.api_key, ownKey.api_secret).verify(media.token);
  expect(connection.media_url).toBeNull();
});

test('it is told what hosts do, at an address that connections must not have', async () => {
  const { team, roomName, onServer } = await newRoom();
  const gus = await join(roomName);
  const { sub = '' } = await new TokenVerifier(key.api_key, key.api_secret).verify(gus.media.token);
  server.rooms.set(onServer, new Map([[sub, true]]));
  const addressGuard = createAddressGuard({ policy: 'public', resolveHost: resolveByDns });
  const runDue = () => updateDueRooms({ ...app.services, addressGuard });
  await team.owner.client.rooms.muteAll.mutate({ name: roomName });
  await runDue();
  expect(server.rooms.get(onServer)).toEqual(new Map([[sub, false]]));
  await team.owner.client.participants.remove.mutate({ name: roomName, participantId: gus.participant.id });
  await runDue();
  expect(server.rooms.get(onServer)).toEqual(new Map());
  await team.owner.client.rooms.delete.mutate({ name: roomName });
  await runDue();
  expect(server.rooms.has(onServer)).toBe(false);
});

test('a room with the name of a deleted one is another room there, and does not end with it', async () => {
  const { team, roomName, onServer } = await newRoom();
  await join(roomName);
  await team.owner.client.rooms.delete.mutate({ name: roomName });
  const next = await addTeam(app);
  const { room } = await next.owner.client.rooms.create.mutate({ workspace_id: next.id, name: roomName });
  expect(room.name).toBe(roomName);
  const { media } = await join(roomName);
  const { video } = await new TokenVerifier(key.api_key, key.api_secret).verify(media.token);
  expect(video?.room).not.toBe(onServer);
  server.rooms.set(onServer, new Map([['left over', true]]));
  server.rooms.set(video?.room ?? '', new Map([['of another workspace', true]]));
  await updateDueRooms(app.services);
  expect([server.rooms.has(onServer), server.rooms.has(video?.room ?? '')]).toEqual([false, true]);
});

test.each([
  ['with a connection of another kind', (team: Team) => connect(team, ownKey)],
  [
    'that is set to mesh',
    ({ id, owner }: Team) => owner.client.workspaces.setMeetingSettings.mutate({ id, media: 'mesh' }),
  ],
])('what happens in the rooms of a workspace %s is not told to it', async (_, change) => {
  const { team, roomName } = await newRoom();
  await change(team);
  server.calls.length = 0;
  const { client } = team.owner;
  const [gus, vera] = [await join(roomName), await join(roomName, { name: 'Vera' })];
  await client.rooms.muteAll.mutate({ name: roomName });
  await client.rooms.lock.mutate({ name: roomName });
  await client.participants.remove.mutate({ name: roomName, participantId: gus.participant.id });
  await app.http.post(`/api/rooms/${roomName}/leave`, undefined, { token: vera.participant.token });
  await client.rooms.close.mutate({ name: roomName });
  await client.rooms.delete.mutate({ name: roomName });
  await updateDueRooms(app.services);
  expect([await app.services.db.livekitRoom.count({ where: { workspaceId: team.id } }), server.calls]).toEqual([0, []]);
});

test('a room that is set to mesh during its meeting ends on the server on which it was joined', async () => {
  const { team, roomName, onServer } = await newRoom();
  const gus = await join(roomName);
  server.rooms.set(onServer, new Map([[await identityOf(gus), true]]));
  await team.owner.client.rooms.update.mutate({ name: roomName, media: 'mesh' });
  await team.owner.client.rooms.close.mutate({ name: roomName });
  await updateDueRooms(app.services);
  expect(server.rooms.has(onServer)).toBe(false);
});

test('who joined on a server is removed there, though the workspace has another one by now, or none', async () => {
  await using own = await startLivekitServer(ownKey);
  await using next = await startLivekitServer(ownKey);
  const { team, roomName, onServer } = await newRoom();
  const { owner, id } = team;
  const remove = ({ participant }: { participant: { id: number } }) =>
    owner.client.participants.remove.mutate({ name: roomName, participantId: participant.id });
  const first = await join(roomName);
  server.rooms.set(onServer, new Map([[await identityOf(first), true]]));
  const { connection } = await connect(team, { ...ownKey, url: own.url });
  const second = await join(roomName);
  expect(second.media.url).toBe(own.url);
  own.rooms.set(roomName, new Map([[await identityOf(second, ownKey), true]]));
  await owner.client.connections.rotate.mutate({
    ...{ id, connectionId: connection.id, credentials: { ...ownKey, url: next.url } },
  });
  const third = await join(roomName);
  expect(third.media.url).toBe(next.url);
  next.rooms.set(roomName, new Map([[await identityOf(third, ownKey), true]]));
  for (const [visit, rooms] of [
    [first, server.rooms.get(onServer)],
    [second, own.rooms.get(roomName)],
  ] as const) {
    expect(rooms?.size).toBe(1);
    await remove(visit);
    await updateDueRooms(app.services);
    expect(rooms?.size).toBe(0);
  }
  await owner.client.connections.delete.mutate({ id, connectionId: connection.id });
  await owner.client.rooms.close.mutate({ name: roomName });
  await updateDueRooms(app.services);
  expect([server.rooms.has(onServer), own.rooms.size, next.rooms.size]).toEqual([false, 0, 0]);
});

test('neither an answer nor the database nor the log has its secret', async () => {
  const { team, roomName } = await newRoom();
  const answers = [
    await join(roomName),
    await app.http.get(`/api/rooms/${roomName}`),
    await team.owner.client.auth.me.query(),
  ];
  const shown = JSON.stringify([answers, await dumpTables(app), app.logLines]);
  expect(shown).not.toContain(key.api_secret);
  expect(shown).not.toContain(Buffer.from(key.api_secret).toString('hex'));
});
