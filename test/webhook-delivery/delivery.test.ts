/** From a cause to the receiver: what is sent, what is recorded, and what comes after an attempt. */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { emit, emitAll } from '../../src/events/emit.ts';
import { pruneMessages, requeueLostMessages } from '../../src/webhook-delivery/maintenance.ts';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { wakeRelay } from '../../src/webhook-delivery/pending-messages.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let app: TestApp;
let delivery: TestDelivery;
let team: Team;

beforeAll(async () => {
  // The clock moves by weeks.
  app = await startTestApp({ settings: { sessionDays: 3_650 } });
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

type Hook = { id: number; path: string; secret: string; receiver: Receiver };

async function addHook(events = ['room.created'], receiver?: Receiver): Promise<Hook> {
  const at = receiver ?? (await startReceiver());
  const input = { name: 'Chat', url: `${at.url}/hook`, events };
  const { status, body } = await app.http.post(`${team.path}/webhooks`, team.owner.token, input);
  expect(status).toBe(200);
  return {
    id: body.webhook.id,
    path: `${team.path}/webhooks/${body.webhook.id}`,
    secret: body.webhook.secret,
    receiver: at,
  };
}

async function remove({ path, receiver }: Hook): Promise<void> {
  await app.http.delete(path, team.owner.token);
  await receiver.close();
}

let rooms = 0;
async function causeEvent(): Promise<string> {
  rooms += 1;
  const { status, body } = await app.http.post('/api/dashboard/rooms', team.owner.token, {
    name: `delivery-${rooms}`,
    workspace_id: team.id,
  });
  expect(status).toBe(201);
  return body.room.name;
}

async function until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (const end = Date.now() + 10_000; ; ) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error('It did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function attemptsOf({ path }: Hook) {
  return (await app.http.get(`${path}/deliveries`, team.owner.token)).body.deliveries as Record<string, unknown>[];
}

function attempts(hook: Hook, count: number) {
  return until(async () => {
    const found = await attemptsOf(hook);
    return found.length >= count && found;
  });
}

async function messageOf(hook: Hook, id: unknown) {
  return (await app.http.get(`${hook.path}/messages/${id}`, team.owner.token)).body.message;
}

async function hookOf({ id }: Hook) {
  const { body } = await app.http.get(`${team.path}/webhooks`, team.owner.token);
  return body.webhooks.find((one: { id: number }) => one.id === id);
}

test('an event arrives once, signed, with the body that the delivery shows', async () => {
  const hook = await addHook();
  const room = await causeEvent();
  const [request] = await hook.receiver.waitFor(1);
  if (!request) throw new Error('Nothing came');
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
    'x-webhook-signature': createHmac('sha256', hook.secret).update(request.body).digest('hex'),
  });
  const [recorded] = await attempts(hook, 1);
  expect(recorded).toMatchObject({
    webhook_id: hook.id,
    delivery_id: request.headers['webhook-id'],
    attempt: 1,
    event: 'room.created',
    payload: request.body.toString(),
    response_status: 200,
    response_body: '',
    success: 1,
  });
  expect(await messageOf(hook, recorded?.delivery_id)).toMatchObject({ status: 'delivered', next_attempt_at: null });
  expect(await hookOf(hook)).toMatchObject({ failure_count: 0, last_delivery_at: recorded?.created_at });
  expect(hook.receiver.requests.length).toBe(1);
  await remove(hook);
});

