/**
 * Workers in processes of their own that nobody kills: each message is sent once, and what is under way is finished.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { openWorkshop, roomOf, type Workshop } from './fixtures/workshop.ts';

const PATIENCE = { timeout: 40_000, interval: 50 };
const TEST_MS = 60_000;

let workshop: Workshop;
let receivers: Receiver[];

beforeEach(async () => {
  receivers = [];
  workshop = await openWorkshop();
});
afterEach(async () => {
  await workshop?.close();
  for (const receiver of receivers) await receiver.close();
});

/** Receivers that answer after a while, each with a webhook. */
async function addReceivers(count: number, answerAfterMs: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.end('ok'), answerAfterMs);
    });
    receivers.push(receiver);
    await workshop.addWebhook(receiver.url);
  }
}

function namesAt({ requests }: Receiver): string[] {
  return requests.map(({ headers }) => String(headers['webhook-id']));
}
function received(): number {
  return receivers.reduce((sum, { requests }) => sum + requests.length, 0);
}
function messagesOf(status: string): Promise<number> {
  return workshop.db.webhookMessage.count({ where: { status } });
}

test(
  'two workers together send each message once, and record it as a first attempt',
  async () => {
    await addReceivers(3, 5);
    await Promise.all([workshop.startWorker(), workshop.startWorker()]);
    for (let batch = 0; batch < 50; batch += 1) await workshop.emitRooms(10);
    await expect.poll(() => messagesOf('delivered'), PATIENCE).toBe(1_500);

    const rooms = Array.from({ length: 500 }, (_, index) => index + 1);
    for (const { requests } of receivers)
      expect(requests.map(({ body }) => roomOf(body)).sort((a, b) => a - b)).toEqual(rooms);
    expect(new Set(receivers.flatMap(namesAt)).size).toBe(1_500);
    const attempts = await workshop.db.webhookDelivery.findMany();
    expect(attempts.map(({ messageId }) => messageId).sort()).toEqual(receivers.flatMap(namesAt).sort());
    for (const attempt of attempts)
      expect(attempt).toMatchObject({ attempt: 1, success: true, responseStatus: 200, responseBody: 'ok' });
    expect(await workshop.db.webhookMessage.count({ where: { attempts: 1, jobId: null } })).toBe(1_500);
  },
  TEST_MS,
);

test(
  'SIGTERM lets a worker finish and record what is under way; the next one repeats nothing of it',
  async () => {
    await addReceivers(3, 400);
    const first = await workshop.startWorker();
    await workshop.emitRooms(100);
    await expect.poll(received, PATIENCE).toBeGreaterThanOrEqual(60);
    expect(await first.end('SIGTERM')).toBe(0);
    const sent = received();
    expect(sent).toBeLessThan(300);
    expect(await workshop.db.webhookDelivery.count({ where: { success: true } })).toBe(sent);
    expect(await messagesOf('delivered')).toBe(sent);
    expect(await messagesOf('waiting')).toBe(300 - sent);

    const second = await workshop.startWorker();
    await expect.poll(() => messagesOf('delivered'), PATIENCE).toBe(300);
    expect(received()).toBe(300);
    expect(new Set(receivers.flatMap(namesAt)).size).toBe(300);
    expect(await second.end('SIGTERM')).toBe(0);
  },
  TEST_MS,
);

test(
  'a server with RUN_WORKER=0 sends nothing, and loses nothing, until a worker runs',
  async () => {
    await addReceivers(1, 0);
    const { http, token } = workshop;
    expect((await http.post('/api/dashboard/rooms', token, { display_name: 'Stand-up' })).status).toBe(201);
    await workshop.emitRooms(1);
    // Longer than the relay and the worker ever rest.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(received()).toBe(0);
    expect(await workshop.db.event.count({ where: { type: 'room.created', relayedAt: null } })).toBe(2);
    await workshop.startWorker();
    await expect.poll(() => messagesOf('delivered'), PATIENCE).toBe(2);
    expect(received()).toBe(2);
  },
  TEST_MS,
);

test('a worker without a database of its own says so in one line and ends with status 1', async () => {
  const worker = startWorkerProcess({ WEBHOOK_ALLOW_PRIVATE: '1' });
  expect(await worker.ended).toBe(1);
  expect(worker.output()).toBe(
    'A worker needs DATABASE_URL: with the embedded database, the server does the background work\n',
  );
});
