/** Webhooks: who may use which operation, lists, deletion, and that a secret is returned only once. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';
import { fieldNames, startWebhookWorld, VALID, WEBHOOK_FIELDS, type WebhookWorld } from './fixtures/webhook-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.close());

test('deleting a webhook returns {ok: true} once, and then 404', async () => {
  const { id } = await world.addWebhook();
  const responses = await concurrently(10, () => world.app.http.delete(`${world.path}/${id}`, world.team.owner.token));
  expect(countStatuses(responses)).toEqual({ 200: 1, 404: 9 });
  expect(responses.find(({ status }) => status === 200)?.body).toEqual({ ok: true });
  expect(await world.app.services.db.webhook.count({ where: { id } })).toBe(0);
});

test('the list has every webhook of the workspace, oldest first, with exactly these fields', async () => {
  const app = await startTestApp({ frozenAt: new Date('2026-03-01T00:00:00Z') });
  try {
    const { path, owner } = await addTeam(app);
    for (const name of ['B', 'A', 'C']) await app.http.post(`${path}/webhooks`, owner.token, { ...VALID, name });
    app.clock.advance(-60_000);
    await app.http.post(`${path}/webhooks`, owner.token, { ...VALID, name: 'Earlier' });
    const { status, body } = await app.http.get(`${path}/webhooks`, owner.token);
    expect(status).toBe(200);
    expect(fieldNames(body)).toEqual(['webhooks']);
    expect(body.webhooks.map(({ name }: { name: string }) => name)).toEqual(['Earlier', 'B', 'A', 'C']);
    for (const webhook of body.webhooks) expect(fieldNames(webhook)).toEqual(WEBHOOK_FIELDS);
  } finally {
    await app.close();
  }
});

test('any member can list the seven events, in this order', async () => {
  for (const { token } of [world.team.owner, world.team.admin, world.team.member]) {
    const { status, body } = await world.app.http.get(`${world.path}/events`, token);
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
});

/** The operations on one webhook. */
const WEBHOOK_OPERATIONS = [
  'update',
  'delete',
  'rotateSecret',
  'test',
  'deliveries',
  'resend',
  'resendFailed',
  'messages',
  'message',
  'resendMessage',
] as const;
const OPERATIONS = ['list', 'events', 'catalogue', 'create', ...WEBHOOK_OPERATIONS] as const;