test('only active webhooks that subscribe get it, and only what happened after their registration', async () => {
  const before = await causeEvent();
  const [subscribed, other, inactive] = [await addHook(), await addHook(['member.left']), await addHook()];
  await app.http.patch(inactive.path, team.owner.token, { toggle: true });
  // Written late, of what happened before any of them was there.
  const earlier = new Date(app.clock.now().getTime() - MINUTE);
  const data = { workspace_id: team.id, room_id: 1, room_name: 'earlier', display_name: null, created_by: 'Ada' };
  await transact(app.services.db, (tx) =>
    emit(tx, earlier, {
      type: 'room.created',
      workspaceId: team.id,
      data: { ...data, created_by_id: 1, scheduled_at: null, created_at: 1 },
    }),
  );
  const room = await causeEvent();
  const barrier = await addHook();
  await causeEvent();
  await attempts(barrier, 1);
  await attempts(subscribed, 2);
  const bodies = subscribed.receiver.requests.map(({ body }) => body.toString());
  expect(bodies.filter((body) => body.includes(`"${room}"`)).length).toBe(1);
  expect(bodies.filter((body) => body.includes(`"${before}"`) || body.includes('"earlier"')).length).toBe(0);
  await remove(barrier);
  expect([other.receiver.requests, inactive.receiver.requests]).toEqual([[], []]);
  for (const hook of [subscribed, other, inactive]) await remove(hook);
});

test('what a transaction rolled back is not sent', async () => {
  const hook = await addHook(['member.left']);
  const event = (name: string) => ({
    type: 'member.left' as const,
    workspaceId: team.id,
    data: { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name: name, reason: 'left' as const },
  });
  const failing = transact(app.services.db, async (tx) => {
    await emit(tx, app.clock.now(), event('Rolled back'));
    throw new Error('after the event');
  });
  await expect(failing).rejects.toThrow('after the event');
  await transact(app.services.db, (tx) => emit(tx, app.clock.now(), event('Committed')));
  await attempts(hook, 1);
  expect(hook.receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.user_name)).toEqual(['Committed']);
  await remove(hook);
});

test('ten attempts by the schedule, with one id and the same bytes, and then the message has failed', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500, 'broken'));
  await causeEvent();
  const min = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
  for (const [index, delay] of min.entries()) {
    const [last] = await attempts(hook, index + 1);
    expect(last).toMatchObject({ attempt: index + 1, response_status: 500, response_body: 'broken', success: 0 });
    const { status, next_attempt_at } = await messageOf(hook, last?.delivery_id);
    expect(status).toBe('waiting');
    // Seconds are cut off, and the attempt itself took a moment.
    expect(next_attempt_at - Number(last?.created_at)).toBeGreaterThanOrEqual(delay / 1000 - 1);
    expect(next_attempt_at - Number(last?.created_at)).toBeLessThanOrEqual((delay / 1000) * 1.2 + 2);
    app.clock.advance(delay);
    await delivery.hurry();
  }
  const all = await attempts(hook, 10);
  expect(await messageOf(hook, all[0]?.delivery_id)).toMatchObject({ status: 'failed', next_attempt_at: null });
  await delivery.hurry();
  const { requests } = hook.receiver;
  expect(requests.length).toBe(10);
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  expect(await hookOf(hook)).toMatchObject({ is_active: 1, failure_count: 10 });
  await remove(hook);
});

test('a success ends the retries and forgets the failures', async () => {
  const hook = await addHook();
  hook.receiver.respondWith((_request, response, index) => response.writeHead(index === 0 ? 503 : 204).end());
  await causeEvent();
  await attempts(hook, 1);
  expect(await hookOf(hook)).toMatchObject({ failure_count: 1 });
  await delivery.hurry();
  const [second, first] = await attempts(hook, 2);
  expect([first, second]).toMatchObject([
    { attempt: 1, response_status: 503, success: 0 },
    { attempt: 2, response_status: 204, success: 1, delivery_id: first?.delivery_id },
  ]);
  expect(await messageOf(hook, first?.delivery_id)).toMatchObject({ status: 'delivered', next_attempt_at: null });
  expect(await hookOf(hook)).toMatchObject({ failure_count: 0 });
  await remove(hook);
});

test.each([
  ['1800', 1_800, 2_160],
  ['999999', 3_600, 4_320],
  ['1', 5, 6],
  ['soon', 5, 6],
])('Retry-After: %s puts the second attempt off by %i to %i s', async (retryAfter, min, max) => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(429, '', { 'retry-after': retryAfter }));
  await causeEvent();
  const [last] = await attempts(hook, 1);
  const { next_attempt_at } = await messageOf(hook, last?.delivery_id);
  const delay = next_attempt_at - Number(last?.created_at);
  expect(delay).toBeGreaterThanOrEqual(min - 1);
  expect(delay).toBeLessThanOrEqual(max + 2);
  await remove(hook);
});

