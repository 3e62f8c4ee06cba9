/** Notifications can be lost. Events and the loss of rights still reach the streams: both are looked up again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, startTestApp, type TestApp, type TestDatabase } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';

/** The app and its delivery listen there, and so hear nothing of their own database. */
let elsewhere: TestDatabase;
let app: TestApp;
let delivery: TestDelivery;
let team: Team;
beforeAll(async () => {
  elsewhere = await createDatabase();
  app = await startTestApp({ directUrl: elsewhere.url, streamLimits: { recheckMs: 1_000 } });
  delivery = await startTestDelivery(app, { directUrl: elsewhere.url });
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
  await elsewhere.drop();
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

/** Lets a guest join a new room. Returns its name, and that of a room which was created later. */
async function visit(): Promise<[visited: string, later: string]> {
  const { rooms } = team.owner.client;
  const { room } = await rooms.create.mutate({ workspace_id: team.id });
  await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera Guest' });
  return [room.name, (await rooms.create.mutate({ workspace_id: team.id })).room.name];
}

const sees = ({ events }: ReceivedStream, type: string, room: string): boolean =>
  events.some(({ event, data }) => event === type && data.data.room_name === room);

test('a stream notices the end of its session, its membership and its role without being told', async () => {
  const { email } = team.owner;
  const { body } = await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
  const [ending, removed, demoted, owner] = [
    await listen(body.token),
    await listen(team.member.token),
    await listen(team.admin.token),
    await listen(team.owner.token),
  ];
  const [visited, later] = await visit();
  for (const stream of [demoted, owner]) {
    await eventually(async () => sees(stream, 'room.created', later));
    expect(sees(stream, 'room.joined', visited)).toBe(true);
  }

  await app.http.post('/api/auth/logout', body.token);
  await team.owner.client.members.remove.mutate({ id: team.id, userId: team.member.id });
  await team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.admin.id, role: 'member' });
  expect(await reasonOf(ending)).toBe('UNAUTHORIZED');
  expect(await reasonOf(removed)).toBe('FORBIDDEN');
  await eventually(async () => {
    const [again, after] = await visit();
    await eventually(async () => sees(demoted, 'room.created', after) && sees(owner, 'room.joined', again));
    return !sees(demoted, 'room.joined', again);
  });
  for (const stream of [demoted, owner]) stream.close();

  // Nobody listened: the notifications were sent to a database without listeners.
  const listeners = await app.services.db.$queryRaw`
    select from pg_stat_activity where datname = current_database() and application_name = 'lynxroom notifications'`;
  expect(listeners).toEqual([]);
});
