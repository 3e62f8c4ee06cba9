/** The search over rooms and items. */
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  (await app.http.get(`${team.path}/search?search=${encodeURIComponent(text)}${query}`, team.member.token)).body;

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