describe.each(transports)('through %s', (_, transport) => {
  const call = async (name: string, token: string | undefined, input: Record<string, unknown>) => {
    const { status, body } = await transport(world.app, { name, token, input });
    const { message } = body as { message?: unknown };
    // In some successful responses `message` is an object.
    return [status, status === 200 ? undefined : message];
  };

  test('each operation is allowed for its roles only', async () => {
    const admins = ['owner', 'admin'];
    const allowedRoles = {
      list: admins,
      events: [...admins, 'member'],
      create: admins,
      update: admins,
      delete: ['owner'],
      deliveries: admins,
      catalogue: [...admins, 'member'],
      rotateSecret: admins,
      test: admins,
      resendFailed: admins,
      messages: admins,
    };
    for (const [operation, roles] of Object.entries(allowedRoles))
      for (const person of ['owner', 'admin', 'member', 'outsider'] as const) {
        const { id: webhookId } = await world.addWebhook();
        const before = await world.findRow(webhookId);
        const input = {
          id: world.team.id,
          ...(['list', 'events', 'catalogue'].includes(operation) ? {} : { webhookId, since: 0 }),
        };
        const fields = ['create', 'update'].includes(operation) ? { ...VALID, name: 'New' } : {};
        const outcome = await call(`webhooks.${operation}`, world.team[person].token, { ...input, ...fields });
        const isAllowed = roles.includes(person);
        expect(outcome, `${operation} by ${person}`).toEqual(isAllowed ? [200, undefined] : [403, 'Forbidden']);
        if (!isAllowed) expect(await world.findRow(webhookId)).toEqual(before);
      }
  });

  test('missing credentials, unknown workspaces and outsiders are refused before the input is validated', async () => {
    for (const operation of OPERATIONS) {
      const input = { id: 2_147_483_647, webhookId: 0, name: '', limit: 0, since: -1, deliveryId: 0, messageId: '' };
      expect(await call(`webhooks.${operation}`, undefined, input)).toEqual([401, 'Unauthorized']);
      expect(await call(`webhooks.${operation}`, world.team.owner.token, input)).toEqual([404, 'Workspace not found']);
      expect(await call(`webhooks.${operation}`, world.team.outsider.token, { ...input, id: world.team.id })).toEqual([
        403,
        'Forbidden',
      ]);
    }
  });

  test('a webhook of another workspace is indistinguishable from an unknown one', async () => {
    const foreign = await world.addWebhook({}, world.other);
    const before = await world.findRow(foreign.id);
    for (const operation of WEBHOOK_OPERATIONS) {
      const responses = [];
      for (const webhookId of [foreign.id, 2_147_483_647]) {
        const message = { deliveryId: 1, messageId: `msg_${'0'.repeat(32)}`, since: 0 };
        const update = operation === 'update' && { toggle: true, name: 'Taken' };
        const input = { id: world.team.id, webhookId, ...message, ...update };
        const { status, body } = await transport(world.app, {
          name: `webhooks.${operation}`,
          token: world.team.owner.token,
          input,
        });
        const { request_id, ...problem } = body as Record<string, unknown>;
        responses.push({ status, ...problem });
      }
      expect(responses[0]).toEqual({
        status: 404,
        error: 'Webhook not found',
        message: 'Webhook not found',
        code: 'NOT_FOUND',
      });
      expect(responses[1]).toEqual(responses[0]);
    }
    expect(await world.findRow(foreign.id)).toEqual(before);
  });

  test.each([1.5, 'abc'])('the webhook id %j is invalid: 400', async (webhookId) => {
    for (const operation of WEBHOOK_OPERATIONS) {
      const input = { id: world.team.id, webhookId, deliveryId: 1, messageId: '', since: 0 };
      expect(await call(`webhooks.${operation}`, world.team.owner.token, input)).toEqual([
        400,
        'webhookId must be a positive 32-bit integer',
      ]);
    }
  });

  test('an API key of the workspace may do what its creator may', async () => {
    const { apiKey } = await world.team.admin.client.apiKeys.create.mutate({ id: world.team.id, name: 'Deploy' });
    const { id: webhookId } = await world.addWebhook();
    const input = { id: world.team.id, webhookId };
    expect(await call('webhooks.create', apiKey.full_key, { ...VALID, id: world.team.id })).toEqual([200, undefined]);
    expect(await call('webhooks.update', apiKey.full_key, { ...input, toggle: true })).toEqual([200, undefined]);
    expect(await call('webhooks.list', apiKey.full_key, { id: world.team.id })).toEqual([200, undefined]);
    expect(await call('webhooks.delete', apiKey.full_key, input)).toEqual([403, 'Forbidden']);
  });
});

test('a secret is only in the response that creates it: in no list, update, error or log line', async () => {
  const { id, secret } = await world.addWebhook();
  const path = `${world.path}/${id}`;
  const rotated = await world.app.http.post(`${path}/rotate-secret`, world.team.owner.token);
  const secrets = [secret, rotated.body.webhook.secret];
  const seen: unknown[] = [];
  for (const call of [
    () => world.app.http.get(world.path, world.team.owner.token),
    () => world.app.http.patch(path, world.team.owner.token, { toggle: true, name: 'Other' }),
    () => world.app.http.patch(path, world.team.owner.token),
    () => world.app.http.patch(path, world.team.owner.token, { name: '', secret }),
    () => world.app.http.get(`${path}/deliveries`, world.team.owner.token),
    () => world.app.http.post(`${path}/test`, world.team.owner.token),
    () => world.app.http.post(`${path}/resend`, world.team.owner.token, { since: 0 }),
    () => world.app.http.get(world.path, world.team.member.token),
    () => world.app.http.delete(path, world.team.owner.token),
  ])
    seen.push((await call()).body);
  for (const value of secrets) expect(JSON.stringify(seen)).not.toContain(value.slice(6));
  expect(JSON.stringify(seen)).not.toMatch(/"secret"|whsec_/i);
  const logs = JSON.stringify(world.app.logLines);
  expect(world.app.logLines.length).toBeGreaterThan(0);
  expect(logs).not.toContain('whsec_');
  for (const value of secrets) expect(logs).not.toContain(value.slice(6));
});

test('a webhook outlives the account of its creator, with created_by null', async () => {
  const { id } = await world.addWebhook({}, world.other);
  expect((await world.app.http.delete('/api/auth/me', world.other.admin.token)).status).toBe(200);
  const { body } = await world.app.http.get(`${world.other.path}/webhooks`, world.other.owner.token);
  expect(body.webhooks.find((webhook: Record<string, unknown>) => webhook.id === id)).toMatchObject({
    created_by: null,
    is_active: 1,
  });
  expect((await world.app.http.delete(world.other.path, world.other.owner.token)).status).toBe(200);
  expect(await world.app.services.db.webhook.count({ where: { id } })).toBe(0);
});
