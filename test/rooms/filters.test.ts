/** The lists of rooms and recordings with a search and filters. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { book, createPage } from '../bookings/pages.ts';
import { advance, start } from '../recordings/recording-fixtures.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';
const DAY = 86_400;

let app: TestApp;
let team: Team;
/** When the first room was created, in seconds. The others follow, one a day. */
let first: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const other = await addTeam(app);
  await app.http.post(ROOMS, other.owner.token, { workspace_id: other.id, name: 'weekly-of-others' });
  for (const [by, name, display_name] of [
    [team.owner, 'weekly-sync', 'Team 50%'],
    [team.admin, 'daily', 'WEEKLY planning'],
    [team.owner, 'retro', 'Æther'],
  ] as const) {
    const { room } = (await app.http.post(ROOMS, by.token, { workspace_id: team.id, name, display_name })).body;
    first ??= room.created_at;
    for (const status of ['started', 'available'] as const) {
      const place = { workspaceId: team.id, roomId: room.id, archiveId: status };
      await start(app, { ...place, title: `${name} ${status}` });
      if (status === 'available') await advance(app, place, { status, fileKey: `v1/${name}` });
    }
    app.clock.advance(DAY * 1000);
  }
});
afterAll(() => app.close());

type Query = Record<string, string | number>;

function toParams(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) params.set(name, String(value));
  return params;
}

async function names(path: string, query: Query, token = team.owner.token): Promise<string[]> {
  const params = toParams(query);
  const { status, body } = await app.http.get(`${path}?${params}`, token);
  expect(status).toBe(200);
  return (body.rooms ?? body.recordings).map((one: { name?: string; title?: string }) => one.name ?? one.title);
}

test.each<[string, () => Query, string[]]>([
  ['a part of the name, in capitals', () => ({ search: 'WEEK' }), ['daily', 'weekly-sync']],
  ['a part of the display name', () => ({ search: 'planning' }), ['daily']],
  ['letters of other scripts, whatever their case', () => ({ search: 'æTH' }), ['retro']],
  ['a wildcard, taken literally', () => ({ search: '50%' }), ['weekly-sync']],
  ['nothing that matches', () => ({ search: 'e_k' }), []],
  ['a blank search', () => ({ search: '  ' }), ['retro', 'daily', 'weekly-sync']],
  ['a user', () => ({ user_id: team.admin.id }), ['daily']],
  ['from a time, inclusive', () => ({ from: first + DAY }), ['retro', 'daily']],
  ['until a time, exclusive', () => ({ to: first + DAY }), ['weekly-sync']],
  [
    'everything together',
    () => ({ search: 'weekly', user_id: team.owner.id, from: first, to: first + 1 }),
    ['weekly-sync'],
  ],
])('rooms of a workspace by %s', async (_, query, expected) => {
  expect(await names(`${team.path}/rooms`, query())).toEqual(expected);
  expect(await names(`${team.path}/rooms`, query(), team.member.token)).toEqual(expected);
  const typed = await team.owner.client.rooms.listInWorkspace.query({ id: team.id, ...query() });
  expect(typed.rooms.map(({ name }) => name)).toEqual(expected);
});

test('own rooms by search and time, and never those of others', async () => {
  expect(await names(ROOMS, { search: 'weekly' })).toEqual(['weekly-sync']);
  expect(await names(ROOMS, { search: 'weekly' }, team.admin.token)).toEqual(['daily']);
  expect(await names(ROOMS, { from: first + DAY })).toEqual(['retro']);
  const typed = await team.owner.client.rooms.list.query({ search: 'RETRO' });
  expect(typed.rooms.map(({ name }) => name)).toEqual(['retro']);
});

