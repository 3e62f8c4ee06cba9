/** API keys of a workspace: who may manage them, what answers contain, and that the key itself is returned once. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let other: Team;
let keys: string;
beforeAll(async () => {
  // The tests create more keys than a workspace may have by default.
  app = await startTestApp({ settings: { quotas: { ...defaultQuotas, apiKeys: 0 } } });
  [team, other] = await Promise.all([addTeam(app), addTeam(app, 'Other')]);
  keys = `${team.path}/api-keys`;
});
afterAll(() => app.close());

const LISTED = [
  'allowed_networks',
  'belongs_to',
  'created_at',
  'created_by',
  'created_by_name',
  'expires_at',
  'id',
  'is_active',
  'key_prefix',
  'last_used_address',
  'last_used_at',
  'name',
  'previous_key',
  'rotated_at',
  'scopes',
  'workspace_id',
];

function fields(value: object): string[] {
  return Object.keys(value).sort();
}

type Key = { id: number; full_key: string } & Record<string, unknown>;

async function newKey(name = 'Import', of = team): Promise<Key> {
  const { status, body } = await app.http.post(`${of.path}/api-keys`, of.owner.token, { name });
  expect(status).toBe(200);
  return body.apiKey;
}

describe('creating a key', () => {
  test('returns exactly the documented fields, and the key itself', async () => {
    const { status, body } = await app.http.post(keys, team.admin.token, { name: '  Nightly import ' });
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['apiKey']);
    expect(fields(body.apiKey)).toEqual([...LISTED, 'full_key'].sort());
    expect(body.apiKey).toMatchObject({
      workspace_id: team.id,
      name: 'Nightly import',
      created_by: team.admin.id,
      created_by_name: team.admin.name,
      is_active: 1,
      last_used_at: null,
    });
    expect(body.apiKey.full_key).toMatch(/^lnx_[0-9A-Za-z]{40}$/);
    expect(body.apiKey.key_prefix).toBe(body.apiKey.full_key.slice(0, 8));
    expect(Math.abs(body.apiKey.created_at - Date.now() / 1000)).toBeLessThan(30);
  });

  test('stores the SHA-256 of the key, and the key nowhere', async () => {
    const { id, full_key: key } = await newKey();
    const row = await app.services.db.apiKey.findFirstOrThrow({ where: { id } });
    expect(Buffer.from(row.keyHash)).toEqual(createHash('sha256').update(key).digest());
    const dump = JSON.stringify(await dumpTables(app));
    expect(dump).not.toContain(key.slice(8));
    expect(dump).not.toContain(Buffer.from(key).toString('hex'));
  });

  test.each([
    ['no body', undefined, 'Name is required'],
    ['no name', {}, 'Name is required'],
    ['null', { name: null }, 'Name is required'],
    ['an empty name', { name: '' }, 'Name is required'],
    ['blanks', { name: ' \t\u00a0' }, 'Name is required'],
    ['a number', { name: 5 }, 'name must be a string'],
    ['101 characters', { name: '🐈'.repeat(101) }, 'name must have at most 100 characters'],
    ['a NUL', { name: 'a\u0000' }, 'name must not contain control characters or invalid Unicode'],
  ])('refuses %s', async (_, json, message) => {
    const before = await dumpTables(app);
    const { status, body } = await app.http.post(keys, team.owner.token, json);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: message, message, issues: [{ path: 'name', message }] });
    expect(await dumpTables(app)).toEqual(before);
  });

  test('ignores fields that only the service sets', async () => {
    const { body } = await app.http.post(keys, team.owner.token, {
      name: 'Greedy',
      id: 1,
      workspace_id: other.id,
      created_by: other.owner.id,
      is_active: 0,
      full_key: `lnx_${'A'.repeat(40)}`,
      last_used_at: 1,
    });
    expect(body.apiKey).toMatchObject({ workspace_id: team.id, created_by: team.owner.id, is_active: 1 });
    expect(body.apiKey.last_used_at).toBeNull();
    expect(body.apiKey.full_key).not.toContain('AAAAAAAAAA');
  });

  test('returns different keys to 50 concurrent callers', async () => {
    const made = await concurrently(50, (index) => newKey(`Parallel ${index}`));
    expect(new Set(made.map(({ full_key }) => full_key)).size).toBe(50);
  });
});

test('the list has every key of the workspace, oldest first, with exactly the documented fields', async () => {
  const held = await startTestApp({ frozenAt: new Date('2026-03-01T00:00:00Z') });
  try {
    const { path, owner, id } = await addTeam(held);
    for (const name of ['B', 'A', 'C']) await held.http.post(`${path}/api-keys`, owner.token, { name });
    held.clock.advance(-60_000);
    await held.http.post(`${path}/api-keys`, owner.token, { name: 'Earlier' });
    const { status, body } = await held.http.get(`${path}/api-keys`, owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['apiKeys']);
    expect(body.apiKeys.map(({ name }: { name: string }) => name)).toEqual(['Earlier', 'B', 'A', 'C']);
    for (const key of body.apiKeys) {
      expect(fields(key)).toEqual(LISTED);
      expect(key.workspace_id).toBe(id);
    }
  } finally {
    await held.close();
  }
});

describe('toggling a key', () => {
  const patch = (id: number, json?: unknown) => app.http.patch(`${keys}/${id}`, team.admin.token, json);

  test('without a body, or with an empty one, toggles the state', async () => {
    const { full_key: _, ...key } = await newKey();
    for (const [json, is_active] of [[undefined, 0] as const, [{}, 1] as const, [undefined, 0] as const]) {
      const { status, body } = await patch(key.id, json);
      expect(status).toBe(200);
      expect(body).toEqual({ apiKey: { ...key, is_active } });
    }
  });

  test.each([
    [0, 0],
    [false, 0],
    [1, 1],
    [true, 1],
  ])('with is_active %j sets, also when it is that already', async (sent, is_active) => {
    const { id } = await newKey();
    for (let times = 0; times < 2; times += 1)
      expect((await patch(id, { is_active: sent })).body.apiKey).toMatchObject({ id, is_active });
  });

  test.each([
    [true, 0],
    [false, 1],
  ])('with toggle %j leaves is_active %i', async (toggle, is_active) => {
    const { id } = await newKey();
    expect((await patch(id, { toggle })).body.apiKey).toMatchObject({ id, is_active });
  });

  test('with fields that it does not know, and no other, is rejected and changes nothing', async () => {
    const { id } = await newKey();
    for (const json of [{ name: 'Renamed' }, { active: false }, { name: 'Renamed', isActive: 0 }, { is_active: null }])
      expect(await patch(id, json)).toMatchObject({
        status: 400,
        body: { message: 'Send is_active or toggle, or an empty body', issues: [{ path: 'is_active' }] },
      });
    expect((await app.services.db.apiKey.findFirstOrThrow({ where: { id } })).isActive).toBe(true);
  });

  test.each(['0', 'false', 2, -1, 0.5, [1], {}])('rejects is_active %j', async (sent) => {
    const { id } = await newKey();
    const { status, body } = await patch(id, { is_active: sent });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message: 'is_active must be one of 0, 1, false, true',
      issues: [{ path: 'is_active' }],
    });
    expect((await app.services.db.apiKey.findFirstOrThrow({ where: { id } })).isActive).toBe(true);
  });

  test('changes no other field', async () => {
    const { full_key: _, ...key } = await newKey();
    const { body } = await patch(key.id, { is_active: 1, name: 'Other', id: 1, workspace_id: 1, created_by: 1 });
    expect(body.apiKey).toEqual(key);
  });

  test('50 times concurrently ends in the original state: no change is lost', async () => {
    const { id } = await newKey();
    const answers = await concurrently(50, () => patch(id));
    expect(countStatuses(answers)).toEqual({ 200: 50 });
    const active = answers.filter(({ body }) => body.apiKey.is_active === 1);
    expect(active.length).toBe(25);
    expect((await app.services.db.apiKey.findFirstOrThrow({ where: { id } })).isActive).toBe(true);
  });
});

describe('deleting a key', () => {
  test('returns {ok: true} once, then 404', async () => {
    const { id } = await newKey();
    expect(await app.http.delete(`${keys}/${id}`, team.owner.token)).toMatchObject({ status: 200, body: { ok: true } });
    const again = await app.http.delete(`${keys}/${id}`, team.owner.token);
    expect(again).toMatchObject({ status: 404, body: { message: 'API key not found' } });
    expect(await app.services.db.apiKey.count({ where: { id } })).toBe(0);
  });

  test('20 times concurrently succeeds exactly once', async () => {
    const { id } = await newKey();
    const answers = await concurrently(20, () => app.http.delete(`${keys}/${id}`, team.owner.token));
    expect(countStatuses(answers)).toEqual({ 200: 1, 404: 19 });
  });

  test('works while it is being toggled', async () => {
    await concurrently(10, async () => {
      const { id } = await newKey();
      const [switched, deleted] = await Promise.all([
        app.http.patch(`${keys}/${id}`, team.owner.token),
        app.http.delete(`${keys}/${id}`, team.owner.token),
      ]);
      expect([200, 404]).toContain(switched.status);
      expect(deleted.status).toBe(200);
    });
  });
});

describe.each(transports)('through %s', (_, transport) => {
  const call = async (name: string, token: string | undefined, input: Record<string, unknown>) => {
    const { status, body } = await transport(app, { name, token, input });
    return [status, (body as { message?: string }).message];
  };

  test('owner and admins may list, create and toggle keys, only the owner may delete them', async () => {
    const may = { list: ['owner', 'admin'], create: ['owner', 'admin'], toggle: ['owner', 'admin'], delete: ['owner'] };
    for (const [operation, people] of Object.entries(may))
      for (const person of ['owner', 'admin', 'member', 'outsider'] as const) {
        const { id: keyId } = await newKey();
        const input = { id: team.id, keyId, ...(operation === 'create' && { name: 'New' }) };
        const outcome = await call(`apiKeys.${operation}`, team[person].token, input);
        expect(outcome, `${operation} by ${person}`).toEqual(
          people.includes(person) ? [200, undefined] : [403, 'Forbidden'],
        );
        expect(await app.services.db.apiKey.count({ where: { id: keyId, isActive: true } })).toBe(
          outcome[0] === 200 && operation !== 'list' && operation !== 'create' ? 0 : 1,
        );
      }
  });

  test('without a credential it is 401, in an unknown workspace 404', async () => {
    for (const operation of ['list', 'create', 'toggle', 'delete']) {
      const input = { id: 2_147_483_647, keyId: 1, name: 'New' };
      expect(await call(`apiKeys.${operation}`, undefined, input)).toEqual([401, 'Unauthorized']);
      expect(await call(`apiKeys.${operation}`, team.owner.token, input)).toEqual([404, 'Workspace not found']);
    }
  });

  test('a key of another workspace is answered like an unknown one', async () => {
    const foreign = await newKey('Foreign', other);
    for (const operation of ['toggle', 'delete']) {
      const answers = [];
      for (const keyId of [foreign.id, 2_147_483_647]) {
        const { status, body } = await transport(app, {
          name: `apiKeys.${operation}`,
          token: team.owner.token,
          input: { id: team.id, keyId },
        });
        const { request_id, ...problem } = body as Record<string, unknown>;
        answers.push({ status, ...problem });
      }
      expect(answers[0]).toEqual({
        status: 404,
        error: 'API key not found',
        message: 'API key not found',
        code: 'NOT_FOUND',
      });
      expect(answers[1]).toEqual(answers[0]);
    }
    expect(await app.services.db.apiKey.count({ where: { id: foreign.id, isActive: true } })).toBe(1);
  });

  test.each([1.5, 'abc'])('%j is not a key ID: 400', async (keyId) => {
    for (const operation of ['toggle', 'delete'])
      expect(await call(`apiKeys.${operation}`, team.owner.token, { id: team.id, keyId })).toEqual([
        400,
        'keyId must be a positive 32-bit integer',
      ]);
  });
});

test('only the answer to the creation contains the key: no list, update, error or log does', async () => {
  const { id, full_key: key } = await newKey();
  const seen: unknown[] = [];
  for (const call of [
    () => app.http.get(keys, team.owner.token),
    () => app.http.get(keys, key),
    () => app.http.get('/api/workspaces', key),
    () => app.http.patch(`${keys}/${id}`, team.owner.token, { is_active: key }),
    () => app.http.patch(`${keys}/${id}`, key),
    () => app.http.get(other.path, key),
    () => app.http.get('/api/workspaces/2147483647', key),
    () =>
      app.http.call('POST', `${team.path}/labels`, {
        token: key,
        body: `{"${key}`,
        headers: { 'content-type': 'application/json' },
      }),
    () => app.http.patch(`${keys}/${id}`, team.owner.token),
    () => app.http.get('/api/workspaces', key),
    () => app.http.delete(`${keys}/${id}`, team.owner.token),
  ])
    seen.push((await call()).body);
  expect(JSON.stringify(seen)).not.toContain(key.slice(8, 24));
  expect(app.logLines.length).toBeGreaterThan(0);
  expect(JSON.stringify(app.logLines)).not.toContain(key.slice(8, 24));
});

test('deleting the workspace or the account of the creator deletes the keys', async () => {
  const gone = await addTeam(app, 'Gone');
  const { id } = await newKey('With it', gone);
  const { body } = await app.http.post(`${gone.path}/api-keys`, gone.admin.token, { name: 'Of the admin' });
  expect((await app.http.delete('/api/auth/me', gone.admin.token)).status).toBe(200);
  const list = await app.http.get(`${gone.path}/api-keys`, gone.owner.token);
  expect(list.body.apiKeys).toMatchObject([{ id }]);
  expect((await app.http.get('/api/workspaces', body.apiKey.full_key)).status).toBe(401);
  expect((await app.http.delete(gone.path, gone.owner.token)).status).toBe(200);
  expect(await app.services.db.apiKey.count({ where: { workspaceId: gone.id } })).toBe(0);
});
