/** The stream of a workspace's events over real HTTP: what it sends, to whom, and from where it resumes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

const open = (person: Person, headers: Record<string, string> = {}): Promise<ReceivedStream> =>
  openEventStream(`${app.url}${team.path}/events/stream`, person.token, headers);

/** Opens a stream, and waits until it begins. */
async function listen(person: Person): Promise<ReceivedStream> {
  const stream = await open(person);
  await stream.first('stream.opened');
  return stream;
}

const createRoom = (person: Person): Promise<{ name: string }> =>
  person.client.rooms.create.mutate({ workspace_id: team.id }).then(({ room }) => room);

test('an event arrives with its id, its type and the body of a webhook', async () => {
  const stream = await listen(team.member);
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.headers.get('x-request-id')).toBeTruthy();
  expect(stream.headers.get('x-content-type-options')).toBe('nosniff');
  const room = await createRoom(team.owner);
  const { id, data } = await stream.first('room.created');
  expect(Number(id)).toBeGreaterThan(0);
  expect(data).toMatchObject({ event: 'room.created', data: { workspace_id: team.id, room_name: room.name } });
  expect(data.timestamp).toMatch(/^\d{4}-.*Z$/);
  stream.close();
});

test('a stream resumes after the last event, by header or query, and repeats nothing', async () => {
  const first = await listen(team.owner);
  const rooms = [await createRoom(team.owner), await createRoom(team.owner)];
  await eventually(async () => first.events.length >= 3);
  first.close();
  const [, one, two] = first.events;
  const third = await createRoom(team.owner);
  const resumed = await open(team.owner, { 'last-event-id': one?.id ?? '' });
  const byQuery = await openEventStream(
    `${app.url}${team.path}/events/stream?last_event_id=${one?.id}`,
    team.owner.token,
  );
  for (const stream of [resumed, byQuery]) {
    await eventually(async () => stream.events.length >= 2);
    expect(stream.events[0]).toEqual(two);
    expect(stream.events.map(({ data }) => data.data.room_name)).toEqual([rooms[1]?.name, third.name]);
    stream.close();
  }
});

test('0 replays the log, and an id that the log does not have resets the reader', async () => {
  const replayed = await open(team.owner, { 'last-event-id': '0' });
  await replayed.first('room.created');
  expect(replayed.events.map(({ event }) => event)).not.toContain('stream.opened');
  const lost = await open(team.owner, { 'last-event-id': '999999999' });
  const reset = await lost.first('stream.reset');
  expect(reset.data.data).toEqual({ workspace_id: team.id });
  expect(Number(reset.id)).toBeLessThan(999_999_999);
  for (const stream of [replayed, lost]) stream.close();
});

test.each(['x', '-1', '1.5', '9'.repeat(16)])('the id %s is refused', async (id) => {
  const headers = { 'last-event-id': id };
  const { status, body } = await app.http.call('GET', `${team.path}/events/stream`, {
    token: team.owner.token,
    headers,
  });
  expect([status, body.issues[0].path]).toEqual([400, 'Last-Event-ID']);
});

test('HEAD answers without a stream', async () => {
  const { status, headers } = await app.http.call('HEAD', `${team.path}/events/stream`, { token: team.owner.token });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(app.services.live.use().open).toBe(0);
});

test('what happens in a room reaches its user and the admins, and no other member', async () => {
  const [owner, admin, member] = [await listen(team.owner), await listen(team.admin), await listen(team.member)];
  const room = await createRoom(team.owner);
  await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera Guest' });
  await Promise.all([owner.first('room.joined'), admin.first('room.joined')]);
  // A later event that the member sees shows that the earlier one was left out.
  await createRoom(team.owner);
  await eventually(async () => member.events.filter(({ event }) => event === 'room.created').length === 2);
  expect(member.events.map(({ event }) => event)).toEqual(['stream.opened', 'room.created', 'room.created']);
  for (const stream of [owner, admin, member]) stream.close();
});

test('another workspace is not heard', async () => {
  const stream = await listen(team.owner);
  const stranger = await addPerson(app, 'Sam Stranger');
  await stranger.client.rooms.create.mutate({});
  const room = await createRoom(team.owner);
  const { data } = await stream.first('room.created');
  expect(data.data.room_name).toBe(room.name);
  expect(stream.events).toHaveLength(2);
  stream.close();
});

test('nobody holds a database connection or a place in the process after hanging up', async () => {
  const streams = await Promise.all(Array.from({ length: 15 }, () => listen(team.member)));
  expect(app.services.live.use().open).toBe(15);
  expect(app.services.db.poolUse().idle).toBeGreaterThan(0);
  for (const stream of streams) stream.close();
  await eventually(async () => app.services.live.use().open === 0);
  const lines = await eventually(async () => {
    const found = app.logLines.filter(({ route }) => String(route).endsWith('/events/stream'));
    return found.length >= 15 && found;
  });
  expect(lines.at(-1)).toMatchObject({
    msg: 'request',
    status: 200,
    events: 1,
    route: '/api/workspaces/:id/events/stream',
  });
});