test('410 deactivates, and what still waited is cancelled', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  const [waiting] = await attempts(hook, 1);
  hook.receiver.respondWith(answer(410, 'gone'));
  await causeEvent();
  const [gone] = await attempts(hook, 2);
  expect(gone).toMatchObject({ response_status: 410, success: 0 });
  expect(await hookOf(hook)).toMatchObject({ is_active: 0, disabled_reason: 'The receiver responded with 410 Gone' });
  expect(await messageOf(hook, waiting?.delivery_id)).toMatchObject({ status: 'cancelled', next_attempt_at: null });
  expect(await messageOf(hook, gone?.delivery_id)).toMatchObject({ status: 'failed', next_attempt_at: null });
  await delivery.hurry();
  const other = await addHook();
  await causeEvent();
  await attempts(other, 1);
  expect(hook.receiver.requests.length).toBe(2);
  await remove(hook);
  await remove(other);
});

test('a late 410 of an address that the webhook has left does not deactivate it', async () => {
  const hook = await addHook();
  hook.receiver.respondWith((_request, response) => setTimeout(() => response.writeHead(410).end(), 300));
  await causeEvent();
  await hook.receiver.waitFor(1);
  const elsewhere = await startReceiver();
  await app.http.patch(hook.path, team.owner.token, { url: `${elsewhere.url}/new` });
  expect(await attempts(hook, 1)).toMatchObject([{ response_status: 410 }]);
  expect(await hookOf(hook)).toMatchObject({ is_active: 1, failure_count: 0, disabled_reason: null });
  await elsewhere.close();
  await remove(hook);
});

test('a webhook has at most 20 attempts under way, however many messages wait', async () => {
  const hook = await addHook();
  let [open, max] = [0, 0];
  hook.receiver.respondWith((_request, response) => {
    open += 1;
    max = Math.max(max, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 50);
  });
  const data = { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name: 'Ada', reason: 'left' as const };
  const event = { type: 'member.left' as const, workspaceId: team.id, data };
  await app.http.patch(hook.path, team.owner.token, { events: ['member.left'] });
  const { db, clock } = app.services;
  await transact(db, (tx) =>
    emitAll(
      tx,
      clock.now(),
      Array.from({ length: 90 }, () => event),
    ),
  );
  await hook.receiver.waitFor(90);
  expect(max).toBeLessThanOrEqual(20);
  expect(max).toBeGreaterThan(10);
  await attempts(hook, 50);
  await remove(hook);
});

test('what waits after a failure waits in the slow lane, and so does what comes for a webhook that fails', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  await attempts(hook, 1);
  const priorities = (): Promise<{ priority: number }[]> => app.services.db.$queryRaw`
    select j.priority from pgboss.job j join webhook_messages m on m.job_id = j.id where m.webhook_id = ${hook.id}`;
  expect(await priorities()).toEqual([{ priority: -17 }]);
  await causeEvent();
  await attempts(hook, 2);
  expect(await app.services.db.webhook.findFirst({ where: { id: hook.id } })).toMatchObject({ isSlow: true });
  expect((await priorities()).every(({ priority }) => priority <= -17)).toBe(true);
  await remove(hook);
});

