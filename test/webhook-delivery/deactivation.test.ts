/** Webhooks that are deactivated, by the service or by an admin, deleted, or given another URL. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { wakeRelay } from '../../src/webhook-delivery/pending-messages.ts';
import { respond, startReceiver } from '../support/receiver.ts';
import { PASSWORD } from '../support/world.ts';
import { createGate, type DeliveryWorld, startDeliveryWorld, type TestWebhook } from './fixtures/world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

function update({ path }: TestWebhook, change: object) {
  return world.app.http.patch(path, world.team.owner.token, change);
}

function countMessages({ id: webhookId }: TestWebhook, status: string): Promise<number> {
  return world.app.services.db.webhookMessage.count({ where: { webhookId, status } });
}

test('410 deactivates the webhook and cancels its pending messages', async () => {
  const webhook = await world.addWebhook({ handler: respond(500) });
  await world.createRoom();
  const [pending] = await world.waitForDeliveries(webhook, 1);
  webhook.receiver.respondWith(respond(410, 'gone'));
  await world.createRoom();
  const deliveries = await world.waitForDeliveries(webhook, 2);
  const gone = deliveries.find(({ delivery_id }) => delivery_id !== pending?.delivery_id);
  expect(gone).toMatchObject({ response_status: 410, success: 0 });
  expect(await world.readWebhook(webhook)).toMatchObject({
    is_active: 0,
    disabled_reason: 'The receiver responded with 410 Gone',
  });
  expect(await world.readMessage(webhook, pending?.delivery_id)).toMatchObject({
    status: 'cancelled',
    next_attempt_at: null,
  });
  expect(await world.readMessage(webhook, gone?.delivery_id)).toMatchObject({
    status: 'failed',
    next_attempt_at: null,
  });
  await world.delivery.makeRetriesDue();
  await world.createRoom();
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(2);
  await world.removeWebhook(webhook);
});

test('a late 410 from a URL that the webhook no longer has does not deactivate it', async () => {
  const gate = createGate(respond(410));
  const webhook = await world.addWebhook({ handler: gate.handler });
  await world.createRoom();
  await webhook.receiver.waitFor(1);
  const elsewhere = await startReceiver();
  await update(webhook, { url: `${elsewhere.url}/new` });
  gate.open();
  expect(await world.waitForDeliveries(webhook, 1)).toMatchObject([{ response_status: 410 }]);
  expect(await world.readWebhook(webhook)).toMatchObject({ is_active: 1, failure_count: 0, disabled_reason: null });
  await elsewhere.close();
  await world.removeWebhook(webhook);
});

test('five days in which every attempt fails deactivate the webhook, unless one succeeds in between', async () => {
  const { app } = world;
  const webhook = await world.addWebhook({ handler: respond(500) });
  let count = 0;
  const attempt = async (): Promise<void> => {
    count += 1;
    await world.createRoom();
    await world.waitForDeliveries(webhook, count);
  };
  await attempt();
  app.clock.advance(5 * DAY_MS - MINUTE_MS);
  await attempt();
  expect(await world.readWebhook(webhook)).toMatchObject({ is_active: 1, disabled_reason: null });
  webhook.receiver.respondWith(respond(200));
  await attempt();
  webhook.receiver.respondWith(respond(500));
  app.clock.advance(HOUR_MS);
  await attempt();
  expect(await world.readWebhook(webhook)).toMatchObject({ is_active: 1, disabled_reason: null });
  app.clock.advance(5 * DAY_MS);
  await attempt();
  expect(await world.readWebhook(webhook)).toMatchObject({
    is_active: 0,
    disabled_reason: 'All attempts of the last 5 days failed',
  });
  await update(webhook, { toggle: true });
  expect(await world.readWebhook(webhook)).toMatchObject({ is_active: 1, disabled_reason: null, failure_count: 0 });
  await world.removeWebhook(webhook);
});

describe('deactivating a webhook', () => {
  test('cancels its pending messages, which are sent only when they are resent', async () => {
    const { app, team, delivery } = world;
    app.clock.advance(MINUTE_MS);
    const webhook = await world.addWebhook({ handler: respond(500) });
    await world.createRoom();
    const [failed] = await world.waitForDeliveries(webhook, 1);
    await update(webhook, { toggle: true });
    expect(await world.readMessage(webhook, failed?.delivery_id)).toMatchObject({ status: 'cancelled' });
    await delivery.makeRetriesDue();
    await update(webhook, { toggle: true });
    await world.waitUntilIdle();
    expect(webhook.receiver.requests.length).toBe(1);
    webhook.receiver.respondWith(respond(200, 'thanks'));
    const since = Number(failed?.created_at);
    const { body } = await app.http.post(`${webhook.path}/resend`, team.owner.token, { since });
    expect(body).toEqual({ count: 1, has_more: 0 });
    const [second] = await world.waitForDeliveries(webhook, 2);
    expect(second).toMatchObject({ attempt: 2, delivery_id: failed?.delivery_id, success: 1, response_body: 'thanks' });
    expect(webhook.receiver.requests.length).toBe(2);
    await world.removeWebhook(webhook);
  });

  test('misses events, which are sent later in order, once, also to a new webhook, without erased people', async () => {
    const { app, team } = world;
    const { token } = team.owner;
    app.clock.advance(MINUTE_MS);
    const since = Math.floor(app.clock.now().getTime() / 1000);
    const events = ['room.created', 'member.left', 'contact.created'];
    const webhook = await world.addWebhook({ events });
    await update(webhook, { is_active: 0 });
    const room = await world.createRoom();
    for (let left = 0; left < 3; left += 1) await world.emitMemberLeft(2);
    for (const email of ['vera@example.com', 'walt@example.com'])
      expect((await app.http.post(`${team.path}/contacts`, token, { name: 'Guest', email })).status).toBe(200);
    expect((await app.http.post('/api/auth/reauthenticate', token, { password: PASSWORD })).status).toBe(200);
    expect((await app.http.post(`${team.path}/people/erase`, token, { email: 'vera@example.com' })).status).toBe(200);
    await world.waitUntilIdle();
    await update(webhook, { is_active: 1 });
    const fresh = await world.addWebhook({ events });
    for (const { path, receiver } of [webhook, fresh]) {
      const resent = [];
      const range = path === fresh.path ? { since, include_earlier: true } : { since };
      for (let call = 0; call < 2; call += 1) resent.push((await app.http.post(`${path}/resend`, token, range)).body);
      expect(resent).toEqual([
        { count: 8, has_more: 0 },
        { count: 0, has_more: 0 },
      ]);
      const requests = await receiver.waitFor(8);
      await world.waitUntilIdle();
      expect(requests.length).toBe(8);
      const bodies = requests.map(({ body }) => JSON.parse(body.toString()));
      expect(bodies.find(({ event }) => event === 'room.created').data.room_name).toBe(room);
      expect(bodies.filter(({ event }) => event === 'contact.created').map(({ data }) => data.email)).toEqual([
        'walt@example.com',
      ]);
      for (const userId of [1, 2]) {
        const sequences = requests
          .filter((_, index) => bodies[index].data.user_id === userId)
          .map(({ headers }) => Number(headers['x-webhook-sequence']));
        expect(sequences.length).toBe(3);
        expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
      }
    }
    await world.removeWebhook(webhook);
    await world.removeWebhook(fresh);
  });

  test('cancels any number of pending messages', async () => {
    const webhook = await world.addWebhook();
    await world.addPendingMessages(webhook, 2_500);
    await update(webhook, { toggle: true });
    await world.waitUntilIdle();
    expect(await countMessages(webhook, 'waiting')).toBe(0);
    expect(await countMessages(webhook, 'cancelled')).toBe(2_500);
    await world.removeWebhook(webhook);
  });

  test('leaves nothing that activating it would send', async () => {
    const webhook = await world.addWebhook();
    await update(webhook, { toggle: true });
    // As if the relay had not cancelled all of them yet.
    await world.addPendingMessages(webhook, 1);
    await update(webhook, { toggle: true });
    expect(await countMessages(webhook, 'cancelled')).toBe(1);
    await world.removeWebhook(webhook);
  });

  test('also cancels a message that is relayed at the same time', async () => {
    const { app, team } = world;
    const { db } = app.services;
    const webhook = await world.addWebhook();
    await db.webhook.updateMany({ where: { id: webhook.id }, data: { isActive: false } });
    const at = app.clock.now();
    const id = createMessageId(at);
    await transact(db, async (tx) => {
      const message = { workspaceId: team.id, id, webhookId: webhook.id, event: 'room.created', payload: '{}' };
      await tx.webhookMessage.create({ data: { ...message, nextAttemptAt: at, createdAt: at, updatedAt: at } });
      await wakeRelay(sqlIn(tx));
    });
    await world.waitUntilIdle();
    expect(await world.readMessage(webhook, id)).toMatchObject({ status: 'cancelled' });
    expect(webhook.receiver.requests).toEqual([]);
    await world.removeWebhook(webhook);
  });
});

test('a webhook that is deleted between two attempts gets nothing more', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook({ handler: respond(500) });
  await world.createRoom();
  await world.waitForDeliveries(webhook, 1);
  await app.http.delete(webhook.path, team.owner.token);
  await world.delivery.makeRetriesDue();
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(1);
  await webhook.receiver.close();
});

test('a webhook that gets another URL between two attempts is retried there', async () => {
  const webhook = await world.addWebhook({ handler: respond(500) });
  await world.createRoom();
  await world.waitForDeliveries(webhook, 1);
  const elsewhere = await startReceiver();
  await update(webhook, { url: `${elsewhere.url}/new` });
  await world.delivery.makeRetriesDue();
  await elsewhere.waitFor(1);
  expect(elsewhere.requests[0]?.body).toEqual(webhook.receiver.requests[0]?.body);
  await world.waitForDeliveries(webhook, 2);
  await elsewhere.close();
  await world.removeWebhook(webhook);
});
