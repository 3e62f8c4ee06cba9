/** The quotas of a workspace and of a user, at each operation that adds something. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultQuotas, type Quotas } from '../../src/quotas/quotas.ts';
import { join } from '../participants/rooms.ts';
import { concurrently } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
const quotas: Quotas = { ...defaultQuotas };
beforeAll(async () => {
  app = await startTestApp({ settings: { quotas } });
});
afterAll(() => app.close());

/** Sets quotas for one test. The others have their defaults. */
function setQuotas(some: Partial<Quotas>): void {
  Object.assign(quotas, defaultQuotas, some);
}

async function usage(team: Team): Promise<Record<string, { used: number; quota: number | null }>> {
  return (await app.http.get(`${team.path}/usage`, team.member.token)).body.usage;
}

async function post(team: Team, path: string, body?: object): Promise<[number, string | undefined]> {
  const at = path.startsWith('/') ? path : `${team.path}/${path}`;
  const answer = await app.http.post(at, team.owner.token, body);
  return [answer.status, typeof answer.body.message === 'string' ? answer.body.message : undefined];
}

const WEBHOOK = { url: 'https://example.com/hook', events: ['room.created'] };

test.each([
  ['labels', 'labels', 'labels', 'QUOTA_LABELS', {}],
  ['webhooks', 'webhooks', 'webhooks', 'QUOTA_WEBHOOKS', WEBHOOK],
  ['apiKeys', 'api-keys', 'API keys', 'QUOTA_API_KEYS', {}],
  ['connections', 'connections', 'connections', 'QUOTA_CONNECTIONS', { provider: 'generic' }],
] as const)(
  '%s: one more than the quota is 409, and after a deletion there is place',
  async (name, path, text, setting, more) => {
    const team = await addTeam(app);
    setQuotas({ [name]: 2 });
    const create = (label: string) => app.http.post(`${team.path}/${path}`, team.owner.token, { name: label, ...more });
    const first = await create('one');
    expect([first.status, (await create('two')).status]).toEqual([200, 200]);
    expect(await post(team, path, { name: 'three', ...more })).toEqual([
      409,
      `The workspace has reached the quota of 2 ${text} (${setting})`,
    ]);
    const [created] = Object.values(first.body) as { id: number }[];
    await app.http.delete(`${team.path}/${path}/${created?.id}`, team.owner.token);
    expect((await create('three')).status).toBe(200);
    setQuotas({ [name]: 0 });
    expect((await create('four')).status).toBe(200);
    const key = name === 'apiKeys' ? 'api_keys' : name;
    expect((await usage(team))[key]).toEqual({ used: 3, quota: null });
  },
);

test('workspaces: a user owns at most the quota, and may join others', async () => {
  const team = await addTeam(app);
  setQuotas({ workspaces: 3 });
  const create = () => app.http.post('/api/workspaces', team.member.token, { name: 'More' });
  // The first one is Personal.
  expect([(await create()).status, (await create()).status]).toEqual([200, 200]);
  const refused = await create();
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'You have reached the quota of 3 workspaces (QUOTA_WORKSPACES)',
  ]);
});

test('members: joining a full workspace is 409, and joining again is not', async () => {
  const team = await addTeam(app);
  const { token } = (await app.http.post(`${team.path}/invite`, team.owner.token)).body;
  const stranger = await addTeam(app);
  setQuotas({ members: 3 });
  const joinAs = (by: string) => app.http.post(`/api/workspaces/join/${token}`, by);
  const refused = await joinAs(stranger.owner.token);
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'The workspace has reached the quota of 3 members (QUOTA_MEMBERS)',
  ]);
  expect((await joinAs(team.member.token)).status).toBe(200);
  expect((await usage(team)).members).toEqual({ used: 3, quota: 3 });
});

test('rooms: one more than the quota is 409; concurrent calls may exceed it, but no later call does', async () => {
  const team = await addTeam(app);
  setQuotas({ rooms: 3 });
  const create = () => post(team, '/api/dashboard/rooms', { workspace_id: team.id });
  const statuses = await concurrently(8, create);
  expect(statuses.filter(([status]) => status === 201).length).toBeGreaterThanOrEqual(3);
  expect(await create()).toEqual([409, 'The workspace has reached the quota of 3 rooms (QUOTA_ROOMS)']);

  const other = await addTeam(app);
  const createThere = () => post(other, '/api/dashboard/rooms', { workspace_id: other.id });
  for (let count = 1; count <= 3; count += 1) expect((await createThere())[0]).toBe(201);
  expect((await createThere())[0]).toBe(409);
  expect((await usage(other)).rooms).toEqual({ used: 3, quota: 3 });
});

