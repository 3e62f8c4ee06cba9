/** Which operations take API keys, and which scope each requires, over all operations of the API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes, toScope } from '../../src/core/scopes.ts';
import { requiredScopeOfRaw } from '../../src/trpc/raw-operation.ts';
import { transports } from '../contract/transports.ts';
import { document, operations, rawOperations } from '../support/api.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

/** Operations that no key may call, whatever its scopes. Removing one from this list is a decision about security. */
const SESSION_ONLY = [
  /^(?:auth|sessions|access|apps|secondFactor|passkeys|openid|emails|calendarFeed)\./,
  // Keys with the scope of the workspace list members, as they read the workspace.
  /^members\.(?:changeRole|remove)$/,
  /^workspaces\.(?:create|delete|join|signInRequirement|setSignInRequirement)$/,
  /^workspaces\.(?:joinDomain|setJoinDomain|listJoinable|joinByDomain)$/,
  /^workspaces\..*[iI]nvit/,
  /^invitations\./,
  /^participants\.join$/,
  // The console's. Keys delete at once.
  /^trash\./,
  /^connections\.(?:create|rotate|delete)$/,
  /^(?:audit|people)\.erase$/,
  /^apiKeys\.(?:create|toggle|rotate|delete)$/,
];

const isSessionOnly = (name: string): boolean => SESSION_ONLY.some((pattern) => pattern.test(name));

describe('the declaration of', () => {
  const ignoresKeys = new Set(['none', 'recognized']);
  const withCredential = operations.filter(({ credential }) => !ignoresKeys.has(credential));

  test.each(withCredential)('$name says whether it takes keys', ({ name, needsSession, requiredScope }) => {
    expect(needsSession).toBe(isSessionOnly(name));
    expect(requiredScope === null).toBe(needsSession);
  });

  test.each(operations.filter(({ credential }) => ignoresKeys.has(credential)))(
    '$name has no scope, because it ignores keys',
    ({ requiredScope }) => expect(requiredScope).toBeNull(),
  );

  test('operations yields the scopes that the document describes', () => {
    const described = [
      ...operations.map(({ method, path, requiredScope }) => ({ method, path, requiredScope })),
      ...rawOperations.map((one) => ({ ...one, requiredScope: requiredScopeOfRaw(one) })),
    ];
    for (const { method, path, requiredScope } of described) {
      // The document is plain JSON, which the generator's types do not describe.
      const paths = document.paths as Record<string, Record<string, { description?: string }>>;
      const text = paths[path]?.[method.toLowerCase()]?.description ?? '';
      if (requiredScope === null) expect(text, path).not.toContain('Scope of an API key');
      else expect(text, path).toContain(`\`${requiredScope.level}\` or \`${toScope(requiredScope)}\`.`);
      if (requiredScope) expect(scopes).toContain(toScope(requiredScope));
    }
  });

  test('operations gives each scope something to allow that no lower level allows', () => {
    const required = [
      ...operations.map(({ requiredScope }) => requiredScope),
      ...rawOperations.map(requiredScopeOfRaw),
    ];
    const used = new Set(required.flatMap((scope) => (scope === null ? [] : [scope.level, toScope(scope)])));
    expect([...scopes].sort()).toEqual([...used].sort());
  });

  test.each([
    ['labels.list', 'labels:read'],
    ['labels.create', 'labels:write'],
    ['labels.update', 'labels:write'],
    ['library.list', 'library:read'],
    ['library.update', 'library:write'],
    ['rooms.create', 'rooms:write'],
    ['participants.admit', 'rooms:write'],
    ['recordings.list', 'recordings:read'],
    ['webhooks.list', 'webhooks:read'],
    ['webhooks.create', 'webhooks:admin'],
    ['audit.list', 'audit:read'],
    ['apiKeys.list', 'api-keys:read'],
    ['workspaces.search', 'workspace:read'],
    ['workspaces.read', 'workspace:read'],
    ['workspaces.rename', 'workspace:admin'],
    ['retention.set', 'retention:admin'],
    ['analytics.read', 'analytics:read'],
    ['bookingPages.create', 'bookings:admin'],
    ['contacts.list', 'contacts:read'],
  ])('%s requires %s', (name, scope) => {
    const required = operations.find((one) => one.name === name)?.requiredScope;
    expect(required && toScope(required)).toBe(scope);
  });
});

