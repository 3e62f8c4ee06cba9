/** Events from which a webhook is unsubscribed: what was waiting is not sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { loadMessages } from '../../src/webhook-delivery/load-messages.ts';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { wakeRelay } from '../../src/webhook-delivery/pending-messages.ts';
import { openDeliveryQueue } from '../../src/webhook-delivery/queue.ts';
import { createRelay } from '../../src/webhook-delivery/relay.ts';
import { triage } from '../../src/webhook-delivery/triage.ts';
import { respond } from '../support/receiver.ts';
import { startTestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';
import { createGate, type DeliveryWorld, startDeliveryWorld, type TestWebhook } from './fixtures/world.ts';

const BOTH = ['room.created', 'member.left'];

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

async function subscribe({ path }: TestWebhook, events: string[]): Promise<void> {
  expect((await world.app.http.patch(path, world.team.owner.token, { events })).status).toBe(200);
}

test('a retry does not go out after its event was unsubscribed, and those of other events do', async () => {
  const { app, team, delivery } = world;
  const webhook = await world.addWebhook({ events: BOTH, handler: respond(500) });
  await world.createRoom();
  await world.emitMemberLeft(1);
  await app.http.post(`${webhook.path}/test`, team.owner.token);
  const failed = await world.waitForDeliveries(webhook, 3);
  await subscribe(webhook, ['member.left']);
  webhook.receiver.respondWith(respond(200));
  await delivery.makeRetriesDue();
  await world.waitForDeliveries(webhook, 5);
  await world.waitUntilIdle();
  const sent = webhook.receiver.requests.map(({ headers }) => headers['x-webhook-event']);
  expect(sent.slice(3).toSorted()).toEqual(['member.left', 'webhook.test']);
  const room = failed.find(({ event }) => event === 'room.created');
  expect(await world.readMessage(webhook, room?.delivery_id)).toMatchObject({
    status: 'cancelled',
    attempt_count: 1,
    next_attempt_at: null,
  });
  await world.removeWebhook(webhook);
});

test('any number of waiting messages is cancelled', async () => {
  const { db } = world.app.services;
  const webhook = await world.addWebhook({ events: BOTH });
  await world.addPendingMessages(webhook, 2_500);
  await subscribe(webhook, ['member.left']);
  await world.waitUntilIdle();
  expect(await db.webhookMessage.count({ where: { webhookId: webhook.id, status: 'cancelled' } })).toBe(2_500);
  await world.removeWebhook(webhook);
});

test('a message that is relayed while its event is unsubscribed is cancelled', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook({ events: ['member.left'] });
  const at = app.clock.now();
  const id = createMessageId(at);
  await transact(app.services.db, async (tx) => {
    const message = { workspaceId: team.id, id, webhookId: webhook.id, event: 'room.created', payload: '{}' };
    await tx.webhookMessage.create({ data: { ...message, nextAttemptAt: at, createdAt: at, updatedAt: at } });
    await wakeRelay(sqlIn(tx));
  });
  await world.waitUntilIdle();
  expect(await world.readMessage(webhook, id)).toMatchObject({ status: 'cancelled' });
  expect(webhook.receiver.requests).toEqual([]);
  await world.removeWebhook(webhook);
});

test('a message that waited for a cancelled one is sent', async () => {
  const { app, team } = world;
  const gate = createGate(respond(500));
  const webhook = await world.addWebhook({ events: ['room.created', 'room.joined'], handler: gate.handler });
  const room = await world.createRoom();
  await webhook.receiver.waitFor(1);
  await app.http.post(`/api/rooms/${room}/join`, team.member.token, {});
  const { db } = app.services;
  const held = { webhookId: webhook.id, event: 'room.joined', afterId: { not: null } };
  await expect.poll(() => db.webhookMessage.count({ where: held })).toBe(1);
  await subscribe(webhook, ['room.joined']);
  await webhook.receiver.waitFor(2);
  gate.open();
  await world.waitForDeliveries(webhook, 2);
  await world.delivery.makeRetriesDue();
  await world.waitForDeliveries(webhook, 3);
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.map(({ headers }) => headers['x-webhook-event'])).toEqual([
    'room.created',
    'room.joined',
    'room.joined',
  ]);
  await world.removeWebhook(webhook);
});

test('a message of an unsubscribed event is not resent', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook({ events: BOTH });
  await world.createRoom();
  const [sent] = await world.waitForDeliveries(webhook, 1);
  // No event of this type has happened, which would be sent as a missed one.
  await subscribe(webhook, ['room.left']);
  const refusal = {
    status: 409,
    body: { error: 'The webhook does not subscribe to room.created: add it to events first' },
  };
  const { token } = team.owner;
  for (const path of [`deliveries/${sent?.id}`, `messages/${sent?.delivery_id}`])
    expect(await app.http.post(`${webhook.path}/${path}/resend`, token)).toMatchObject(refusal);
  await app.services.db.webhookMessage.updateMany({ where: { webhookId: webhook.id }, data: { status: 'failed' } });
  expect((await app.http.post(`${webhook.path}/resend`, token, { since: 0 })).body).toMatchObject({ count: 0 });
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(1);
  await world.removeWebhook(webhook);
});

test.each([{ events: ['member.left'] }, { is_active: 0 }])(
  'a job that was leased just before %j sends nothing',
  async (change) => {
    await using cleanup = new AsyncDisposableStack();
    const app = await startTestApp();
    cleanup.defer(() => app.close());
    const { services } = app;
    const queue = openDeliveryQueue(services);
    const { id, owner, path } = await addTeam(app);
    const input = { name: 'Chat', url: 'http://127.0.0.1:4999/', events: BOTH };
    const { webhook } = (await app.http.post(`${path}/webhooks`, owner.token, input)).body;
    await app.http.post('/api/dashboard/rooms', owner.token, { workspace_id: id });
    const relay = createRelay({ ...services, queue });
    while (await relay());
    const leases = await queue.lease(services.db.sql, 'fast', 10, []);
    expect(leases.length).toBe(1);
    expect((await app.http.patch(`${path}/webhooks/${webhook.id}`, owner.token, change)).status).toBe(200);
    const { due, obsolete } = triage(leases, await loadMessages(services.db.sql, leases), 'fast');
    expect({ due, obsolete }).toEqual({ due: [], obsolete: leases });
  },
);
