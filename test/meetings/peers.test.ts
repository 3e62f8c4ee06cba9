/** A page in a meeting learns who else is there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { addRoom, addWaitingRoom, decide } from '../participants/rooms.ts';
import { openEventStream } from '../support/event-stream.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { enter, expectPeers, join, newConnectionId, openPage } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test('joining returns media for those who have joined, and null for those who wait', async () => {
  const open = await addRoom(app, team, team.owner);
  const { body } = await app.http.post(`/api/rooms/${open.name}/join`, undefined, { name: 'Vera' });
  const mesh = {
    kind: 'mesh',
    ice_servers: [],
    ice_transport_policy: 'all',
    max_participants: 8,
    credentials_expire_at: null,
  };
  expect(body).toMatchObject({ participant: { is_host: 0, is_member: 0 }, media: mesh });
  const host = await app.http.post(`/api/rooms/${open.name}/join`, team.owner.token);
  expect(host.body).toMatchObject({ participant: { is_host: 1, is_member: 1 }, media: mesh });
  const member = await app.http.post(`/api/rooms/${open.name}/join`, team.member.token);
  expect(member.body).toMatchObject({ participant: { is_host: 0, is_member: 1 }, media: mesh });
  const again = await app.http.post(`/api/rooms/${open.name}/join`, team.member.token);
  expect(again.body).toEqual(member.body);
  const waiting = await addWaitingRoom(app, team, team.owner);
  const { body: asked } = await app.http.post(`/api/rooms/${waiting.name}/join`, undefined, { name: 'Vera' });
  expect(asked).toMatchObject({ participant: { status: 'waiting' }, media: null });
  const presence = (token: string) => app.http.post(`/api/rooms/${waiting.name}/presence`, undefined, { token });
  expect((await presence(asked.participant.token)).body.media).toBeNull();
  await decide(app, 'admit', waiting.name, asked.participant.id, team.owner.token);
  expect((await presence(asked.participant.token)).body.media).toEqual(mesh);
});

test('two pages learn of each other, in the order in which they joined, and of every change', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  expect(host.peers()).toEqual({ peers: [], recording: null, failed_recording: null, chat: 1 });
  const vera = await enter(app, name, 'Vera');
  const silent = await join(app, name, 'Silent');
  await expectPeers(host, [vera.connectionId, null]);
  await expectPeers(vera, [host.connectionId, null]);
  const off = { microphone: 0, camera: 0, screen: 0, recording: 0 };
  const guest = { is_host: 0, is_member: 0, ...off };
  expect(host.peers().peers).toEqual([
    { id: vera.id, name: 'Vera', connection_id: vera.connectionId, ...guest },
    { id: silent.id, name: 'Silent', connection_id: null, ...guest },
  ]);
  expect(vera.peers().peers[0]).toMatchObject({ id: host.id, is_host: 1, is_member: 1 });
  const state = { token: vera.token, connection_id: vera.connectionId, microphone: 1, camera: true };
  expect((await app.http.post(`/api/rooms/${name}/presence`, undefined, state)).status).toBe(200);
  await expect.poll(() => host.peers().peers[0]).toMatchObject({ microphone: 1, camera: 1, screen: 0 });
  await app.http.post(`/api/rooms/${name}/presence`, undefined, { ...state, microphone: 0, screen: 1 });
  await expect.poll(() => host.peers().peers[0]).toMatchObject({ microphone: 0, camera: 1, screen: 1 });
  const recording = await app.http.post(`/api/rooms/${name}/recordings`, undefined, { token: vera.token });
  await expect
    .poll(() => host.peers())
    .toMatchObject({
      recording: { id: recording.body.recording.id, participant_id: vera.id, name: 'Vera' },
      peers: [{ recording: 1 }, { recording: 0 }],
    });
  const lobby = await app.http.get(`/api/rooms/${name}`);
  expect(lobby.body.room).toMatchObject({ recorded: 1, recorded_by: 'Vera', full: 0, relay_only: 0 });
  // Only members can enter, so strangers do not need to know which of them records.
  await app.http.patch(`/api/dashboard/rooms/${name}`, team.owner.token, { members_only: 1 });
  expect((await app.http.get(`/api/rooms/${name}`)).body.room).toMatchObject({ recorded: 1, recorded_by: null });
  await app.http.patch(`/api/dashboard/rooms/${name}`, team.owner.token, { chat_enabled: 0, members_only: 0 });
  await expect.poll(() => host.peers().chat).toBe(0);
  await app.http.post(`/api/rooms/${name}/leave`, undefined, { token: vera.token });
  await vera.stream.ended;
  await expectPeers(host, [null]);
  // Nobody records any more, although nobody has stopped the recording.
  await expect.poll(() => host.peers().recording).toBeNull();
  expect((await app.http.get(`/api/rooms/${name}`)).body.room).toMatchObject({ recorded: 0, recorded_by: null });
  host.stream.close();
});

test('people who joined without a page do not crowd those with a page out of the list', async () => {
  const { id, name } = await addRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const at = app.clock.now();
  const silent = { workspaceId: team.id, roomId: id, name: 'Silent', status: 'joined' };
  const times = { createdAt: at, joinedAt: at, lastSeenAt: at };
  await app.services.db.participant.createMany({ data: Array.from({ length: 120 }, () => ({ ...silent, ...times })) });
  const vera = await enter(app, name, 'Vera');
  // Those who joined first are still the first of those that are listed.
  await expectPeers(host, [...Array.from({ length: 99 }, () => null), vera.connectionId]);
  await expectPeers(vera, [host.connectionId, ...Array.from({ length: 99 }, () => null)]);
  for (const page of [host, vera]) page.stream.close();
});

test('those who wait get no peers, and are not listed, until they are admitted', async () => {
  const { name } = await addWaitingRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const guest = await openPage(await join(app, name, 'Vera'));
  expect(guest.stream.events[0]).toMatchObject({
    event: 'participant.waiting',
    data: { data: { participant: { id: guest.id, is_host: 0 }, media: null } },
  });
  expect(host.peers().peers).toEqual([]);
  await decide(app, 'admit', name, guest.id, team.owner.token);
  await expectPeers(guest, [host.connectionId]);
  await expectPeers(host, [guest.connectionId]);
  const events = guest.stream.events.map(({ event }) => event);
  expect(events.slice(0, 3)).toEqual(['participant.waiting', 'participant.joined', 'peers']);
  expect((await guest.stream.first('participant.joined')).data.data.media).toMatchObject({ kind: 'mesh' });
  for (const page of [host, guest]) page.stream.close();
});

test('a second page of a participant takes over, and the first stays replaced', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const host = await enter(app, name, 'Olive Owner', team.owner.token);
  const first = await enter(app, name, 'Vera');
  const second = await openPage(first);
  await first.stream.ended;
  expect(first.stream.events.at(-1)).toMatchObject({
    event: 'connection.replaced',
    data: { data: { participant: null } },
  });
  await expectPeers(host, [second.connectionId]);
  const stale = await openPage(first, first.connectionId);
  await stale.stream.ended;
  expect(stale.stream.events.map(({ event }) => event)).toEqual(['connection.replaced']);
  const back = await openPage(first, newConnectionId());
  await expectPeers(host, [back.connectionId]);
  await second.stream.ended;
  for (const page of [host, back]) page.stream.close();
});

test('a stream without peers is as it was, and a typed one with peers has the same messages', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const visitor = await join(app, name, 'Vera');
  const plain = await openEventStream(`${app.url}/api/rooms/${name}/presence/stream?token=${visitor.token}`, undefined);
  await plain.first('participant.joined');
  const received: string[] = [];
  const subscription = createClient({ url: app.url }).participants.live.subscribe(
    { roomName: name, token: visitor.token, peers: true, connection_id: newConnectionId() },
    { onData: ({ event }) => received.push(event) },
  );
  await expect.poll(() => received).toEqual(['participant.joined', 'peers']);
  const other = await enter(app, name, 'Olive Owner', team.owner.token);
  await expect.poll(() => received.length).toBeGreaterThan(2);
  expect(plain.events).toHaveLength(1);
  expect(Object.keys(plain.events[0]?.data.data)).toEqual(['participant']);
  expect(Object.keys(plain.events[0]?.data.data.participant)).toEqual([
    ...['id', 'room_name', 'name', 'status', 'end_reason', 'room_locked', 'waiting_room_message', 'joined_at'],
    'created_at',
  ]);
  subscription.unsubscribe();
  plain.close();
  other.stream.close();
});

test('bad input to a stream with peers is refused and names the field', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const { token } = await join(app, name, 'Vera');
  const open = (query: string) => app.http.get(`/api/rooms/${name}/presence/stream?token=${token}&${query}`);
  const rule = 'connection_id must have 8 to 64 characters of A-Z, a-z, 0-9, _ and -';
  for (const [query, message] of [
    ['peers=1', 'connection_id is required with peers'],
    ['peers=2', 'peers must be 1 or 0'],
    ['peers=1&connection_id=short', rule],
    [`peers=1&connection_id=${'a'.repeat(65)}`, rule],
    ['peers=1&connection_id=abcdefg%00', rule],
  ])
    expect(await open(query ?? '')).toMatchObject({ status: 400, body: { message } });
});
