/** The public fields of a room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPage, officeHours } from '../bookings/pages.ts';
import { remove } from '../moderation/moderate.ts';
import { addRoom, join } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const shown = {
  display_name: 'Stand-up',
  accent_color: '#10b981',
  waiting_room_enabled: 1,
  scheduled_at: 1_800_000_000.25,
  members_only: 1,
  recordings_visible_to: 'hosts',
  who_may_record: 'members',
};
const stranger = { must_wait: 1, is_member: 0 };
const branding = { color: null, logo_url: null, imprint_url: null, privacy_url: null, language: null };
const meeting = { locked: 0, media: 'mesh', full: 0, relay_only: 0, recorded: 0, recorded_by: null, branding };

test('anyone can read these fields and no others, with any credential or none', async () => {
  const input = {
    ...shown,
    workspace_id: team.id,
    waiting_room_message: 'Soon',
    session_id: 'secret',
    max_participants: 9,
  };
  const { room } = (await app.http.post('/api/dashboard/rooms', team.admin.token, input)).body;
  for (const token of [undefined, 'x', `lns_${'x'.repeat(43)}`, team.outsider.token, team.admin.token]) {
    const { status, body } = await app.http.get(`/api/rooms/${room.name}`, token);
    const caller = token === team.admin.token ? { must_wait: 0, is_member: 1 } : stranger;
    expect([status, body]).toEqual([200, { room: { name: room.name, ...shown, ...meeting, ...caller } }]);
  }
  const typed = await team.outsider.client.rooms.readPublic.query({ roomName: room.name });
  expect(typed).toEqual({ room: { name: room.name, ...shown, ...meeting, ...stranger } });
});

test('a page learns before joining whether its user must wait, and joining does what it says', async () => {
  const room = await addRoom(app, team, team.owner, { waiting_room_enabled: 1 });
  const created = await team.owner.client.apiKeys.create.mutate({ id: team.id, name: 'Reader' });
  const mustWait = async (token?: string) => {
    const { body } = await app.http.get(`/api/rooms/${room.name}`, token);
    return [body.room.must_wait, body.room.is_member];
  };
  const joinAs = async (token?: string) => (await join(app, room.name, { name: 'X' }, token)).body.participant;
  const statuses = { 0: 'joined', 1: 'waiting' };
  for (const [token, must, isMember] of [
    [undefined, 1, 0],
    [team.outsider.token, 1, 0],
    [team.member.token, 0, 1],
    [team.admin.token, 0, 1],
    [team.owner.token, 0, 1],
  ] as const) {
    expect(await mustWait(token)).toEqual([must, isMember]);
    expect((await joinAs(token)).status).toBe(statuses[must]);
  }
  // A key is no person who could join.
  expect(await mustWait(created.apiKey.full_key)).toEqual([1, 0]);
  const { id } = await joinAs(team.member.token);
  await remove(app, room.name, id, team.owner.token);
  await app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, { waiting_room_enabled: 0 });
  expect(await mustWait()).toEqual([0, 0]);
  expect(await mustWait(team.outsider.token)).toEqual([0, 0]);
  expect(await mustWait(team.member.token)).toEqual([1, 1]);
  expect((await joinAs(team.member.token)).status).toBe('waiting');
});

test('an answer about one user is stored by no shared cache, and is no other answer for another user', async () => {
  const { name } = await addRoom(app, team, team.owner, { waiting_room_enabled: 1 });
  const read = (token?: string, tag = '"none"') =>
    app.http.call('GET', `/api/rooms/${name}`, { token, headers: { 'if-none-match': tag } });
  const [guest, member] = [await read(), await read(team.member.token)];
  for (const { headers } of [guest, member]) expect(headers.get('cache-control')).toBe('private, no-cache');
  const tag = guest.headers.get('etag') ?? '';
  expect((await read(undefined, tag)).status).toBe(304);
  expect(await read(team.member.token, tag)).toMatchObject({ status: 200, body: { room: { must_wait: 0 } } });
});

test('a page learns before joining whether browsers or a provider carry the meeting', async () => {
  const other = await addTeam(app);
  const { client } = other.owner;
  const { room } = await client.rooms.create.mutate({ workspace_id: other.id });
  const readMedia = async () => (await app.http.get(`/api/rooms/${room.name}`)).body.room.media;
  expect(await readMedia()).toBe('mesh');
  await client.connections.create.mutate({ id: other.id, name: 'Meetings', provider: 'generic' });
  expect(await readMedia()).toBe('none');
  await client.rooms.update.mutate({ name: room.name, media: 'mesh' });
  expect(await readMedia()).toBe('mesh');
});

test('an unknown room: 404', async () => {
  for (const name of ['no-such-room', 'A', '%00', 'x'.repeat(65)]) {
    const { status, body } = await app.http.get(`/api/rooms/${name}`);
    expect([status, body.message]).toEqual([404, 'Room not found']);
  }
});

test('a link in capitals reaches the room and the booking page, for guests and for hosts', async () => {
  const { slug } = await createPage(app, team, { ...officeHours, slug: 'intro-call' });
  expect((await app.http.get('/api/book/Intro-CALL')).body.page.slug).toBe(slug);
  await app.http.post('/api/dashboard/rooms', team.owner.token, { name: 'team-sync', workspace_id: team.id });
  for (const name of ['Team-Sync', 'TEAM-SYNC', 'team-sync'])
    expect((await app.http.get(`/api/rooms/${name}`)).body.room?.name).toBe('team-sync');
  const { participant } = (await app.http.post('/api/rooms/Team-Sync/join', undefined, { name: 'Gus' })).body;
  expect(participant.room_name).toBe('team-sync');
  const { token } = participant;
  expect((await app.http.post('/api/rooms/TEAM-sync/presence', undefined, { token })).status).toBe(200);
  const host = `/api/dashboard/rooms/Team-Sync`;
  expect((await app.http.get(host, team.owner.token)).body.room.name).toBe('team-sync');
  expect((await app.http.get(`${host}/participants`, team.owner.token)).body.participants).toHaveLength(1);
  expect((await app.http.patch(host, team.owner.token, { waiting_room_enabled: 1 })).status).toBe(200);
  expect((await app.http.post('/api/rooms/Team-sync/leave', undefined, { token })).status).toBe(200);
  // No two names differ only in capitals, and a letter that only looks like a slug's names nothing.
  const taken = await app.http.post('/api/dashboard/rooms', team.owner.token, { name: 'Team-Sync' });
  expect([taken.status, taken.body.message]).toEqual([400, 'Invalid room name']);
  expect((await app.http.get(`/api/rooms/${encodeURIComponent('team-\u017fync')}`)).status).toBe(404);
});
