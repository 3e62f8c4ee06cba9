/** The search over rooms and items. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_SEARCHED_ROOMS } from '../../src/features/search/search.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const other = await addTeam(app);
  for (const [to, name] of [
    [team, 'quarterly-review'],
    [team, 'daily'],
    [other, 'quarterly-of-others'],
  ] as const)
    await app.http.post('/api/dashboard/rooms', to.owner.token, {
      workspace_id: to.id,
      name,
      ...(name === 'daily' && { display_name: '50% of the Quarter' }),
    });
  for (const to of [team, other])
    await upload(app, to.path, to.member.token, undefined, { fields: { name: 'Quarterly report.pdf' } });
});
afterAll(() => app.close());

const search = async (text: string, query = '') =>
  (await app.http.get(`${team.path}/search?search=${encodeURIComponent(text)}${query}`, team.admin.token)).body;

test('finds rooms by name and display name and items by name, of this workspace alone', async () => {
  const { rooms, items } = await search('QUARTER');
  expect(rooms).toEqual([
    { id: expect.any(Number), name: 'daily', display_name: '50% of the Quarter' },
    { id: expect.any(Number), name: 'quarterly-review', display_name: null },
  ]);
  expect(items).toEqual([{ id: expect.any(Number), name: 'Quarterly report.pdf', mime_type: 'application/pdf' }]);
});

test('takes wildcards literally, and returns at most `limit` of each', async () => {
  expect((await search('50%')).rooms).toHaveLength(1);
  expect(await search('q_a')).toEqual({ rooms: [], items: [] });
  expect((await search('quarter', '&limit=1')).rooms).toHaveLength(1);
});

test('finds the same rooms for each role, because every member joins them, by REST and by tRPC', async () => {
  const { id, path, owner, admin, member } = await addTeam(app);
  await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'admin' });
  await member.client.rooms.create.mutate({ workspace_id: id, name: 'harbour-of-member' });
  await owner.client.rooms.create.mutate({ workspace_id: id, name: 'harbour-of-owner' });
  await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'member' });
  const names = ['harbour-of-member', 'harbour-of-owner'];
  for (const { token, client } of [owner, admin, member]) {
    for (const name of names) expect((await app.http.get(`${path}/rooms/${name}`, token)).status).toBe(200);
    const { body } = await app.http.get(`${path}/search?search=harbour`, token);
    expect(body.rooms.map(({ name }: { name: string }) => name).sort()).toEqual(names);
    expect(await client.workspaces.search.query({ id, search: 'harbour' })).toEqual(body);
  }
});

test('searches the rooms that were created last, however many there are', async () => {
  const large = await addTeam(app);
  await app.services.db.$executeRaw`
    insert into rooms (workspace_id, name, display_name, user_id, accent_color, created_at, last_used_at)
    select ${large.id}::int, 'room-of-many-' || n, 'Number ' || n, ${large.owner.id}::int, '#336699',
      now() + n * interval '1 ms', now() - n * interval '1 ms'
    from generate_series(1, ${MAX_SEARCHED_ROOMS + 1}::int) n`;
  const find = async (text: string): Promise<string[]> => {
    const { rooms } = await large.admin.client.workspaces.search.query({ id: large.id, search: text });
    return rooms.map(({ name }) => name);
  };
  expect(await find('room-of-many-1')).toEqual([10, 11, 12, 13, 14].map((n) => `room-of-many-${n}`));
  expect(await find('number 2')).toEqual(['room-of-many-2', ...[20, 21, 22, 23].map((n) => `room-of-many-${n}`)]);
  expect(await find('nothing like it')).toEqual([]);
});
