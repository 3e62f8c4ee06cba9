/** What follows an attempt: retries by the schedule, and messages that are resent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { respond } from '../support/receiver.ts';
import { type DeliveryWorld, startDeliveryWorld } from './fixtures/world.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The delays before the second attempt, the third, and so on. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

test('ten attempts follow the schedule, with one id and the same bytes, and then the message has failed', async () => {
  const { app, delivery } = world;
  const webhook = await world.addWebhook({ handler: respond(500, 'broken') });
  await world.createRoom();
  for (const [index, delayMs] of DELAYS_MS.entries()) {
    const [last] = await world.waitForDeliveries(webhook, index + 1);
    expect(last).toMatchObject({ attempt: index + 1, response_status: 500, response_body: 'broken', success: 0 });
    const { status, next_attempt_at } = await world.readMessage(webhook, last?.delivery_id);
    expect(status).toBe('waiting');
    const waitSeconds = next_attempt_at - Number(last?.created_at);
    expect(waitSeconds).toBeGreaterThanOrEqual(delayMs / SECOND_MS);
    expect(waitSeconds).toBeLessThanOrEqual((delayMs / SECOND_MS) * 1.2);
    app.clock.advance(delayMs);
    await delivery.makeRetriesDue();
  }
  const all = await world.waitForDeliveries(webhook, 10);
  expect(await world.readMessage(webhook, all[0]?.delivery_id)).toMatchObject({
    status: 'failed',
    next_attempt_at: null,
  });
  await delivery.makeRetriesDue();
  await world.waitUntilIdle();
  const { requests } = webhook.receiver;
  expect(requests.length).toBe(10);
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  expect(await world.readWebhook(webhook)).toMatchObject({ is_active: 1, failure_count: 10 });
  await world.removeWebhook(webhook);
});

test('a success ends the retries and resets the failure count', async () => {
  const webhook = await world.addWebhook({
    handler: (_request, response, index) => response.writeHead(index === 0 ? 503 : 204).end(),
  });
  await world.createRoom();
  await world.waitForDeliveries(webhook, 1);
  expect(await world.readWebhook(webhook)).toMatchObject({ failure_count: 1 });
  await world.delivery.makeRetriesDue();
  const [second, first] = await world.waitForDeliveries(webhook, 2);
  expect([first, second]).toMatchObject([
    { attempt: 1, response_status: 503, success: 0 },
    { attempt: 2, response_status: 204, success: 1, delivery_id: first?.delivery_id },
  ]);
  expect(await world.readMessage(webhook, first?.delivery_id)).toMatchObject({
    status: 'delivered',
    next_attempt_at: null,
  });
  expect(await world.readWebhook(webhook)).toMatchObject({ failure_count: 0 });
  await world.removeWebhook(webhook);
});

test.each([
  ['1800', 1_800, 2_160],
  ['999999', 3_600, 4_320],
  ['1', 5, 6],
  ['soon', 5, 6],
])('Retry-After: %s delays the second attempt by %i to %i s', async (retryAfter, min, max) => {
  const webhook = await world.addWebhook({ handler: respond(429, '', { 'retry-after': retryAfter }) });
  await world.createRoom();
  const [last] = await world.waitForDeliveries(webhook, 1);
  const { next_attempt_at } = await world.readMessage(webhook, last?.delivery_id);
  const waitSeconds = next_attempt_at - Number(last?.created_at);
  expect(waitSeconds).toBeGreaterThanOrEqual(min);
  expect(waitSeconds).toBeLessThanOrEqual(max);
  await world.removeWebhook(webhook);
});

test('a delivery that is resent becomes a new attempt of the same message', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook();
  await world.createRoom();
  const [first] = await world.waitForDeliveries(webhook, 1);
  const { status, body } = await app.http.post(`${webhook.path}/deliveries/${first?.id}/resend`, team.owner.token);
  expect(status).toBe(200);
  expect(body.message).toMatchObject({ id: first?.delivery_id, status: 'waiting' });
  const [second] = await world.waitForDeliveries(webhook, 2);
  expect(second).toMatchObject({ attempt: 2, delivery_id: first?.delivery_id, payload: first?.payload, success: 1 });
  expect(webhook.receiver.requests[1]?.body).toEqual(webhook.receiver.requests[0]?.body);
  await world.removeWebhook(webhook);
});

test('a message that is resent while it waits for a retry is sent once', async () => {
  const { app, team, delivery } = world;
  const webhook = await world.addWebhook({ handler: respond(500) });
  await world.createRoom();
  const [first] = await world.waitForDeliveries(webhook, 1);
  webhook.receiver.respondWith(respond(200));
  await app.http.post(`${webhook.path}/deliveries/${first?.id}/resend`, team.owner.token);
  await delivery.makeRetriesDue();
  await world.waitForDeliveries(webhook, 2);
  await delivery.makeRetriesDue();
  await world.waitUntilIdle();
  const ids = webhook.receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([first?.delivery_id, first?.delivery_id]);
  await world.removeWebhook(webhook);
});
