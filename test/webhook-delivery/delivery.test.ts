/** From an event to the receiver: what is sent, to which webhooks, and what is recorded. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { type DeliveryWorld, startDeliveryWorld } from './fixtures/world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

test('an event arrives once, signed, with the body that the delivery shows', async () => {
  const webhook = await world.addWebhook();
  const room = await world.createRoom();
  const [request] = await webhook.receiver.waitFor(1);
  if (!request) throw new Error('There is no request');
  const body = JSON.parse(request.body.toString());
  expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
  expect(body).toMatchObject({
    event: 'room.created',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    data: { room_name: room, room_id: expect.any(Number), created_by: 'Olive Owner' },
  });
  expect(request).toMatchObject({ method: 'POST', target: '/hook' });
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'x-webhook-event': 'room.created',
    'x-webhook-timestamp': body.timestamp,
    'x-webhook-signature': createHmac('sha256', webhook.secret).update(request.body).digest('hex'),
  });
  const [recorded] = await world.waitForDeliveries(webhook, 1);
  expect(recorded).toMatchObject({
    webhook_id: webhook.id,
    delivery_id: request.headers['webhook-id'],
    attempt: 1,
    event: 'room.created',
    payload: request.body.toString(),
    response_status: 200,
    response_body: '',
    success: 1,
  });
  expect(await world.readMessage(webhook, recorded?.delivery_id)).toMatchObject({
    status: 'delivered',
    next_attempt_at: null,
  });
  expect(await world.readWebhook(webhook)).toMatchObject({ failure_count: 0, last_delivery_at: recorded?.created_at });
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(1);
  await world.removeWebhook(webhook);
});

test('only active webhooks that subscribe get an event, and only if it happened after their registration', async () => {
  const { app, team } = world;
  const before = await world.createRoom();
  const [subscribed, other, inactive] = [
    await world.addWebhook(),
    await world.addWebhook({ events: ['member.left'] }),
    await world.addWebhook(),
  ];
  await app.http.patch(inactive.path, team.owner.token, { toggle: true });
  const rooms = [await world.createRoom(), await world.createRoom()];
  await world.waitUntilIdle();
  const bodies = subscribed.receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.room_name);
  expect(bodies.toSorted()).toEqual(rooms.toSorted());
  expect(bodies).not.toContain(before);
  expect([other.receiver.requests, inactive.receiver.requests]).toEqual([[], []]);
  for (const webhook of [subscribed, other, inactive]) await world.removeWebhook(webhook);
});

test('an event whose transaction is rolled back is not sent', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook({ events: ['member.left'] });
  const event = (name: string) => ({
    type: 'member.left' as const,
    workspaceId: team.id,
    data: { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name: name, reason: 'left' as const },
  });
  const failing = transact(app.services.db, async (tx) => {
    await emit(sqlIn(tx), app.clock.now(), event('Rolled back'));
    throw new Error('after the event');
  });
  await expect(failing).rejects.toThrow('after the event');
  await transact(app.services.db, (tx) => emit(sqlIn(tx), app.clock.now(), event('Committed')));
  await world.waitUntilIdle();
  const names = webhook.receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.user_name);
  expect(names).toEqual(['Committed']);
  await world.removeWebhook(webhook);
});

test('after a rotation both secrets sign until the overlap ends', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook();
  const { body } = await app.http.post(`${webhook.path}/rotate-secret`, team.owner.token);
  const next: string = body.webhook.secret;
  const sign = (secret: string, bytes: Buffer) => createHmac('sha256', secret).update(bytes).digest('hex');

  await world.createRoom();
  const [during] = await webhook.receiver.waitFor(1);
  if (!during) throw new Error('There is no request');
  expect(during.headers['x-webhook-signature']).toBe(sign(next, during.body));
  expect(during.headers['x-webhook-signature-previous']).toBe(sign(webhook.secret, during.body));
  expect(String(during.headers['webhook-signature']).split(' ').length).toBe(2);

  app.clock.advance(DAY_MS + MINUTE_MS);
  await world.createRoom();
  const [, after] = await webhook.receiver.waitFor(2);
  if (!after) throw new Error('There is no second request');
  expect(after.headers['x-webhook-signature']).toBe(sign(next, after.body));
  expect(after.headers['x-webhook-signature-previous']).toBeUndefined();
  expect(String(after.headers['webhook-signature']).split(' ').length).toBe(1);
  await world.waitForDeliveries(webhook, 2);
  await world.removeWebhook(webhook);
});

test('an attempt without a response is recorded with its reason', async () => {
  const webhook = await world.addWebhook();
  await webhook.receiver.close();
  await world.createRoom();
  const [refused] = await world.waitForDeliveries(webhook, 1);
  expect(refused).toMatchObject({ response_status: 0, success: 0, response_body: 'The connection was refused' });
  await world.removeWebhook(webhook);
});
