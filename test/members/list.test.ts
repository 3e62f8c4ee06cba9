/** The list of members: search, order and pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  for (const name of ['zoe 100%', 'Zoe Alpha']) {
    const person = await addPerson(app, name);
    await person.client.workspaces.join.mutate({ token });
  }
});
afterAll(() => app.close());

const JOINED = ['Olive Owner', 'Adam Admin', 'Mia Member', 'zoe 100%', 'Zoe Alpha'];

async function list(query = ''): Promise<string[]> {
  const { members } = (await app.http.get(`${team.path}/members${query}`, team.member.token)).body;
  return members.map(({ name }: { name: string }) => name);
}

test('members are listed as they joined, with the fields of the workspace', async () => {
  expect(await list()).toEqual(JOINED);
  expect(await list('?order=desc')).toEqual(JOINED.toReversed());
  const { members } = (await app.http.get(`${team.path}/members`, team.member.token)).body;
  expect(members).toEqual((await app.http.get(team.path, team.member.token)).body.workspace.members);
});

test('they are sorted by name without regard to case, also from page to page', async () => {
  const byName = ['Adam Admin', 'Mia Member', 'Olive Owner', 'zoe 100%', 'Zoe Alpha'];
  expect(await list('?sort=name')).toEqual(byName);
  expect(await list('?sort=name&order=desc')).toEqual(byName.toReversed());
  const read: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await team.owner.client.members.list.query({ id: team.id, sort: 'name', limit: 2, cursor });
    read.push(...page.members.map(({ name }) => name));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(read).toEqual(byName);
});

test('a search finds parts of names and addresses, and takes wildcards as they are', async () => {
  expect(await list('?search=ZOE')).toEqual(['zoe 100%', 'Zoe Alpha']);
  expect(await list('?search=%25')).toEqual(['zoe 100%']);
  expect(await list(`?search=${encodeURIComponent(team.admin.email.toUpperCase())}`)).toEqual(['Adam Admin']);
  expect(await list('?search=nobody')).toEqual([]);
});

test('an API key lists them with the scope of the workspace, and only in its own', async () => {
  const scopes = ['workspace:read' as const];
  const { apiKey } = await team.owner.client.apiKeys.create.mutate({ id: team.id, name: 'People', scopes });
  expect((await app.http.get(`${team.path}/members`, apiKey.full_key)).status).toBe(200);
  const other = await team.owner.client.apiKeys.create.mutate({ id: team.id, name: 'Rooms', scopes: ['rooms:read'] });
  expect((await app.http.get(`${team.path}/members`, other.apiKey.full_key)).status).toBe(403);
  expect((await app.http.get(`${team.path}/members`, team.outsider.token)).status).toBe(403);
});
