/** Calls with an API key: for whom and where it acts, what it may not do, and when it stops working. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { transports, viaTrpc } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { exchangeRequest } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team, upload } from '../support/world.ts';

const UNKNOWN = 2_147_483_647;

let app: TestApp;
let team: Team;
let other: Team;
beforeAll(async () => {
  app = await startTestApp();
  other = await addTeam(app, 'Other');
});
beforeEach(async () => {
  team = await addTeam(app);
});
afterAll(() => app.close());

type Key = { id: number; key: string };

async function newKey(by: Person = team.owner): Promise<Key> {
  const { body } = await app.http.post(`${team.path}/api-keys`, by.token, { name: 'Import' });
  return { id: body.apiKey.id, key: body.apiKey.full_key };
}

function expectError(answer: Answer, status: number, message: string): void {
  expect(answer).toMatchObject({ status, body: { error: message, message } });
}

function labelsWith(token: string): Promise<Answer> {
  return app.http.get(`${team.path}/labels`, token);
}

describe('a key acts for its creator', () => {
  test('and lists only its workspace', async () => {
    const { key } = await newKey();
    for (const transport of transports)
      expect(await transport[1](app, { name: 'workspaces.list', token: key, input: {} })).toMatchObject({
        status: 200,
        body: { workspaces: [{ id: team.id }] },
      });
    expect((await app.http.get('/api/workspaces', team.owner.token)).body.workspaces.length).toBe(2);
  });

  test('and what it creates belongs to the creator', async () => {
    const { key } = await newKey(team.admin);
    const label = await app.http.post(`${team.path}/labels`, key, { name: 'By key' });
    expect(label.body.label).toMatchObject({ created_by: team.admin.id, created_by_name: team.admin.name });
    const { status, body } = await upload(app, team.path, key);
    expect(status).toBe(200);
    expect(body.item).toMatchObject({ uploaded_by: team.admin.id });
  });

  test('through the typed client too', async () => {
    const { key } = await newKey();
    const client = createClient({ url: app.url, token: key });
    expect(await client.apiKeys.list.query({ id: team.id })).toMatchObject({ apiKeys: [{ name: 'Import' }] });
  });

  test('with their current role, not the role at its creation', async () => {
    const { key } = await newKey(team.admin);
    const member = `${team.path}/members/${team.admin.id}`;
    const create = (name: string) => app.http.post(`${team.path}/labels`, key, { name });
    expect((await create('As admin')).status).toBe(200);
    await app.http.patch(member, team.owner.token, { role: 'member' });
    expectError(await create('As member'), 403, 'Only owners and admins can create labels');
    expect((await labelsWith(key)).status).toBe(200);
    expectError(await app.http.get(`${team.path}/api-keys`, key), 403, 'Forbidden');
    expectError(await app.http.patch(team.path, key, { name: 'Mine' }), 403, 'Forbidden');
    await app.http.patch(member, team.owner.token, { role: 'owner' });
    expect((await app.http.patch(team.path, key, { name: 'Mine' })).status).toBe(200);
  });
});

describe.each(transports)('through %s, a key', (_, transport) => {
  const call = async (name: string, token: string, input: Record<string, unknown>) => {
    const { status, body } = await transport(app, { name, token, input });
    return [status, (body as { message?: string }).message];
  };

  test('is rejected with 403 in other workspaces, even of its creator, and with 404 in an unknown one', async () => {
    const { key } = await newKey();
    const { workspace } = await team.owner.client.workspaces.create.mutate({ name: 'Second' });
    for (const id of [other.id, workspace.id]) {
      expect(await call('workspaces.read', key, { id })).toEqual([403, 'Forbidden']);
      expect(await call('webhooks.list', key, { id })).toEqual([403, 'Forbidden']);
      expect(await call('labels.delete', key, { id, labelId: 1 })).toEqual([
        403,
        'Only owners and admins can delete labels',
      ]);
    }
    expect(await call('workspaces.read', key, { id: UNKNOWN })).toEqual([404, 'Workspace not found']);
  });

  test('is rejected with 403 where only sessions are accepted', async () => {
    const { id: keyId, key } = await newKey();
    const { token } = await other.owner.client.workspaces.invite.mutate({ id: other.id });
    const calls: [string, Record<string, unknown>][] = [
      ['auth.me', {}],
      ['auth.updateMe', { name: 'Taken over' }],
      ['auth.logout', {}],
      ['auth.deleteMe', {}],
      ['workspaces.create', { name: 'Mine' }],
      ['workspaces.join', { token }],
      ['apiKeys.create', { id: team.id, name: 'Child' }],
      ['apiKeys.toggle', { id: team.id, keyId }],
      ['apiKeys.delete', { id: team.id, keyId }],
      ['members.changeRole', { id: team.id, userId: team.member.id, role: 'owner' }],
      ['members.remove', { id: team.id, userId: team.member.id }],
      ['workspaces.invite', { id: team.id }],
      ['workspaces.revokeInvite', { id: team.id }],
      ['workspaces.delete', { id: team.id }],
      ['connections.create', { id: team.id, name: 'Video', provider: 'generic' }],
      ['connections.rotate', { id: team.id, connectionId: 1 }],
      ['connections.delete', { id: team.id, connectionId: 1 }],
    ];
    for (const [name, input] of calls) expect(await call(name, key, input), name).toEqual([403, 'Forbidden']);
    expect((await app.http.get('/api/auth/me', team.owner.token)).body.user.name).toBe(team.owner.name);
    expect(await app.services.db.apiKey.count({ where: { workspaceId: team.id, isActive: true } })).toBe(1);
    expect(await app.services.db.workspace.count({ where: { ownerId: team.owner.id } })).toBe(2);
    expect(await app.services.db.member.count({ where: { workspaceId: other.id, userId: team.owner.id } })).toBe(0);
  });

  test('is told first that the workspace is unknown or the role too low', async () => {
    const { key } = await newKey();
    expect(await call('apiKeys.create', key, { id: UNKNOWN, name: '' })).toEqual([404, 'Workspace not found']);
    expect(await call('apiKeys.create', key, { id: other.id, name: '' })).toEqual([403, 'Forbidden']);
    expect(await call('apiKeys.create', key, { id: team.id, name: '' })).toEqual([403, 'Forbidden']);
  });

  test('may list the keys', async () => {
    const { key } = await newKey();
    expect(await call('apiKeys.list', key, { id: team.id })).toEqual([200, undefined]);
  });
});

describe('a key stops working with the next call', () => {
  test('when it is deactivated, until it is activated again', async () => {
    const { id, key } = await newKey();
    const path = `${team.path}/api-keys/${id}`;
    expect((await labelsWith(key)).status).toBe(200);
    await app.http.patch(path, team.admin.token);
    expectError(await labelsWith(key), 401, 'Unauthorized');
    expectError(await app.http.get('/api/workspaces', key), 401, 'Unauthorized');
    expect((await viaTrpc(app, { name: 'workspaces.list', token: key, input: {} })).status).toBe(401);
    expect((await upload(app, team.path, key)).status).toBe(401);
    await app.http.patch(path, team.admin.token);
    expect((await labelsWith(key)).status).toBe(200);
  });

  test('when it is deleted', async () => {
    const { id, key } = await newKey();
    await app.http.delete(`${team.path}/api-keys/${id}`, team.owner.token);
    expectError(await labelsWith(key), 401, 'Unauthorized');
  });

  test('when its creator is removed or leaves', async () => {
    const removed = await newKey(team.admin);
    await app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
    expectError(await labelsWith(removed.key), 401, 'Unauthorized');
    await app.http.patch(`${team.path}/members/${team.member.id}`, team.owner.token, { role: 'admin' });
    const left = await newKey(team.member);
    expect((await labelsWith(left.key)).status).toBe(200);
    expect((await app.http.delete(`${team.path}/members/${team.member.id}`, team.member.token)).status).toBe(200);
    expectError(await labelsWith(left.key), 401, 'Unauthorized');
    const { body } = await app.http.get(`${team.path}/api-keys`, team.owner.token);
    for (const { created_by } of body.apiKeys) expect([team.admin.id, team.member.id]).toContain(created_by);
  });

  test('when the workspace is deleted', async () => {
    const { key } = await newKey();
    await app.http.delete(team.path, team.owner.token);
    expectError(await app.http.get(team.path, key), 401, 'Unauthorized');
  });

  test('but calls that began before are still answered', async () => {
    const { id, key } = await newKey();
    const [switched, ...answers] = await Promise.all([
      app.http.patch(`${team.path}/api-keys/${id}`, team.owner.token),
      ...Array.from({ length: 30 }, () => labelsWith(key)),
    ]);
    expect(switched.status).toBe(200);
    for (const { status } of answers) expect([200, 401]).toContain(status);
    expect(countStatuses(await concurrently(10, () => labelsWith(key)))).toEqual({ 401: 10 });
  });
});

describe('a text that is not a key is rejected with 401 and always the same body', () => {
  test.each([
    ['one character changed', (key: string) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')],
    ['one character of its prefix changed', (key: string) => `lnx_${key[4] === 'A' ? 'B' : 'A'}${key.slice(5)}`],
    ['the last character missing', (key: string) => key.slice(0, -1)],
    ['an additional character', (key: string) => `${key}A`],
    ['capitals', (key: string) => key.toUpperCase()],
    ['lower-case letters', (key: string) => key.toLowerCase()],
    ['the prefix of a session', (key: string) => `lns_${key.slice(4)}`],
    ['text after it', (key: string) => `${key} x`],
    ['a percent sign', (key: string) => `${key}%0A`],
    ['only the visible prefix', (key: string) => key.slice(0, 8)],
  ])('%s', async (_, change) => {
    const { key } = await newKey();
    const { status, body, headers } = await labelsWith(change(key));
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    const { request_id, ...problem } = body;
    expect(problem).toEqual({ error: 'Unauthorized', message: 'Unauthorized', code: 'UNAUTHORIZED' });
  });

  test.each([
    ['a tab after the scheme', (key: string) => `Bearer\t${key}`],
    ['another scheme', (key: string) => `Basic ${key}`],
    ['no scheme', (key: string) => key],
    ['the scheme twice', (key: string) => `Bearer Bearer ${key}`],
    ['a no-break space at its end', (key: string) => `Bearer ${key}\u00a0`],
    ['bytes beyond ASCII', (key: string) => `Bearer ${key}\u00e9`],
    ['quotes', (key: string) => `Bearer "${key}"`],
    ['10 kB behind it', (key: string) => `Bearer ${key}${'A'.repeat(10_000)}`],
  ])('in a header with %s', async (_, header) => {
    const { key } = await newKey();
    const headers = { authorization: header(key) };
    const { status, body } = await exchangeRequest(app.url, { target: `${team.path}/labels`, headers });
    expect(status).toBe(401);
    expect(JSON.parse(body).message).toBe('Unauthorized');
    expect(body).not.toContain(key.slice(8, 24));
  });

  test('a line feed in the header is never part of a key', async () => {
    const { key } = await newKey();
    const headers = { authorization: `Bearer ${key}\n` };
    const { status } = await exchangeRequest(app.url, { target: `${team.path}/labels`, headers });
    expect(status).toBe(400);
  });

  test('a key in the session cookie', async () => {
    const { key } = await newKey();
    for (const cookie of [`session=${key}`, `session=${key}%0A`, `session="${key}"`])
      expect((await app.http.call('GET', `${team.path}/labels`, { headers: { cookie } })).status, cookie).toBe(401);
  });

  test('a key in the query or the body', async () => {
    const { key } = await newKey();
    for (const name of ['token', 'access_token', 'api_key', 'authorization'])
      expect((await app.http.get(`${team.path}/labels?${name}=${key}`)).status).toBe(401);
  });
});

describe('the Authorization header takes precedence over the cookie', () => {
  const cookieOf = ({ token }: Person) => ({ cookie: `session=${token}` });

  test('the caller is the creator of the key, with the rights of the key', async () => {
    const { key } = await newKey(team.admin);
    const get = (path: string) => app.http.call('GET', path, { token: key, headers: cookieOf(other.owner) });
    expect((await get('/api/workspaces')).body.workspaces).toMatchObject([{ id: team.id }]);
    expectError(await get(other.path), 403, 'Forbidden');
    expectError(await get('/api/auth/me'), 403, 'Forbidden');
    const remove = await app.http.call('DELETE', team.path, { token: key, headers: cookieOf(team.owner) });
    expectError(remove, 403, 'Forbidden');
  });

  test('an invalid key is rejected even with a valid cookie', async () => {
    const { key } = await newKey();
    const headers = cookieOf(team.owner);
    const path = `${team.path}/labels`;
    expect((await app.http.call('GET', path, { headers })).status).toBe(200);
    expectError(await app.http.call('GET', path, { token: `${key}A`, headers }), 401, 'Unauthorized');
    const basic = { ...headers, authorization: 'Basic b3duZXI6cGFzc3dvcmQ=' };
    expectError(await app.http.call('GET', path, { headers: basic }), 401, 'Unauthorized');
  });
});

describe('last_used_at', () => {
  const lastUsed = async ({ id }: Key): Promise<Date | null> =>
    (await app.services.db.apiKey.findFirstOrThrow({ where: { id } })).lastUsedAt;

  test('is null until the key is used, and the first use is recorded before the answer', async () => {
    const key = await newKey();
    const list = () => app.http.get(`${team.path}/api-keys`, team.owner.token);
    expect((await list()).body.apiKeys[0].last_used_at).toBeNull();
    await labelsWith(key.key);
    const first = await lastUsed(key);
    expect(first).not.toBeNull();
    expect((await list()).body.apiKeys[0].last_used_at).toBe(Math.floor((first?.getTime() ?? 0) / 1000));
  });

  test('is recorded for a rejected call too, but never for an inactive key', async () => {
    const refused = await newKey();
    await app.http.get(other.path, refused.key);
    expect(await lastUsed(refused)).not.toBeNull();
    const inactive = await newKey();
    await app.http.patch(`${team.path}/api-keys/${inactive.id}`, team.owner.token);
    await labelsWith(inactive.key);
    expect(await lastUsed(inactive)).toBeNull();
  });

  test('is updated at most once a minute', async () => {
    const held = await startTestApp({ frozenAt: new Date('2026-03-01T12:00:00Z') });
    try {
      const { path, owner } = await addTeam(held);
      const { body } = await held.http.post(`${path}/api-keys`, owner.token, { name: 'Import' });
      const read = async () => (await held.services.db.apiKey.findFirstOrThrow()).lastUsedAt?.toISOString();
      const use = () => held.http.get(path, body.apiKey.full_key);
      await use();
      expect(await read()).toBe('2026-03-01T12:00:00.000Z');
      held.clock.advance(59_999);
      await use();
      // The update happens in the background, so wait long enough for one that must not happen.
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await read()).toBe('2026-03-01T12:00:00.000Z');
      held.clock.advance(1);
      await use();
      await expect.poll(read).toBe('2026-03-01T12:01:00.000Z');
      held.clock.advance(-3_600_000);
      await use();
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await read()).toBe('2026-03-01T12:01:00.000Z');
    } finally {
      await held.close();
    }
  });

  test('is written once by concurrent first calls, and once by concurrent calls a minute later', async () => {
    const key = await newKey();
    await app.services.db.$executeRaw`create table if not exists recorded_uses (key_id int)`;
    await app.services.db.$executeRaw`
      create or replace function record_use() returns trigger language plpgsql as
      'begin insert into recorded_uses values (new.id); return null; end'`;
    await app.services.db.$executeRaw`
      create or replace trigger record_use after update of last_used_at on api_keys
      for each row execute function record_use()`;
    const writes = async () => {
      const [row] = await app.services.db.$queryRaw<{ writes: number }[]>`
        select count(*)::int as writes from recorded_uses where key_id = ${key.id}`;
      return row?.writes;
    };
    await concurrently(20, () => labelsWith(key.key));
    expect(await writes()).toBe(1);
    const before = await lastUsed(key);
    app.clock.advance(61_000);
    await concurrently(20, () => labelsWith(key.key));
    await expect.poll(() => lastUsed(key)).not.toEqual(before);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await writes()).toBe(2);
  });
});

test('all keys and sessions of a user share one rate limit in a workspace', async () => {
  const limited = await startTestApp({ limits: { perUser: 8 } });
  try {
    const owner = await addPerson(limited);
    const { body: made } = await limited.http.post('/api/workspaces', owner.token, { name: 'Team' });
    const path = `/api/workspaces/${made.workspace.id}`;
    const keys: string[] = [];
    for (const name of ['A', 'B'])
      keys.push((await limited.http.post(`${path}/api-keys`, owner.token, { name })).body.apiKey.full_key);
    // Creating the two keys counts.
    const statuses: number[] = [];
    for (const token of [...keys, owner.token, ...keys, owner.token, ...keys, owner.token])
      statuses.push((await limited.http.get(path, token)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 429]);
    expect((await limited.http.get('/api/workspaces', owner.token)).status).toBe(200);
  } finally {
    await limited.close();
  }
});