test('what was queued for a webhook before it began to fail is moved out of the way of others', async () => {
  const hook = await addHook();
  const { db, clock } = app.services;
  hook.receiver.respondWith((_request, response) => setTimeout(() => response.writeHead(500).end(), 200));
  const data = { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name: 'Ada', reason: 'left' as const };
  const event = { type: 'member.left' as const, workspaceId: team.id, data };
  await app.http.patch(hook.path, team.owner.token, { events: ['member.left'] });
  await transact(db, (tx) =>
    emitAll(
      tx,
      clock.now(),
      Array.from({ length: 60 }, () => event),
    ),
  );
  const other = await addHook();
  await hook.receiver.waitFor(20);
  await until(async () => (await hookOf(hook)).failure_count > 0);
  await causeEvent();
  await attempts(other, 1);
  // All of them are tried, each once: a move loses none and doubles none.
  await until(async () => (await db.webhookDelivery.count({ where: { webhookId: hook.id } })) === 60);
  expect(new Set(hook.receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(60);
  expect(hook.receiver.requests.length).toBe(60);
  await remove(hook);
  await remove(other);
});

test('a workspace that causes much stands behind one that causes little', async () => {
  const flood = await addHook(['member.left']);
  flood.receiver.respondWith((_request, response) => setTimeout(() => response.end(), 20));
  const other = await addTeam(app, 'Other');
  const receiver = await startReceiver();
  await app.http.post(`${other.path}/webhooks`, other.owner.token, {
    name: 'Quiet',
    url: receiver.url,
    events: ['member.left'],
  });
  const { db, clock } = app.services;
  const data = { workspace_name: 'Team', user_id: 1, user_name: 'Ada', reason: 'left' as const };
  const leave = (workspaceId: number) =>
    ({ type: 'member.left', workspaceId, data: { ...data, workspace_id: workspaceId } }) as const;
  await transact(db, (tx) =>
    emitAll(
      tx,
      clock.now(),
      Array.from({ length: 1_500 }, () => leave(team.id)),
    ),
  );
  await transact(db, (tx) => emit(tx, clock.now(), leave(other.id)));
  await receiver.waitFor(1);
  expect(flood.receiver.requests.length).toBeLessThan(1_000);
  await receiver.close();
  await remove(flood);
});

test('what waits for a webhook is cancelled however much it is, and none of it comes back', async () => {
  const hook = await addHook();
  const { db, clock } = app.services;
  const at = clock.now();
  await db.webhookMessage.createMany({
    data: Array.from({ length: 2_500 }, () => ({
      ...{ workspaceId: team.id, id: createMessageId(at), webhookId: hook.id, event: 'room.created', payload: '{}' },
      ...{ nextAttemptAt: new Date(at.getTime() + DAY), jobId: randomUUID(), createdAt: at, updatedAt: at },
    })),
  });
  const waiting = () => db.webhookMessage.count({ where: { webhookId: hook.id, status: 'waiting' } });
  await app.http.patch(hook.path, team.owner.token, { toggle: true });
  await until(async () => (await waiting()) === 0);
  expect(await db.webhookMessage.count({ where: { webhookId: hook.id, status: 'cancelled' } })).toBe(2_500);
  await until(async () => (await db.webhook.count({ where: { isCancelling: true } })) === 0);
  await remove(hook);
});

test('activating cancels first what is still left from the deactivation', async () => {
  const hook = await addHook();
  const { db, clock } = app.services;
  const at = clock.now();
  await app.http.patch(hook.path, team.owner.token, { toggle: true });
  await db.webhookMessage.create({
    data: {
      ...{ workspaceId: team.id, id: createMessageId(at), webhookId: hook.id, event: 'room.created', payload: '{}' },
      ...{ nextAttemptAt: new Date(at.getTime() + DAY), jobId: randomUUID(), createdAt: at, updatedAt: at },
    },
  });
  await app.http.patch(hook.path, team.owner.token, { toggle: true });
  expect(await db.webhookMessage.count({ where: { webhookId: hook.id, status: 'cancelled' } })).toBe(1);
  await remove(hook);
});

test('five days in which every attempt failed deactivate, a success between them does not', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  await attempts(hook, 1);
  app.clock.advance(5 * DAY - MINUTE);
  await causeEvent();
  await attempts(hook, 2);
  expect(await hookOf(hook)).toMatchObject({ is_active: 1, disabled_reason: null });
  hook.receiver.respondWith(answer(200));
  await causeEvent();
  await attempts(hook, 3);
  hook.receiver.respondWith(answer(500));
  app.clock.advance(HOUR);
  await causeEvent();
  await attempts(hook, 4);
  expect(await hookOf(hook)).toMatchObject({ is_active: 1, disabled_reason: null });
  app.clock.advance(5 * DAY);
  await causeEvent();
  await attempts(hook, 5);
  expect(await hookOf(hook)).toMatchObject({
    is_active: 0,
    disabled_reason: 'Every attempt failed for 5 days',
  });
  await app.http.patch(hook.path, team.owner.token, { toggle: true });
  expect(await hookOf(hook)).toMatchObject({ is_active: 1, disabled_reason: null, failure_count: 0 });
  await remove(hook);
});

describe('a webhook that is', () => {
  test('deactivated between attempts gets nothing more, until what was cancelled is sent again', async () => {
    const hook = await addHook();
    hook.receiver.respondWith(answer(500));
    await causeEvent();
    const [failed] = await attempts(hook, 1);
    await app.http.patch(hook.path, team.owner.token, { toggle: true });
    expect(await messageOf(hook, failed?.delivery_id)).toMatchObject({ status: 'cancelled' });
    await delivery.hurry();
    await app.http.patch(hook.path, team.owner.token, { toggle: true });
    hook.receiver.respondWith(answer(200, 'thanks'));
    const again = await app.http.post(`${hook.path}/resend`, team.owner.token, {
      since: Number(failed?.created_at) - 60,
    });
    expect(again.body).toEqual({ count: 1 });
    const [second] = await attempts(hook, 2);
    expect(second).toMatchObject({ attempt: 2, delivery_id: failed?.delivery_id, success: 1, response_body: 'thanks' });
    expect(hook.receiver.requests.length).toBe(2);
    await remove(hook);
  });

  test('deleted between attempts gets nothing more', async () => {
    const hook = await addHook();
    hook.receiver.respondWith(answer(500));
    await causeEvent();
    await attempts(hook, 1);
    await app.http.delete(hook.path, team.owner.token);
    await delivery.hurry();
    const other = await addHook();
    await causeEvent();
    await attempts(other, 1);
    expect(hook.receiver.requests.length).toBe(1);
    await hook.receiver.close();
    await remove(other);
  });

  test('pointed elsewhere between attempts is retried there', async () => {
    const hook = await addHook();
    hook.receiver.respondWith(answer(500));
    await causeEvent();
    await attempts(hook, 1);
    const elsewhere = await startReceiver();
    await app.http.patch(hook.path, team.owner.token, { url: `${elsewhere.url}/new` });
    await delivery.hurry();
    await elsewhere.waitFor(1);
    expect(elsewhere.requests[0]?.body).toEqual(hook.receiver.requests[0]?.body);
    await attempts(hook, 2);
    await elsewhere.close();
    await remove(hook);
  });
});

test('what was relayed while its webhook was deactivated is cancelled when it is met', async () => {
  const hook = await addHook();
  await app.services.db.webhook.updateMany({ where: { id: hook.id }, data: { isActive: false } });
  const { db } = app.services;
  const at = app.clock.now();
  const id = createMessageId(at);
  await transact(db, async (tx) => {
    await tx.webhookMessage.create({
      data: {
        ...{ workspaceId: team.id, id, webhookId: hook.id, event: 'room.created', payload: '{}' },
        ...{ nextAttemptAt: at, createdAt: at, updatedAt: at },
      },
    });
    await wakeRelay(tx);
  });
  await until(async () => (await messageOf(hook, id)).status === 'cancelled');
  expect(hook.receiver.requests).toEqual([]);
  await remove(hook);
});

test('a delivery that is sent again is a new attempt of the same message', async () => {
  const hook = await addHook();
  await causeEvent();
  const [first] = await attempts(hook, 1);
  const { status, body } = await app.http.post(`${hook.path}/deliveries/${first?.id}/resend`, team.owner.token);
  expect(status).toBe(200);
  expect(body.message).toMatchObject({ id: first?.delivery_id, status: 'waiting' });
  const [second] = await attempts(hook, 2);
  expect(second).toMatchObject({ attempt: 2, delivery_id: first?.delivery_id, payload: first?.payload, success: 1 });
  expect(hook.receiver.requests[1]?.body).toEqual(hook.receiver.requests[0]?.body);
  await remove(hook);
});

test('sent again while a retry is due, it is sent once', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  const [first] = await attempts(hook, 1);
  hook.receiver.respondWith(answer(200));
  await app.http.post(`${hook.path}/deliveries/${first?.id}/resend`, team.owner.token);
  await delivery.hurry();
  await attempts(hook, 2);
  await delivery.hurry();
  const other = await addHook();
  await causeEvent();
  await attempts(other, 1);
  expect(hook.receiver.requests.filter(({ headers }) => headers['webhook-id'] === first?.delivery_id).length).toBe(2);
  await remove(hook);
  await remove(other);
});

