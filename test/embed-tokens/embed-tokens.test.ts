/** Tokens for a part of a workspace in pages of other products: what they allow, and when they end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { MAX_EMBED_TOKENS } from '../../src/features/embed-tokens/embed-tokens.ts';
import { rows } from '../contract/operations.ts';
import { validCall } from '../contract/row.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { isServed, transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { jpeg } from '../support/images.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

const scopes = {
  read: { kind: 'library', access: 'read' },
  upload: { kind: 'library', access: 'upload' },
  webhooks: { kind: 'webhooks' },
};

const ofEach = ['embedTokens.current', 'branding.read'];
const reads = [...ofEach, 'library.list', 'library.read', 'library.download', 'library.file', 'library.poster'];
const uploads = [
  'library.upload',
  'library.createUpload',
  'library.appendUpload',
  'library.readUpload',
  'library.cancelUpload',
  'library.setPoster',
];

/** Everything else is refused. Adding a name is a decision about security. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  read: reads,
  upload: [...reads, ...uploads],
  webhooks: [
    ...ofEach,
    'webhooks.list',
    'webhooks.events',
    'webhooks.catalogue',
    'webhooks.create',
    'webhooks.update',
    'webhooks.test',
    'webhooks.deliveries',
    'webhooks.resend',
    'webhooks.resendFailed',
    'webhooks.messages',
    'webhooks.message',
    'webhooks.resendMessage',
  ],
};

describe.each(transports)('over %s', (_, call) => {
  let world: World;
  let scene: Scene;
  beforeAll(async () => {
    world = await createWorld(await startTestApp());
    scene = await world.addScene();
  });
  afterAll(() => world.app.close());

  const operations = Object.entries(rows).filter(
    ([name, { who }]) => who !== 'anyone' && who !== 'provider' && isServed(name, call),
  );

  test.each(Object.entries(scopes))('a token for %s allows nothing else', async (name, scope) => {
    const path = `/api/workspaces/${scene.workspaceId}/embed-tokens`;
    const { token } = (await world.app.http.post(path, scene.owner.token, scope)).body;
    const others = operations.filter(([operation]) => !allowed[name]?.includes(operation));
    for (const [operation, row] of others) {
      const { status, body } = await call(world.app, { ...validCall(operation, row, scene, scene.owner), token });
      // What takes no keys takes no embed token, with the same error.
      expect([operation, status, body]).toMatchObject([
        operation,
        403,
        { code: row.keys ? 'EMBED_SCOPE' : 'FORBIDDEN' },
      ]);
    }
  });

  test.each(Object.entries(scopes))('a token for %s allows what it says', async (name, scope) => {
    const path = `/api/workspaces/${scene.workspaceId}/embed-tokens`;
    const { token } = (await world.app.http.post(path, scene.owner.token, scope)).body;
    // A poster is allowed for what the token has uploaded, see below.
    const listed = allowed[name]?.filter((operation) => operation !== 'library.setPoster');
    for (const [operation, row] of operations.filter(([one]) => listed?.includes(one))) {
      const { status } = await call(world.app, { ...validCall(operation, row, scene, scene.owner), token });
      expect([operation, status]).not.toEqual([
        operation,
        expect.toSatisfy((code: number) => [401, 403].includes(code)),
      ]);
    }
  });
});

describe('a token', () => {
  let app: TestApp;
  let team: Team;
  beforeAll(async () => {
    app = await startTestApp();
    team = await addTeam(app);
  });
  afterAll(() => app.close());

  const make = (by: string, json: object = scopes.read) => app.http.post(`${team.path}/embed-tokens`, by, json);
  const use = async (token: string) => (await app.http.get(`${team.path}/library`, token)).status;
  const addKey = async (json: object, by = team.owner.token) =>
    (await app.http.post(`${team.path}/api-keys`, by, { name: 'Key', ...json })).body.apiKey;

  test('reads and uploads, is stored as a hash, is listed and audited, and ends when it is revoked', async () => {
    const { status, body } = await make(team.owner.token, scopes.upload);
    expect([status, body]).toMatchObject([200, { embed_token: scopes.upload, token: expect.stringMatching(/^lne_/) }]);
    expect((await upload(app, team.path, body.token)).status).toBe(200);
    const current = await app.http.get(`${team.path}/embed-tokens/current`, body.token);
    expect(current.body).toEqual({ scope: { ...scopes.upload, label_id: null } });
    expect((await app.http.get(`${team.path}/embed-tokens/current`, team.owner.token)).body).toEqual({ scope: null });
    const { id } = body.embed_token;
    const list = await app.http.get(`${team.path}/embed-tokens`, team.admin.token);
    expect(list.body.embed_tokens).toContainEqual(body.embed_token);
    expect(body.embed_token).toMatchObject({ created_by_name: team.owner.name, label_id: null, label_name: null });
    expect(JSON.stringify(list.body)).not.toContain(body.token);
    const stored = await app.services.db.embedToken.findFirstOrThrow({ where: { id } });
    expect(stored.tokenHash.length).toBe(32);
    expect((await app.http.delete(`${team.path}/embed-tokens/${id}`, team.admin.token)).status).toBe(200);
    expect(await use(body.token)).toBe(401);
    const { body: log } = await app.http.get(`${team.path}/audit?target_kind=embed_token`, team.owner.token);
    expect(log.entries.map(({ action }: { action: string }) => action)).toEqual([
      'embed_token.revoked',
      'embed_token.created',
    ]);
  });

  test('sets the poster of what it has uploaded, once, and of nothing else', async () => {
    const before = (await upload(app, team.path, team.owner.token)).body.item;
    const { token } = (await make(team.owner.token, scopes.upload)).body;
    const setPoster = async (itemId: number, by = token) => {
      const image = new Blob([Uint8Array.from(jpeg)]);
      return createClient({ url: app.url, token: by }).setPoster({ id: team.id, itemId, image });
    };
    const { item } = (await upload(app, team.path, token)).body;
    expect((await setPoster(item.id)).poster_url).not.toBeNull();
    const ofOther = (await upload(app, team.path, team.member.token)).body.item;
    for (const { id } of [item, before, ofOther])
      await expect(setPoster(id)).rejects.toMatchObject({ code: 'EMBED_SCOPE' });
    const read = (await make(team.owner.token)).body.token;
    const next = (await upload(app, team.path, token)).body.item;
    await expect(setPoster(next.id, read)).rejects.toMatchObject({ code: 'EMBED_SCOPE' });
  });

  test('works in its workspace only', async () => {
    const { body } = await make(team.owner.token);
    const other = await addTeam(app);
    expect((await app.http.get(`${other.path}/library`, body.token)).status).toBe(403);
  });

  test('ends when it expires', async () => {
    const { body } = await make(team.owner.token);
    const where = { workspaceId_id: { workspaceId: team.id, id: body.embed_token.id } };
    await app.services.db.embedToken.update({ where, data: { expiresAt: new Date(Date.now() - 1) } });
    expect(await use(body.token)).toBe(401);
  });

  test('ends with the role of its maker', async () => {
    const { body } = await make(team.admin.token);
    expect(await use(body.token)).toBe(200);
    const setRole = (role: string) =>
      app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role });
    await setRole('member');
    expect(await use(body.token)).toBe(401);
    await setRole('admin');
  });

  test.each(['user', 'workspace'])('ends with the key of the %s with which it was made', async (belongs_to) => {
    const key = await addKey({ belongs_to });
    const { body } = await make(key.full_key);
    expect(await use(body.token)).toBe(200);
    await app.http.patch(`${team.path}/api-keys/${key.id}`, team.owner.token, { is_active: false });
    expect(await use(body.token)).toBe(401);
  });

  test('allows no more than the key with which it is made', async () => {
    const key = await addKey({ scopes: ['workspace:admin', 'library:read'] });
    expect((await make(key.full_key)).status).toBe(200);
    for (const json of [scopes.upload, scopes.webhooks])
      expect(await make(key.full_key, json)).toMatchObject({ status: 403, body: { code: 'SCOPE_MISSING' } });
  });

  test('is one of at most as many as a workspace may have', async () => {
    const { id: workspaceId, owner } = await addTeam(app);
    const now = new Date();
    const expiresAt = new Date(now.getTime() + 3_600_000);
    await app.services.db.embedToken.createMany({
      data: Array.from({ length: MAX_EMBED_TOKENS - 2 }, (_, index) => {
        const tokenHash = new Uint8Array(32);
        new DataView(tokenHash.buffer).setUint32(0, index);
        return { workspaceId, kind: 'webhooks', tokenHash, createdBy: owner.id, createdAt: now, expiresAt };
      }),
    });
    const answers = await concurrently(4, () =>
      app.http.post(`/api/workspaces/${workspaceId}/embed-tokens`, owner.token, scopes.webhooks),
    );
    expect(countStatuses(answers)).toEqual({ 200: 2, 409: 2 });
  });
});