test.each<[string, () => Query, string[]]>([
  ['a part of the title', () => ({ search: 'RETRO avail' }), ['retro available']],
  ['a part of the display name of the room', () => ({ search: 'planning' }), ['daily available', 'daily started']],
  ['a status', () => ({ status: 'started' }), ['retro started', 'daily started', 'weekly-sync started']],
  ['a user', () => ({ user_id: team.admin.id, status: 'available' }), ['daily available']],
  ['a room', () => ({ room_name: 'Weekly-Sync' }), ['weekly-sync available', 'weekly-sync started']],
  ['a range of time', () => ({ from: first + DAY, to: first + 2 * DAY }), ['daily available', 'daily started']],
  ['nothing that matches', () => ({ room_name: 'weekly-of-others' }), []],
])('recordings of a workspace by %s', async (_, query, expected) => {
  expect(await names(`${team.path}/recordings`, query())).toEqual(expected);
  expect(await names(`${team.path}/recordings`, query(), team.member.token)).toEqual(expected);
  // `as`: the table has queries as they are sent over REST.
  const input = { id: team.id, ...query() } as { id: number };
  const typed = await team.owner.client.recordings.listInWorkspace.query(input);
  expect(typed.recordings.map(({ title }) => title)).toEqual(expected);
});

test('own recordings, and those of one room, by search, status and time', async () => {
  const own = '/api/dashboard/recordings';
  expect(await names(own, { search: 'started' })).toEqual(['retro started', 'weekly-sync started']);
  expect(await names(own, { status: 'available', to: first + DAY })).toEqual(['weekly-sync available']);
  const ofRoom = `${ROOMS}/daily/recordings`;
  expect(await names(ofRoom, { status: 'started' })).toEqual(['daily started']);
  expect(await names(ofRoom, { search: 'nothing' })).toEqual([]);
});

test('the pages of a filtered list stay right while entries are added, and a cursor keeps its filters', async () => {
  const page = async (query: Query) => {
    const params = toParams(query);
    return app.http.get(`${team.path}/rooms?${params}`, team.owner.token);
  };
  const one = await page({ search: 'weekly', limit: 1 });
  expect(one.body.rooms).toMatchObject([{ name: 'daily' }]);
  await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id, name: 'weekly-late' });
  const two = await page({ search: 'weekly', limit: 1, cursor: one.body.next_cursor });
  expect(two.body.rooms).toMatchObject([{ name: 'weekly-sync' }]);
  expect(two.body.next_cursor).toBeUndefined();
  for (const query of [{ search: 'week' }, {}, { search: 'weekly', user_id: team.owner.id }])
    expect((await page({ ...query, cursor: one.body.next_cursor })).status).toBe(400);
  const recordings = async (query: string) => app.http.get(`${team.path}/recordings?${query}`, team.owner.token);
  const start = await recordings('status=started&limit=2');
  const rest = await recordings(`status=started&limit=2&cursor=${start.body.next_cursor}`);
  expect([...start.body.recordings, ...rest.body.recordings].map(({ title }) => title)).toEqual([
    'retro started',
    'daily started',
    'weekly-sync started',
  ]);
});

test('rooms that were made for bookings, and all others', async () => {
  const booked = await addTeam(app);
  await app.http.post(ROOMS, booked.owner.token, { workspace_id: booked.id, name: 'own-room' });
  const { slug } = await createPage(app, booked);
  const [time] = (await app.http.get(`/api/book/${slug}`)).body.times;
  const { room_name: room } = (await book(app, slug, time)).body.booking;
  expect((await names(`${booked.path}/rooms`, {}, booked.owner.token)).toSorted()).toEqual(
    [room, 'own-room'].toSorted(),
  );
  expect(await names(`${booked.path}/rooms`, { booked: 0 }, booked.owner.token)).toEqual(['own-room']);
  expect(await names(`${booked.path}/rooms`, { booked: 1 }, booked.owner.token)).toEqual([room]);
  const typed = await booked.owner.client.rooms.listInWorkspace.query({ id: booked.id, booked: 0 });
  expect(typed.rooms.map(({ name }) => name)).toEqual(['own-room']);
  const { status, body } = await app.http.get(`${booked.path}/rooms?booked=2`, booked.owner.token);
  expect([status, body.issues[0]?.path]).toEqual([400, 'booked']);
});