test('while a rotated secret overlaps, both sign', async () => {
  const hook = await addHook();
  const { body } = await app.http.post(`${hook.path}/rotate-secret`, team.owner.token);
  const next: string = body.webhook.secret;
  await causeEvent();
  const [during] = await hook.receiver.waitFor(1);
  const sign = (secret: string, bytes: Buffer) => createHmac('sha256', secret).update(bytes).digest('hex');
  if (!during) throw new Error('Nothing came');
  expect(during.headers['x-webhook-signature']).toBe(sign(next, during.body));
  expect(during.headers['x-webhook-signature-previous']).toBe(sign(hook.secret, during.body));
  expect(String(during.headers['webhook-signature']).split(' ').length).toBe(2);
  app.clock.advance(DAY + MINUTE);
  await causeEvent();
  const after = (await hook.receiver.waitFor(2))[1];
  if (!after) throw new Error('Nothing came');
  expect(after.headers['x-webhook-signature']).toBe(sign(next, after.body));
  expect(after.headers['x-webhook-signature-previous']).toBeUndefined();
  expect(String(after.headers['webhook-signature']).split(' ').length).toBe(1);
  await attempts(hook, 2);
  await remove(hook);
});

test('what cannot be answered is recorded with its reason', async () => {
  const hook = await addHook();
  await hook.receiver.close();
  await causeEvent();
  const [refused] = await attempts(hook, 1);
  expect(refused).toMatchObject({ response_status: 0, success: 0, response_body: 'The connection was refused' });
  await remove(hook);
});

