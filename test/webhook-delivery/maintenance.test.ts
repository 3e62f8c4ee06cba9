/** Scheduled maintenance: lost jobs are queued again, and old messages are deleted. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pruneMessages, requeueLostMessages } from '../../src/webhook-delivery/maintenance.ts';
import { respond } from '../support/receiver.ts';
import { type DeliveryWorld, startDeliveryWorld } from './fixtures/world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

test('a message whose job is lost is queued again once it is an hour overdue', async () => {
  const { app } = world;
  const { db } = app.services;
  const webhook = await world.addWebhook({ handler: respond(500) });
  await world.createRoom();
  const [first] = await world.waitForDeliveries(webhook, 1);
  await db.$executeRaw`update webhook_messages set queued_job_id = null`;
  webhook.receiver.respondWith(respond(200));
  const readJobId = async () =>
    (await db.webhookMessage.findFirstOrThrow({ where: { id: String(first?.delivery_id) } })).jobId;
  const lostJobId = await readJobId();
  await requeueLostMessages(app.services);
  expect(await readJobId()).toBe(lostJobId);
  app.clock.advance(HOUR_MS + MINUTE_MS);
  await requeueLostMessages(app.services);
  expect(await world.waitForDeliveries(webhook, 2)).toMatchObject([{ success: 1 }, { success: 0 }]);
  await world.removeWebhook(webhook);
});

test('lost jobs are queued again while another webhook with lost jobs is being deleted', async () => {
  const { db } = world.app.services;
  const [deleting, other] = [await world.addWebhook(), await world.addWebhook()];
  await world.addPendingMessages(deleting, 1);
  await world.addPendingMessages(other, 1);
  world.app.clock.advance(DAY_MS + HOUR_MS + MINUTE_MS);
  const blocker = new pg.Client({ connectionString: world.app.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('delete from webhooks where id = $1', [deleting.id]);
  await requeueLostMessages(world.app.services);
  await world.waitForDeliveries(other, 1);
  expect(await db.webhookMessage.findMany({ where: { webhookId: deleting.id } })).toMatchObject([{ attempts: 0 }]);
  await blocker.query('commit');
  await blocker.end();
  await world.removeWebhook(deleting);
  await world.removeWebhook(other);
});

test('old messages are deleted with their attempts, unless they are pending or were attempted lately', async () => {
  const { app } = world;
  const webhook = await world.addWebhook();
  await world.createRoom();
  await world.waitForDeliveries(webhook, 1);
  app.clock.advance(MINUTE_MS);
  webhook.receiver.respondWith(respond(500));
  await world.createRoom();
  const [pending] = await world.waitForDeliveries(webhook, 2);
  app.clock.advance(20 * DAY_MS);
  webhook.receiver.respondWith(respond(200));
  await world.createRoom();
  const [recent] = await world.waitForDeliveries(webhook, 3);
  app.clock.advance(11 * DAY_MS);
  await pruneMessages(app.services);
  const left = await world.waitForDeliveries(webhook, 0);
  expect(left.map(({ delivery_id }) => delivery_id)).toEqual([recent?.delivery_id, pending?.delivery_id]);
  await world.removeWebhook(webhook);
});

test('a message that waits for one that is no longer pending is sent', async () => {
  const { app } = world;
  const webhook = await world.addWebhook();
  await world.createRoom();
  const [sent] = await world.waitForDeliveries(webhook, 1);
  await world.addPendingMessages(webhook, 1);
  await app.services.db.webhookMessage.updateMany({
    where: { webhookId: webhook.id, status: 'waiting' },
    data: { jobId: null, afterId: String(sent?.delivery_id) },
  });
  await requeueLostMessages(app.services);
  await world.waitForDeliveries(webhook, 1);
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(2);
  await world.removeWebhook(webhook);
});
