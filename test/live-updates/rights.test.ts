/** A stream ends when its reader may no longer read it, and shows what their present role may see. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ streamLimits: { perOwner: 3, perProcess: 12 } });
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

async function listen(token: string): Promise<ReceivedStream> {
  const stream = await openEventStream(`${app.url}${team.path}/events/stream`, token);
  await stream.first('stream.opened');
  return stream;
}

/** Waits until the stream has ended, and returns why. */
async function reasonOf(stream: ReceivedStream): Promise<string> {
  await stream.ended;
  return stream.events.find(({ event }) => event === 'stream.closed')?.data.code;
}

async function signIn(email: string): Promise<string> {
  const { body } = await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
  return body.token;
}

async function createKey(options: object = {}): Promise<{ id: number; full_key: string }> {
  const { body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Reader', ...options });
  return body.apiKey;
}

test('signing out ends the streams of that session, and no other', async () => {
  const token = await signIn(team.admin.email);
  const [ending, other] = [await listen(token), await listen(team.admin.token)];
  await app.http.post('/api/auth/logout', token);
  expect(await reasonOf(ending)).toBe('UNAUTHORIZED');
  await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
  await other.first('room.created');
  other.close();
});

test('switching a key off ends its streams', async () => {
  const { id, full_key } = await createKey();
  const stream = await listen(full_key);
  await app.http.patch(`${team.path}/api-keys/${id}`, team.owner.token, { is_active: 0 });
  expect(await reasonOf(stream)).toBe('UNAUTHORIZED');
});

test('a key sees the events of what its scopes can read', async () => {
  const { full_key } = await createKey({ scopes: ['workspace:read', 'library:read'] });
  const { full_key: withoutScope } = await createKey({ scopes: ['library:read'] });
  const { status } = await app.http.get(`${team.path}/events/stream`, withoutScope);
  expect(status).toBe(403);
  const stream = await listen(full_key);
  await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
  await team.owner.client.members.remove.mutate({ id: team.id, userId: team.member.id });
  await stream.first('member.left');
  expect(stream.events.map(({ event }) => event)).toEqual(['stream.opened', 'member.left']);
  stream.close();
  team = await addTeam(app, 'Another team');
});

test('removing a member ends their streams', async () => {
  const stream = await listen(team.member.token);
  await team.owner.client.members.remove.mutate({ id: team.id, userId: team.member.id });
  expect(await reasonOf(stream)).toBe('FORBIDDEN');
  team = await addTeam(app, 'A third team');
});

test('a member who loses the role admin no longer sees what only admins see', async () => {
  const [demoted, owner] = [await listen(team.admin.token), await listen(team.owner.token)];
  await team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.admin.id, role: 'member' });
  const visit = async (): Promise<boolean> => {
    const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
    await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera Guest' });
    const { room: last } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
    const sees = (type: string, name: string) => async () =>
      demoted.events.some(({ event, data }) => event === type && data.data.room_name === name);
    await eventually(sees('room.created', last.name));
    return sees('room.joined', room.name)();
  };
  // The rights are looked at again shortly after the change.
  await eventually(async () => !(await visit()));
  await owner.first('room.joined');
  for (const stream of [demoted, owner]) stream.close();
});

test('deleting the workspace ends its streams', async () => {
  const stream = await listen(team.admin.token);
  await team.owner.client.workspaces.delete.mutate({ id: team.id });
  expect(await reasonOf(stream)).toBe('NOT_FOUND');
  team = await addTeam(app, 'A fourth team');
});

test('a user has a limited number of streams, and so has a network; other requests are not held up', async () => {
  await expect.poll(() => app.services.live.use().open).toBe(0);
  const own = await Promise.all([1, 2, 3].map(() => listen(team.owner.token)));
  const path = `${team.path}/events/stream`;
  const refused = await app.http.get(path, team.owner.token);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  const others = await Promise.all([1, 2, 3].map(() => listen(team.admin.token)));
  const { status, body } = await app.http.get(path, team.member.token);
  expect([status, body.message]).toEqual([429, 'Too many streams are open in your network: try again later']);
  expect((await app.http.get(team.path, team.owner.token)).status).toBe(200);
  for (const stream of [...own, ...others]) stream.close();
  await expect.poll(() => app.services.live.use().open).toBe(0);
  (await listen(team.owner.token)).close();
});