describe.each(transports)('a key over %s', (_, transport) => {
  let app: TestApp;
  let team: Team;
  beforeAll(async () => {
    app = await startTestApp();
    team = await addTeam(app);
  });
  afterAll(() => app.close());

  const newKey = async (list: string[] | null): Promise<string> =>
    (await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Import', scopes: list })).body.apiKey
      .full_key;

  const call = async (token: string, name: string, input: object = {}) => {
    const { status, body } = await transport(app, { name, token, input: { id: team.id, ...input } });
    // `as`: an error body, or a result without these fields.
    const { code, message } = body as { code?: string; message?: string };
    return code === undefined ? status : [status, code, message];
  };

  const missing = (scope: string) => [403, 'SCOPE_MISSING', `This API key lacks the scope ${scope}`];

  test('without scopes may do everything that keys may', async () => {
    const key = await newKey(null);
    expect(await call(key, 'labels.create', { name: 'A' })).toBe(200);
    expect(await call(key, 'workspaces.rename', { name: 'Renamed' })).toBe(200);
    expect(await call(key, 'apiKeys.create', { name: 'B' })).toEqual([403, 'FORBIDDEN', 'Forbidden']);
  });

  test('with a level may do what the level includes', async () => {
    const [reader, writer, admin] = [await newKey(['read']), await newKey(['write']), await newKey(['admin'])];
    for (const key of [reader, writer, admin]) expect(await call(key, 'labels.list')).toBe(200);
    const item = (await upload(app, team.path, team.owner.token)).body.item.id;
    const rename = (key: string) => call(key, 'library.update', { itemId: item, name: 'Renamed' });
    expect([await rename(reader), await rename(writer), await rename(admin)]).toEqual([
      missing('library:write'),
      200,
      200,
    ]);
    for (const name of ['webhooks.list', 'audit.list', 'connections.list', 'retention.read'])
      for (const key of [reader, writer, admin]) expect([name, await call(key, name)]).toEqual([name, 200]);
    const set = (key: string) => call(key, 'retention.set', { media_retention_days: null });
    expect([await set(reader), await set(writer), await set(admin)]).toEqual([
      missing('retention:admin'),
      missing('retention:admin'),
      200,
    ]);
    expect(await call(admin, 'apiKeys.create', { name: 'B' })).toEqual([403, 'FORBIDDEN', 'Forbidden']);
  });

  test('limited to a resource may do nothing elsewhere', async () => {
    const key = await newKey(['library:write', 'analytics:read']);
    expect(await call(key, 'library.list')).toBe(200);
    expect(await call(key, 'analytics.read', { workspaceId: team.id })).toBe(200);
    expect(await call(key, 'labels.list')).toEqual(missing('labels:read'));
    expect(await call(key, 'rooms.create', { name: 'not-made' })).toEqual(missing('rooms:write'));
    expect((await upload(app, team.path, key)).status).toBe(200);
    const reader = await newKey(['library:read']);
    expect(await upload(app, team.path, reader)).toMatchObject({
      status: 403,
      body: { code: 'SCOPE_MISSING', message: 'This API key lacks the scope library:write' },
    });
  });

  test('creates labels with write, where its creator may', async () => {
    const label = { name: 'Written' };
    expect(await call(await newKey(['labels:read']), 'labels.create', label)).toEqual(missing('labels:write'));
    const key = await newKey(['labels:write']);
    expect(await call(key, 'labels.create', label)).toBe(200);
    expect(await call(key, 'library.list')).toEqual(missing('library:read'));
    const { body } = await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'A', scopes: ['write'] });
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    expect(await call(body.apiKey.full_key, 'labels.create', { name: 'Of a member' })).toEqual([
      ...[403, 'FORBIDDEN', 'Only owners and admins can create labels'],
    ]);
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'admin' });
  });

  test.each(['audit:write', 'labels:admin', 'analytics:admin', 'connections:write'])(
    'is not created with %s, which allows nothing that a lower level does not',
    async (scope) => {
      const input = { name: 'Nothing', scopes: ['read', scope] };
      const { status, body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, input);
      expect([status, body.issues?.[0].path]).toEqual([400, 'scopes.1']);
    },
  );

  test('finds by name only what its scopes let it read', async () => {
    await app.http.post('/api/dashboard/rooms', team.owner.token, { name: 'findable', workspace_id: team.id });
    await upload(app, team.path, team.owner.token, undefined, { fields: { name: 'findable' } });
    const find = async (list: string[]) => {
      const input = { id: team.id, search: 'findable' };
      const { body } = await transport(app, { name: 'workspaces.search', token: await newKey(list), input });
      // `as`: a result of the search.
      const { rooms, items } = body as { rooms: unknown[]; items: unknown[] };
      return [rooms.length > 0, items.length > 0];
    };
    expect(await find(['read'])).toEqual([true, true]);
    expect(await find(['workspace:read', 'rooms:read'])).toEqual([true, false]);
    expect(await find(['workspace:read', 'library:write'])).toEqual([false, true]);
    expect(await call(await newKey(['rooms:read']), 'workspaces.search', { search: 'findable' })).toEqual(
      missing('workspace:read'),
    );
  });

  test('is rejected for its role before its scopes', async () => {
    const { body } = await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'I', scopes: ['read'] });
    const key = body.apiKey.full_key;
    expect(await call(key, 'retention.read')).toEqual([403, 'FORBIDDEN', 'Forbidden']);
    expect(await call(key, 'labels.list', { id: 2_147_483_647 })).toEqual([404, 'NOT_FOUND', 'Workspace not found']);
  });

  test('does not obtain a stored answer that needs a scope it lacks', async () => {
    const writer = await newKey(['write']);
    const headers = { 'idempotency-key': 'scoped-1' };
    const input = { name: 'stored-answer' };
    const call = { name: 'rooms.create', token: writer, input, headers };
    expect((await transport(app, call)).status).toBeLessThan(300);
    const { id } = (await app.services.db.apiKey.findMany({ orderBy: { id: 'desc' }, take: 1 }))[0] ?? { id: 0 };
    await app.services.db.apiKey.updateMany({ where: { id }, data: { scopes: ['read'] } });
    expect(await transport(app, call)).toMatchObject({ status: 403, body: { code: 'SCOPE_MISSING' } });
    await app.http.delete('/api/dashboard/rooms/stored-answer', team.owner.token);
  });
});
