/** The tables of the API contract for API keys and webhooks, row by row. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { expectError, fields, isUnixSeconds } from './expectations.ts';
import { createWorld, type Scene, type World } from './scene.ts';

let app: TestApp;
let world: World;
let scene: Scene;
beforeAll(async () => {
  app = await startTestApp();
  world = await createWorld(app);
});
afterAll(() => app.close());

async function newScene(): Promise<string> {
  scene = await world.addScene();
  return `/api/workspaces/${scene.workspaceId}`;
}

const UNKNOWN = 2_147_483_647;

describe('API keys', () => {
  const KEY = [
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

  test('GET /api/workspaces/:id/api-keys lists the keys for owners and admins, without full_key', async () => {
    const path = `${await newScene()}/api-keys`;
    for (const { token } of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['apiKeys']);
      expect(body.apiKeys).toHaveLength(2);
      const [key] = body.apiKeys;
      expect(fields(key)).toEqual(KEY);
      expect(key).toMatchObject({
        id: scene.keyId,
        workspace_id: scene.workspaceId,
        name: 'Nightly import',
        key_prefix: scene.key.slice(0, 8),
        created_by: scene.owner.id,
        created_by_name: 'Olive',
        is_active: 1,
        last_used_at: null,
      });
      expect(isUnixSeconds(key.created_at)).toBe(true);
      expect(JSON.stringify(body)).not.toContain(scene.key);
    }
    expectError(await app.http.get(path, scene.member.token), 403, 'Forbidden');
  });

  test('the first call with a key sets last_used_at', async () => {
    const path = await newScene();
    const readKey = async () => (await app.http.get(`${path}/api-keys`, scene.owner.token)).body.apiKeys[0];
    expect((await readKey()).last_used_at).toBeNull();
    expect((await app.http.get(`${path}/labels`, scene.key)).status).toBe(200);
    expect(isUnixSeconds((await readKey()).last_used_at)).toBe(true);
  });

  test('POST /api/workspaces/:id/api-keys returns the full key, to owners and admins only', async () => {
    const path = `${await newScene()}/api-keys`;
    for (const by of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.post(path, by.token, { name: 'Robot' });
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['apiKey']);
      expect(fields(body.apiKey)).toEqual([...KEY, 'full_key'].sort());
      expect(body.apiKey).toMatchObject({ name: 'Robot', created_by: by.id, is_active: 1, last_used_at: null });
      expect(body.apiKey.full_key).toMatch(/^lnx_[0-9A-Za-z]{40}$/);
      expect(body.apiKey.key_prefix).toBe(body.apiKey.full_key.slice(0, 8));
    }
    for (const { token } of [scene.member, scene.outsider])
      expectError(await app.http.post(path, token, { name: 'Robot' }), 403, 'Forbidden');
    expectError(await app.http.post(path, scene.key, { name: 'Robot' }), 403, 'Forbidden');
    for (const name of [undefined, '', ' ', null])
      expectError(await app.http.post(path, scene.owner.token, { name }), 400, 'Name is required');
  });

  test('PATCH /api/workspaces/:id/api-keys/:keyId inverts is_active, or sets it to the value in the body', async () => {
    const path = `${await newScene()}/api-keys/${scene.keyId}`;
    for (const [json, is_active] of [
      [undefined, 0],
      [{}, 1],
      [{ is_active: 1 }, 1],
      [{ is_active: false }, 0],
      [{ is_active: 0 }, 0],
      [{ is_active: true }, 1],
    ] as const) {
      const { status, body } = await app.http.patch(path, scene.admin.token, json);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['apiKey']);
      expect(fields(body.apiKey)).toEqual(KEY);
      expect(body.apiKey).toMatchObject({ id: scene.keyId, is_active });
      // An inactive key is rejected.
      expect((await app.http.get('/api/workspaces', scene.key)).status).toBe(is_active === 1 ? 200 : 401);
    }
    expectError(await app.http.patch(path, scene.member.token, {}), 403, 'Forbidden');
    const unknown = `/api/workspaces/${scene.workspaceId}/api-keys/${UNKNOWN}`;
    expectError(await app.http.patch(unknown, scene.owner.token, {}), 404, 'API key not found');
  });

  test('DELETE /api/workspaces/:id/api-keys/:keyId deletes a key, for the owner only', async () => {
    const path = `${await newScene()}/api-keys/${scene.keyId}`;
    for (const token of [scene.admin.token, scene.member.token, scene.key])
      expectError(await app.http.delete(path, token), 403, 'Forbidden');
    const answer = await app.http.delete(path, scene.owner.token);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expectError(await app.http.delete(path, scene.owner.token), 404, 'API key not found');
    expectError(await app.http.get('/api/workspaces', scene.key), 401, 'Unauthorized');
  });

  test('a whole key is accepted as a bearer token, and a prefix or altered key is rejected', async () => {
    const path = `${await newScene()}/labels`;
    expect((await app.http.get(path, scene.key)).status).toBe(200);
    for (const token of [scene.key.slice(0, 8), scene.key.slice(0, -1), `${scene.key}0`, scene.key.toLowerCase()])
      expectError(await app.http.get(path, token), 401, 'Unauthorized');
  });
});

describe('webhooks', () => {
  const WEBHOOK = [
    'created_at',
    'created_by',
    'disabled_reason',
    'events',
    'failure_count',
    'id',
    'is_active',
    'last_delivery_at',
    'name',
    'previous_secret_expires_at',
    'updated_at',
    'url',
    'workspace_id',
  ];
  const VALID = { name: 'Alerts', url: 'https://example.com/alerts?x=1', events: ['room.joined', 'member.left'] };

  test('GET /api/workspaces/:id/webhooks lists the webhooks for owners and admins, without their secrets', async () => {
    const path = `${await newScene()}/webhooks`;
    for (const { token } of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['webhooks']);
      expect(body.webhooks).toHaveLength(2);
      for (const webhook of body.webhooks) expect(fields(webhook)).toEqual(WEBHOOK);
      expect(body.webhooks[1]).toMatchObject({ id: scene.idle.webhookId, is_active: 0 });
      expect(body.webhooks[0]).toMatchObject({
        id: scene.webhookId,
        workspace_id: scene.workspaceId,
        name: 'Chat',
        url: 'https://example.com/hook',
        events: '["room.left","member.left"]',
        is_active: 1,
      });
    }
    expectError(await app.http.get(path, scene.member.token), 403, 'Forbidden');
  });

  test('GET /api/workspaces/:id/webhooks/events lists the seven documented events for any member', async () => {
    const path = `${await newScene()}/webhooks/events`;
    for (const { token } of [scene.owner, scene.admin, scene.member]) {
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      expect(body).toEqual({
        events: [
          'room.created',
          'room.joined',
          'room.left',
          'recording.started',
          'recording.completed',
          'member.joined',
          'member.left',
        ],
      });
    }
    expectError(await app.http.get(path, scene.outsider.token), 403, 'Forbidden');
  });

  test('POST /api/workspaces/:id/webhooks returns the webhook with its secret, to owners and admins only', async () => {
    const path = `${await newScene()}/webhooks`;
    for (const by of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.post(path, by.token, VALID);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['webhook']);
      expect(fields(body.webhook)).toEqual([...WEBHOOK, 'secret'].sort());
      expect(body.webhook).toMatchObject({
        name: VALID.name,
        url: VALID.url,
        events: '["room.joined","member.left"]',
        is_active: 1,
        created_by: by.id,
        last_delivery_at: null,
        failure_count: 0,
        disabled_reason: null,
      });
      expect(body.webhook.secret).toMatch(/^whsec_[0-9A-Za-z+/]{32}$/);
      expect(isUnixSeconds(body.webhook.created_at)).toBe(true);
      expect(body.webhook.updated_at).toBe(body.webhook.created_at);
    }
    for (const { token } of [scene.member, scene.outsider])
      expectError(await app.http.post(path, token, VALID), 403, 'Forbidden');
  });

  test('POST webhooks rejects a call without name, url or events', async () => {
    const path = `${await newScene()}/webhooks`;
    for (const [field, message] of [
      ['name', 'Name is required'],
      ['url', 'url is required'],
      ['events', 'events is required'],
    ] as const)
      expectError(await app.http.post(path, scene.owner.token, { ...VALID, [field]: undefined }), 400, message);
    expectError(
      await app.http.post(path, scene.owner.token, { ...VALID, events: [] }),
      400,
      'events must name at least one event',
    );
    expect((await app.http.get(path, scene.owner.token)).body.webhooks).toHaveLength(2);
  });

  test('PATCH /api/workspaces/:id/webhooks/:webhookId changes only the fields that are sent', async () => {
    const path = `${await newScene()}/webhooks/${scene.webhookId}`;
    const { token } = scene.admin;
    for (const [json, changed] of [
      [{}, { name: 'Chat', is_active: 1 }],
      [{ toggle: true }, { is_active: 0 }],
      [{ toggle: false }, { is_active: 0 }],
      [{ toggle: true }, { is_active: 1 }],
      [{ name: 'New' }, { name: 'New', url: 'https://example.com/hook', is_active: 1 }],
      [{ url: VALID.url }, { name: 'New', url: VALID.url }],
      [{ events: VALID.events }, { url: VALID.url, events: '["room.joined","member.left"]' }],
    ] as const) {
      const { status, body } = await app.http.patch(path, token, json);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['webhook']);
      expect(fields(body.webhook)).toEqual(WEBHOOK);
      expect(body.webhook).toMatchObject({ id: scene.webhookId, ...changed });
    }
    expectError(await app.http.patch(path, scene.member.token, { name: 'No' }), 403, 'Forbidden');
    const unknown = `/api/workspaces/${scene.workspaceId}/webhooks/${UNKNOWN}`;
    expectError(await app.http.patch(unknown, token, { toggle: true }), 404, 'Webhook not found');
  });

  test('DELETE /api/workspaces/:id/webhooks/:webhookId deletes a webhook, for the owner only', async () => {
    const path = `${await newScene()}/webhooks/${scene.webhookId}`;
    for (const { token } of [scene.admin, scene.member])
      expectError(await app.http.delete(path, token), 403, 'Forbidden');
    const answer = await app.http.delete(path, scene.owner.token);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expectError(await app.http.delete(path, scene.owner.token), 404, 'Webhook not found');
    expectError(await app.http.get(`${path}/deliveries`, scene.owner.token), 404, 'Webhook not found');
  });

  test('GET /api/workspaces/:id/webhooks/:webhookId/deliveries lists the attempts for owners and admins', async () => {
    const path = `${await newScene()}/webhooks/${scene.webhookId}/deliveries`;
    for (const { token } of [scene.owner, scene.admin]) {
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      expect(body).toEqual({
        deliveries: [
          {
            id: scene.deliveryId,
            webhook_id: scene.webhookId,
            delivery_id: scene.messageId,
            attempt: 1,
            event: 'room.left',
            payload: '{"event":"room.left"}',
            response_status: 200,
            sequence: null,
            response_body: 'ok',
            success: 1,
            duration_ms: 120,
            created_at: expect.any(Number),
          },
        ],
      });
      expect(isUnixSeconds(body.deliveries[0].created_at)).toBe(true);
    }
    expectError(await app.http.get(path, scene.member.token), 403, 'Forbidden');
  });

  test('GET deliveries returns the 50 newest by default, and rejects a limit outside 1 to 100', async () => {
    const path = `${await newScene()}/webhooks/${scene.webhookId}/deliveries`;
    const { db } = app.services;
    const { id: _, ...known } = await db.webhookDelivery.findFirstOrThrow({ where: { webhookId: scene.webhookId } });
    await db.webhookDelivery.createMany({
      data: Array.from({ length: 60 }, (_, index) => ({ ...known, attempt: index + 2 })),
    });
    const attempts = async (query: string): Promise<number[]> =>
      (await app.http.get(path + query, scene.owner.token)).body.deliveries.map(
        ({ attempt }: { attempt: number }) => attempt,
      );
    expect(await attempts('')).toEqual(Array.from({ length: 50 }, (_, index) => 61 - index));
    expect(await attempts('?limit=100')).toHaveLength(61);
    expect(await attempts('?limit=1&offset=60')).toEqual([1]);
    for (const limit of [0, 101])
      expectError(
        await app.http.get(`${path}?limit=${limit}`, scene.owner.token),
        400,
        'limit must be an integer between 1 and 100',
      );
  });
});
