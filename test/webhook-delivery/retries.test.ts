/** What follows an attempt: retries by the schedule, and messages that are resent or changed during it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { respond } from '../support/receiver.ts';
import { createGate, type DeliveryWorld, startDeliveryWorld, type TestWebhook } from './fixtures/world.ts';

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

const GIVEN_UP = { status: 'failed', jobId: null, nextAttemptAt: null };

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

describe('during an attempt', () => {
  const activate = (webhook: TestWebhook, is_active: 0 | 1) => patch(webhook, { is_active });
  const patch = ({ path }: TestWebhook, change: object) => world.app.http.patch(path, world.team.owner.token, change);
  const post = ({ path }: TestWebhook, operation: string) =>
    world.app.http.post(`${path}/${operation}`, world.team.owner.token);
  const recordElsewhere = ({ id: webhookId }: TestWebhook, data: Partial<typeof GIVEN_UP> | { jobId: string }) =>
    world.app.services.db.webhookMessage.updateMany({ where: { webhookId }, data });

  const changes: [string, (webhook: TestWebhook) => Promise<unknown>][] = [
    ['the webhook is switched off', (webhook) => activate(webhook, 0)],
    ['the webhook is switched off and on', async (webhook) => [await activate(webhook, 0), await activate(webhook, 1)]],
    ['the event is unsubscribed', (webhook) => patch(webhook, { events: ['room.left'] })],
    ['the URL changes', (webhook) => patch(webhook, { url: 'http://localhost:9/elsewhere' })],
    ['the secret is rotated', (webhook) => post(webhook, 'rotate-secret')],
    // After the lease has expired, as when this worker was frozen.
    ['another worker takes the message', (webhook) => recordElsewhere(webhook, { jobId: crypto.randomUUID() })],
    ['another worker gives up', (webhook) => recordElsewhere(webhook, GIVEN_UP)],
  ];

  test.each(changes)('%s, and a success still counts: the message is not sent again', async (_, change) => {
    const gate = createGate(respond(200));
    // The events of other tests are older than the webhook.
    world.app.clock.advance(SECOND_MS);
    const webhook = await world.addWebhook({ handler: gate.handler });
    await world.createRoom();
    const [request] = await webhook.receiver.waitFor(1);
    await change(webhook);
    gate.open();
    await world.waitForDeliveries(webhook, 1);
    const delivered = { status: 'delivered', attempt_count: 1, next_attempt_at: null };
    expect(await world.readMessage(webhook, request?.headers['webhook-id'])).toMatchObject(delivered);
    await patch(webhook, { is_active: 1, events: ['room.created'], url: `${webhook.receiver.url}/hook` });
    const { path } = webhook;
    const resent = await world.app.http.post(`${path}/resend`, world.team.owner.token, { since: 0 });
    expect(resent.body).toEqual({ count: 0, has_more: 0 });
    await world.delivery.makeRetriesDue();
    await world.waitUntilIdle();
    expect(webhook.receiver.requests.length).toBe(1);
    await world.removeWebhook(webhook);
  });

  test('the message is resent, which fails, and then the first attempt succeeds: it is delivered', async () => {
    const gate = createGate(respond(200));
    const webhook = await world.addWebhook({
      handler: (request, response, index) => (index === 0 ? gate.handler : respond(500))(request, response, index),
    });
    await world.createRoom();
    const [request] = await webhook.receiver.waitFor(1);
    const id = request?.headers['webhook-id'];
    expect((await post(webhook, `messages/${id}/resend`)).status).toBe(200);
    await world.waitForDeliveries(webhook, 1);
    expect(await world.readMessage(webhook, id)).toMatchObject({ status: 'waiting', attempt_count: 1 });
    gate.open();
    await world.waitForDeliveries(webhook, 2);
    const delivered = { status: 'delivered', attempt_count: 2, next_attempt_at: null };
    expect(await world.readMessage(webhook, id)).toMatchObject(delivered);
    await world.delivery.makeRetriesDue();
    await world.waitUntilIdle();
    expect(webhook.receiver.requests.length).toBe(2);
    await world.removeWebhook(webhook);
  });

  test('the webhook is switched off, and a failure leaves the message cancelled', async () => {
    const gate = createGate(respond(500));
    const webhook = await world.addWebhook({ handler: gate.handler });
    await world.createRoom();
    const [request] = await webhook.receiver.waitFor(1);
    await activate(webhook, 0);
    gate.open();
    await world.waitForDeliveries(webhook, 1);
    const cancelled = { status: 'cancelled', attempt_count: 1, next_attempt_at: null };
    expect(await world.readMessage(webhook, request?.headers['webhook-id'])).toMatchObject(cancelled);
    await world.removeWebhook(webhook);
  });

  test('the webhook is deleted, and the attempt leaves nothing', async () => {
    const gate = createGate(respond(200));
    const webhook = await world.addWebhook({ handler: gate.handler });
    await world.createRoom();
    await webhook.receiver.waitFor(1);
    await world.app.http.delete(webhook.path, world.team.owner.token);
    gate.open();
    await world.waitUntilIdle();
    expect(await world.app.services.db.webhookMessage.count({ where: { webhookId: webhook.id } })).toBe(0);
    await webhook.receiver.close();
  });
});
