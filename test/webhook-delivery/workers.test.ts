/** Workers in processes of their own: each message is sent once, and a worker that stops finishes its attempts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { type ProcessWorld, readRoomId, startProcessWorld } from './fixtures/process-world.ts';

const POLL = { interval: 50 };

let world: ProcessWorld;
let receivers: Receiver[];

beforeEach(async () => {
  receivers = [];
  world = await startProcessWorld();
});
afterEach(async () => {
  await world?.close();
  for (const receiver of receivers) await receiver.close();
});

/** Adds receivers that respond after a delay, each with a webhook. */
async function addReceivers(count: number, delayMs: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.end('ok'), delayMs);
    });
    receivers.push(receiver);
    await world.addWebhook(receiver.url);
  }
}

function listMessageIds({ requests }: Receiver): string[] {
  return requests.map(({ headers }) => String(headers['webhook-id']));
}
function countRequests(): number {
  return receivers.reduce((sum, { requests }) => sum + requests.length, 0);
}
function countMessages(status: string): Promise<number> {
  return world.db.webhookMessage.count({ where: { status } });
}

test('two workers together send each message once, and record it as a first attempt', async () => {
  await addReceivers(3, 5);
  await Promise.all([world.startWorker(), world.startWorker()]);
  for (let batch = 0; batch < 50; batch += 1) await world.emitRooms(10);
  await expect.poll(() => countMessages('delivered'), POLL).toBe(1_500);

  const rooms = Array.from({ length: 500 }, (_, index) => index + 1);
  for (const { requests } of receivers)
    expect(requests.map(({ body }) => readRoomId(body)).sort((a, b) => a - b)).toEqual(rooms);
  expect(new Set(receivers.flatMap(listMessageIds)).size).toBe(1_500);
  const attempts = await world.db.webhookDelivery.findMany();
  expect(attempts.map(({ messageId }) => messageId).sort()).toEqual(receivers.flatMap(listMessageIds).sort());
  for (const attempt of attempts)
    expect(attempt).toMatchObject({ attempt: 1, success: true, responseStatus: 200, responseBody: 'ok' });
  expect(await world.db.webhookMessage.count({ where: { attempts: 1, jobId: null } })).toBe(1_500);
});

test('a worker that gets SIGTERM finishes and records its attempts; the next one repeats none of them', async () => {
  await addReceivers(3, 400);
  const first = await world.startWorker();
  await world.emitRooms(100);
  await expect.poll(countRequests, POLL).toBeGreaterThanOrEqual(60);
  expect(await first.end('SIGTERM')).toBe(0);
  const sent = countRequests();
  expect(sent).toBeLessThan(300);
  expect(await world.db.webhookDelivery.count({ where: { success: true } })).toBe(sent);
  expect(await countMessages('delivered')).toBe(sent);
  expect(await countMessages('waiting')).toBe(300 - sent);

  const second = await world.startWorker();
  await expect.poll(() => countMessages('delivered'), POLL).toBe(300);
  expect(countRequests()).toBe(300);
  expect(new Set(receivers.flatMap(listMessageIds)).size).toBe(300);
  expect(await second.end('SIGTERM')).toBe(0);
});

test('a server with RUN_WORKER=0 sends nothing until a worker runs, and loses nothing', async () => {
  await addReceivers(1, 0);
  const { http, token } = world;
  expect((await http.post('/api/dashboard/rooms', token, { display_name: 'Stand-up' })).status).toBe(201);
  await world.emitRooms(1);
  // Longer than the relay and the worker ever wait between two polls.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(countRequests()).toBe(0);
  expect(await world.db.event.count({ where: { type: 'room.created', relayedAt: null } })).toBe(2);
  await world.startWorker();
  await expect.poll(() => countMessages('delivered'), POLL).toBe(2);
  expect(countRequests()).toBe(2);
});

test('a worker without DATABASE_URL prints one line and ends with status 1', async () => {
  const worker = startWorkerProcess({ WEBHOOK_ALLOW_PRIVATE: '1' });
  expect(await worker.ended).toBe(1);
  expect(worker.messages()).toEqual([
    'A worker needs DATABASE_URL: with the embedded database, the server does the background work',
  ]);
});