test('items and bytes: an upload beyond the quota is 409 and leaves nothing behind', async () => {
  const team = await addTeam(app);
  setQuotas({ items: 1 });
  const { item } = (await upload(app, team.path, team.member.token)).body;
  expect((await usage(team)).bytes).toEqual({ used: item.size, quota: defaultQuotas.bytes });
  const second = await upload(app, team.path, team.member.token);
  expect([second.status, second.body.message]).toEqual([
    409,
    'The workspace has reached the quota of 1 library items (QUOTA_ITEMS)',
  ]);
  setQuotas({ bytes: item.size * 2 - 1 });
  const third = await upload(app, team.path, team.member.token);
  expect([third.status, third.body.message]).toEqual([
    409,
    `The workspace has reached the quota of ${item.size * 2 - 1} bytes (QUOTA_BYTES)`,
  ]);
  expect((await usage(team)).items?.used).toBe(1);
  await app.http.delete(`${team.path}/library/${item.id}`, team.member.token);
  expect((await usage(team)).bytes?.used).toBe(0);
  expect((await upload(app, team.path, team.member.token)).status).toBe(200);
});

test('contacts: creating and importing stop at the quota; renaming and joining go on', async () => {
  const team = await addTeam(app);
  setQuotas({ contacts: 2 });
  const message = 'The workspace has reached the quota of 2 contacts (QUOTA_CONTACTS)';
  const create = (name: string) => post(team, 'contacts', { name, email: `${name}@example.com` });
  expect([(await create('a'))[0], (await create('b'))[0]]).toEqual([200, 200]);
  expect(await create('c')).toEqual([409, message]);
  const send = async (csv: string) => {
    const headers = { authorization: `Bearer ${team.owner.token}`, 'content-type': 'text/csv' };
    return fetch(`${app.url}${team.path}/contacts/import`, { method: 'POST', headers, body: csv });
  };
  expect((await send('name,email\nRenamed,a@example.com\n')).status).toBe(200);
  const refused = await send('email\nd@example.com\n');
  expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([409, message]);
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  const guest = { name: 'Guest', email: 'new@example.com' };
  expect((await app.http.post(`/api/rooms/${room.name}/join`, undefined, guest)).status).toBe(200);
  expect((await usage(team)).contacts).toEqual({ used: 2, quota: 2 });
});

test('bytes: the recordings of guests count, and a full workspace refuses to start one', async () => {
  const team = await addTeam(app);
  setQuotas({ bytes: 1 });
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  const { token } = (await join(app, room.name, { name: 'Guest' })).body.participant;
  await app.services.db.workspace.update({ where: { id: team.id }, data: { storedBytes: 1 } });
  const refused = await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token });
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'The workspace has reached the quota of 1 bytes (QUOTA_BYTES)',
  ]);
});

test('stored_bytes is the sum of the files, whatever happens to them', async () => {
  const team = await addTeam(app);
  setQuotas({});
  const { db } = app.services;
  const workspaceId = team.id;
  const now = app.clock.now();
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  const common = { workspaceId, roomId: room.id as number, status: 'started', createdAt: now, updatedAt: now };
  const stored = async () => (await db.workspace.findUniqueOrThrow({ where: { id: workspaceId } })).storedBytes;
  await db.recording.createMany({ data: ['a', 'b'].map((archiveId) => ({ ...common, archiveId, size: 100 })) });
  // Without a file, the size is only an announcement.
  expect(await stored()).toBe(0n);
  const file = { status: 'available', sha256: new Uint8Array(32), endedAt: now };
  await db.recording.updateMany({
    where: { workspaceId, archiveId: 'a' },
    data: { ...file, fileKey: 'v1/a', size: 70 },
  });
  await db.recording.updateMany({
    where: { workspaceId, archiveId: 'b' },
    data: { ...file, fileKey: 'v1/b', size: 30 },
  });
  expect(await stored()).toBe(100n);
  await db.recording.deleteMany({ where: { workspaceId, archiveId: 'a' } });
  expect(await stored()).toBe(30n);
  await db.room.deleteMany({ where: { workspaceId } });
  expect(await stored()).toBe(0n);
});