test('a message whose job is lost is queued anew once it is an hour overdue', async () => {
  const hook = await addHook();
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  const [first] = await attempts(hook, 1);
  await app.services.db.$executeRaw`delete from pgboss.job where name = 'webhooks.deliver'`;
  hook.receiver.respondWith(answer(200));
  const jobOf = async () =>
    (await app.services.db.webhookMessage.findFirstOrThrow({ where: { id: String(first?.delivery_id) } })).jobId;
  const lost = await jobOf();
  await requeueLostMessages(app.services);
  expect(await jobOf()).toBe(lost);
  app.clock.advance(HOUR + MINUTE);
  await requeueLostMessages(app.services);
  expect(await attempts(hook, 2)).toMatchObject([{ success: 1 }, { success: 0 }]);
  await remove(hook);
});

test('old messages go with their attempts, what waits and what was tried lately stays', async () => {
  const hook = await addHook();
  await causeEvent();
  await attempts(hook, 1);
  hook.receiver.respondWith(answer(500));
  await causeEvent();
  const [waiting] = await attempts(hook, 2);
  app.clock.advance(20 * DAY);
  hook.receiver.respondWith(answer(200));
  await causeEvent();
  const [lately] = await attempts(hook, 3);
  app.clock.advance(11 * DAY);
  await pruneMessages(app.services);
  expect((await attemptsOf(hook)).map(({ delivery_id }) => delivery_id)).toEqual([
    lately?.delivery_id,
    waiting?.delivery_id,
  ]);
  await remove(hook);
});
