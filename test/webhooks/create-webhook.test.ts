/** Creating webhooks: their fields, what is refused, and how the secret is stored. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_EVENTS } from '../support/all-events.ts';
import { concurrently } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { invalidInputs } from './fixtures/invalid-inputs.ts';
import { fieldNames, startWebhookWorld, VALID, WEBHOOK_FIELDS, type WebhookWorld } from './fixtures/webhook-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.close());

describe('creating a webhook', () => {
  test('returns exactly its fields, its events as a JSON-encoded array, and its secret', async () => {
    const { status, body } = await world.create({ ...VALID, name: ' Chat\t', url: ` ${VALID.url} ` });
    expect(status).toBe(200);
    expect(fieldNames(body)).toEqual(['webhook']);
    expect(fieldNames(body.webhook)).toEqual([...WEBHOOK_FIELDS, 'secret'].sort());
    expect(body.webhook).toMatchObject({
      workspace_id: world.team.id,
      name: 'Chat',
      url: VALID.url,
      events: '["room.created","member.joined"]',
      is_active: 1,
      created_by: world.team.admin.id,
      last_delivery_at: null,
      failure_count: 0,
      disabled_reason: null,
      previous_secret_expires_at: null,
    });
    expect(Math.abs(body.webhook.created_at - Date.now() / 1000)).toBeLessThan(30);
    expect(body.webhook.updated_at).toBe(body.webhook.created_at);
  });

  test('creates a secret of whsec_ and 24 random bytes in base64', async () => {
    const created = await concurrently(20, () => world.addWebhook());
    for (const { secret } of created) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
      expect(Buffer.from(secret.slice(6), 'base64').length).toBe(24);
    }
    expect(new Set(created.map(({ secret }) => secret)).size).toBe(20);
  });

  test('stores the secret sealed for this workspace, and nowhere in plain text', async () => {
    const { id, secret } = await world.addWebhook();
    const { sealedSecret } = await world.findRow(id);
    const context = { workspaceId: world.team.id, purpose: 'webhook secret' } as const;
    expect(world.app.services.sealer.open(sealedSecret, context)).toBe(secret);
    expect(() => world.app.services.sealer.open(sealedSecret, { ...context, workspaceId: world.other.id })).toThrow();
    const raw = Buffer.from(secret.slice(6), 'base64');
    const stored = Buffer.from(sealedSecret);
    for (const part of [secret, secret.slice(6), raw, raw.toString('hex')]) expect(stored.includes(part)).toBe(false);
    const dump = JSON.stringify(await dumpTables(world.app));
    for (const part of [secret.slice(6), raw.toString('hex'), Buffer.from(secret).toString('hex')])
      expect(dump).not.toContain(part);
  });

  test('ignores fields that a caller cannot set', async () => {
    const ignored = {
      id: 1,
      workspace_id: world.other.id,
      created_by: world.other.owner.id,
      is_active: 0,
      failure_count: 9,
    };
    const webhook = await world.addWebhook({ ...ignored, secret: 'whsec_mine', disabled_reason: 'x', toggle: true });
    expect(webhook).toMatchObject({
      workspace_id: world.team.id,
      created_by: world.team.admin.id,
      is_active: 1,
      failure_count: 0,
    });
    expect(webhook.disabled_reason).toBeNull();
    expect(webhook.secret).not.toBe('whsec_mine');
  });
});

test.each(invalidInputs)('a webhook with %s is refused, and nothing is written', async (_, part, path, message) => {
  const before = await world.app.services.db.webhook.count();
  const { status, body } = await world.create({ ...VALID, ...part });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: message, message, code: 'BAD_REQUEST' });
  expect(body.issues).toContainEqual({ path, message });
  expect(await world.app.services.db.webhook.count()).toBe(before);
});

test('creating a webhook without a body names all three fields', async () => {
  const { status, body } = await world.create(undefined);
  expect(status).toBe(400);
  expect(body.issues).toEqual([
    { path: 'name', message: 'Name is required' },
    { path: 'url', message: 'url is required' },
    { path: 'events', message: 'events is required' },
  ]);
});

test('a list of many invalid events is refused for its length, with one issue', async () => {
  const { status, body } = await world.create({ ...VALID, events: Array.from({ length: 2_000 }, () => 0) });
  expect(status).toBe(400);
  expect(body.issues).toEqual([{ path: 'events', message: 'events must have at most 100 entries' }]);
});

test.each([
  'http://example.com',
  'HTTPS://EXAMPLE.COM/Path?q=a@b#c@d',
  'https://example.com:8443/webhook',
  'https://example.com./',
  'https://b\u00fccher.example/',
  'https://93.184.216.34/',
  'https://[2606:2800:220:1::1]:8443/x',
  'https://example.com/@user',
  'https://example.com?x=user:pw@host',
  `https://example.com/${'b'.repeat(2_028)}`,
])('the url %.60s is stored as it is', async (url) => {
  expect((await world.addWebhook({ url })).url).toBe(url);
});

test('a webhook can subscribe to every event, in any order; duplicates are dropped', async () => {
  const reversed = [...ALL_EVENTS].reverse();
  const webhook = await world.addWebhook({ events: [...reversed, ...ALL_EVENTS] });
  expect(JSON.parse(String(webhook.events))).toEqual(reversed);
  expect((await world.addWebhook({ events: ['room.left', 'room.left'] })).events).toBe('["room.left"]');
});
