/** Workspaces: names and slugs, Personal, the list, and deletion. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toWorkspaceSlug } from '../../src/features/workspaces/create-workspace.ts';
import { dumpTables } from '../support/dump.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function create(token: string, name: string) {
  return (await app.http.post('/api/workspaces', token, { name })).body;
}

describe('a slug', () => {
  test.each([
    ['Design Team', 'design-team'],
    ['  Crème   brûlée!  ', 'creme-brulee'],
    ['A--b__c', 'a-b-c'],
    ['ﬁnance ①', 'finance-1'],
    ['株式会社', 'workspace'],
    ['---', 'workspace'],
    ['x'.repeat(100), 'x'.repeat(60)],
    [`${'x'.repeat(59)} y`, 'x'.repeat(59)],
  ])('of %j is %s', (name, slug) => {
    expect(toWorkspaceSlug(name)).toBe(slug);
  });

  test('that is taken gets -2, -3 and so on, except those that are taken too', async () => {
    const { token } = await addPerson(app);
    const slugs: string[] = [];
    for (const name of ['Slug', 'Slug 3', 'slug', 'SLUG', 'Slug'])
      slugs.push((await create(token, name)).workspace.slug);
    expect(slugs).toEqual(['slug', 'slug-3', 'slug-2', 'slug-4', 'slug-5']);
  });

  test('does not change when the workspace is renamed', async () => {
    const { token } = await addPerson(app);
    const { workspace } = await create(token, 'Before');
    const { body } = await app.http.patch(`/api/workspaces/${workspace.id}`, token, { name: 'After' });
    expect(body.workspace).toMatchObject({ name: 'After', slug: workspace.slug });
  });
});

describe('the name of a workspace', () => {
  test('is trimmed, has at most 100 characters, and need not be unique', async () => {
    const { token } = await addPerson(app);
    expect((await create(token, '  Same  ')).workspace.name).toBe('Same');
    expect((await create(token, 'Same')).workspace.name).toBe('Same');
    expect((await create(token, '🐈'.repeat(100))).workspace.name).toBe('🐈'.repeat(100));
    const tooLong = await app.http.post('/api/workspaces', token, { name: 'a'.repeat(101) });
    expect(tooLong).toMatchObject({ status: 400, body: { message: 'name must have at most 100 characters' } });
  });

  test.each(['a\u0000b', 'a\udc00b', 'a\nb', 'a\u0085b'])(
    'is rejected with control characters or invalid Unicode: %j',
    async (name) => {
      const { token } = await addPerson(app);
      expect(await app.http.post('/api/workspaces', token, { name })).toMatchObject({
        status: 400,
        body: { message: 'name must not contain control characters or invalid Unicode' },
      });
    },
  );
});

test('fields that only the service sets are ignored', async () => {
  const person = await addPerson(app);
  const other = await addPerson(app);
  const sneaky = {
    name: 'Sneaky',
    id: 1,
    slug: 'mine',
    owner_id: other.id,
    ownerId: other.id,
    is_personal: 1,
    isPersonal: true,
    media_retention_days: 7,
    mediaRetentionDays: 7,
    invite_token: 'x',
    role: 'member',
    created_at: 0,
  };
  const { workspace } = await create(person.token, 'Honest');
  const created = (await app.http.post('/api/workspaces', person.token, sneaky)).body.workspace;
  expect(created).toMatchObject({
    slug: 'sneaky',
    owner_id: person.id,
    is_personal: 0,
    media_retention_days: null,
    role: 'owner',
  });
  expect(created.created_at).toBeGreaterThan(0);
  const renamed = await app.http.patch(`/api/workspaces/${workspace.id}`, person.token, sneaky);
  expect(renamed.body.workspace).toEqual({ ...workspace, name: 'Sneaky' });
});

describe('the list', () => {
  test('has exactly the workspaces of which the caller is a member, oldest first', async () => {
    const person = await addPerson(app);
    const names = ['Zeta', 'Alpha', 'Mid'];
    for (const name of names) await create(person.token, name);
    const team = await addTeam(app);
    const { token } = (await app.http.post(`${team.path}/invite`, team.owner.token)).body;
    await app.http.post(`/api/workspaces/join/${token}`, person.token);
    const { body } = await app.http.get('/api/workspaces', person.token);
    const listed = body.workspaces.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(['Personal', ...names, 'Team']);
  });
});

describe('Personal', () => {
  const personalOf = async (token: string): Promise<string> =>
    `/api/workspaces/${(await app.http.get('/api/workspaces', token)).body.workspaces[0].id}`;

  test('is created with its user, who is its only member', async () => {
    const person = await addPerson(app);
    const { body } = await app.http.get(await personalOf(person.token), person.token);
    expect(body.workspace).toMatchObject({ name: 'Personal', is_personal: 1, role: 'owner', owner_id: person.id });
    expect(body.workspace.members).toMatchObject([{ id: person.id, role: 'owner' }]);
    expect(body.workspace.members[0].joined_at).toBe(body.workspace.created_at);
  });

  test('may be renamed, but not deleted', async () => {
    const { token } = await addPerson(app);
    const path = await personalOf(token);
    expect((await app.http.patch(path, token, { name: 'My own' })).status).toBe(200);
    const before = await dumpTables(app);
    expect(await app.http.delete(path, token)).toMatchObject({
      status: 400,
      body: { message: 'The Personal workspace cannot be deleted' },
    });
    expect(await dumpTables(app)).toEqual(before);
  });
});

describe('a deleted workspace', () => {
  test('is deleted with all its data and files, and nothing else is', async () => {
    const team = await addTeam(app, 'Doomed');
    const other = await addTeam(app, 'Staying');
    for (const { path, member, owner } of [team, other]) {
      const label = await app.http.post(`${path}/labels`, owner.token, { name: 'Label' });
      const item = await upload(app, path, member.token);
      const labels = `${path}/library/${item.body.item.id}/labels`;
      await app.http.post(labels, member.token, { labelId: label.body.label.id });
    }
    expect(await storedKeys(app, team.id)).toHaveLength(1);
    const before = await dumpTables(app);

    expect(await app.http.delete(team.path, team.owner.token)).toMatchObject({ status: 200, body: { ok: true } });

    const isOfTeam = (row: Record<string, unknown>, table: string): boolean =>
      (table === 'workspaces' ? row.id : row.workspace_id) === team.id;
    const expected = Object.fromEntries(
      Object.entries(before).map(([table, rows]) => [table, rows.filter((row) => !isOfTeam(row, table))]),
    );
    const { account_events: events = [], ...after } = await dumpTables(app);
    const { account_events: eventsBefore = [], ...others } = expected;
    expect(after).toEqual(others);
    // The log of the account keeps the deletion.
    const added = events.filter(({ id }) => !eventsBefore.some((event) => event.id === id));
    expect(events).toHaveLength(eventsBefore.length + 1);
    expect(added).toMatchObject([{ action: 'workspace_deleted', user_id: team.owner.id }]);
    // The files are removed after the answer.
    await expect.poll(() => storedKeys(app, team.id)).toEqual([]);
    expect(await storedKeys(app, other.id)).toHaveLength(1);
  });

  test('is 404 for everyone, like one that never existed', async () => {
    const team = await addTeam(app);
    await app.http.delete(team.path, team.owner.token);
    for (const { token } of [team.owner, team.member, team.outsider])
      expect(await app.http.get(team.path, token)).toMatchObject({
        status: 404,
        body: { message: 'Workspace not found' },
      });
  });
});

describe('the origins that may embed a workspace', () => {
  const change = ({ path, owner }: Team, body: object) => app.http.patch(path, owner.token, body);

  test('are replaced as browsers write them, beside the name or alone, and recorded', async () => {
    const team = await addTeam(app);
    const sent = ['https://App.Example.com/', 'https://app.example.com', 'https://bücher.example:8443'];
    const origins = ['https://app.example.com', 'https://xn--bcher-kva.example:8443'];
    const { body } = await change(team, { embed_origins: sent });
    expect(body.workspace).toMatchObject({ name: 'Team', embed_origins: origins });
    expect((await change(team, { name: 'Other' })).body.workspace).toMatchObject({
      name: 'Other',
      embed_origins: origins,
    });
    expect((await team.owner.client.workspaces.read.query({ id: team.id })).workspace.embed_origins).toEqual(origins);
    expect((await change(team, { embed_origins: [] })).body.workspace.embed_origins).toEqual([]);
    const { entries } = await team.owner.client.audit.list.query({
      id: team.id,
      action: 'workspace.embed_origins_changed',
    });
    expect(entries).toMatchObject([
      { before: { embed_origins: origins }, after: { embed_origins: [] } },
      { before: { embed_origins: [] }, after: { embed_origins: origins } },
    ]);
  });

  test('need TLS, except this machine in development', async () => {
    const team = await addTeam(app);
    const local = { embed_origins: ['http://localhost:5173'] };
    expect((await change(team, local)).body.workspace).toMatchObject(local);
    const production = await startTestApp({ settings: { embedsInHttp: false } });
    try {
      const other = await addTeam(production);
      const refused = await production.http.patch(other.path, other.owner.token, local);
      expect(refused).toMatchObject({
        status: 400,
        body: { message: 'embed_origins must begin with https://', issues: [{ path: 'embed_origins' }] },
      });
    } finally {
      await production.close();
    }
  });
});
