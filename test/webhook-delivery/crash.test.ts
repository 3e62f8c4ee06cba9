/** Workers that are killed under load: every event is delivered, as one message, and every recorded attempt is true. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Handler, type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { type ProcessWorld, readRoomId, startProcessWorld } from './fixtures/process-world.ts';

/** How often the only worker is killed, and then how often one of two. */
const SINGLE_KILLS = 5;
const PAIR_KILLS = 2;
const EMIT_EVERY_MS = 200;
/** No event is emitted while more messages are undelivered, so that a slow machine gets no longer backlog. */
const MAX_UNDELIVERED = 1_000;
/**
 * Many, with few events for each. The leases of a killed worker, up to 20 for each webhook, last until its heartbeat is
 * missed: if they were all there may be, the next worker would have no attempt during which it could be killed.
 */
const WEBHOOKS_PER_RECEIVER = 8;
/**
 * From the last kill until everything is delivered: a heartbeat of 10 s, a supervision of 5 s, two retries, and the
 * time that a busy machine needs to send the rest.
 */
const MAX_MS = 60_000;
/** How long before a kill a request may arrive that is not recorded, and how long after it the receiver may read it. */
const UNRECORDED_MS = 5_000;
const READ_LATE_MS = 1_000;
/** How far the clocks of a worker and a receiver may be apart. */
const MAX_CLOCK_ERROR_MS = 250;

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

function readMessageId({ headers }: ReceivedRequest): string {
  return String(headers['webhook-id']);
}
function countRequests(): number {
  return receivers.reduce((sum, { requests }) => sum + requests.length, 0);
}

function countUndelivered(): Promise<number> {
  return world.db.webhookMessage.count({ where: { status: { not: 'delivered' } } });
}

/** The status of the response to each request. */
const statuses = new Map<ReceivedRequest, number>();

function respondWith(chooseStatus: (request: ReceivedRequest) => number, delayMs: number): Handler {
  return (request, response) => {
    const status = chooseStatus(request);
    statuses.set(request, status);
    setTimeout(() => response.writeHead(status).end(), delayMs);
  };
}

/** Returns 503 for the first request of each message, and 200 for the others. */
function failOnce(): Handler {
  const failed = new Set<string>();
  return respondWith((request) => {
    if (failed.has(readMessageId(request))) return 200;
    failed.add(readMessageId(request));
    return 503;
  }, 0);
}

/** Emits events until it is disposed of, which waits for the last transaction. */
function emitSteadily(): AsyncDisposable {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if ((await countUndelivered()) < MAX_UNDELIVERED) await world.emitRooms(1);
      await sleep(EMIT_EVERY_MS);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

/** Kills a worker at a random time after a request has arrived from any worker. Resolves with the time of its end. */
async function killUnderLoad(worker: WorkerProcess): Promise<number> {
  const before = countRequests();
  await expect.poll(countRequests, { interval: 10 }).toBeGreaterThan(before);
  await sleep(Math.random() * 1_000);
  await worker.end('SIGKILL');
  return Date.now();
}

/** Kills workers while events are emitted. Resolves with the times of the kills, and the worker that is left. */
async function killRepeatedly(): Promise<{ kills: number[]; survivor: WorkerProcess }> {
  await using _load = emitSteadily();
  const kills: number[] = [];
  for (let kill = 0; kill < SINGLE_KILLS; kill += 1) kills.push(await killUnderLoad(await world.startWorker()));
  let survivor = await world.startWorker();
  for (let kill = 0; kill < PAIR_KILLS; kill += 1) {
    const other = await world.startWorker();
    kills.push(await killUnderLoad(survivor));
    survivor = other;
  }
  return { kills, survivor };
}

test('workers killed under load lose no event, duplicate no message, and record only real attempts', async () => {
  for (const handler of [respondWith(() => 200, 0), respondWith(() => 200, 150), failOnce()]) {
    const receiver = await startReceiver(handler);
    receivers.push(receiver);
    for (let count = 0; count < WEBHOOKS_PER_RECEIVER; count += 1) await world.addWebhook(`${receiver.url}/${count}`);
  }
  const { db } = world;
  const { kills, survivor } = await killRepeatedly();
  const emitted = world.emitted();
  const countUnrelayed = () => db.event.count({ where: { relayedAt: null } });
  const timeout = (kills.at(-1) ?? 0) + MAX_MS - Date.now();
  await expect
    .poll(async () => (await countUnrelayed()) + (await countUndelivered()), { timeout, interval: 250 })
    .toBe(0);
  expect(await survivor.end('SIGTERM')).toBe(0);

  const messages = await db.webhookMessage.findMany({ include: { deliveries: { orderBy: { attempt: 'asc' } } } });
  expect(messages.length).toBe(emitted * receivers.length * WEBHOOKS_PER_RECEIVER);
  const requestsById = Map.groupBy(
    receivers.flatMap(({ requests }) => requests),
    readMessageId,
  );
  expect(requestsById.size).toBe(messages.length);
  const rooms = Array.from({ length: emitted }, (_, index) => index + 1);
  for (const { requests } of receivers)
    for (const webhookRequests of Map.groupBy(requests, ({ target }) => target).values()) {
      const firsts = [...Map.groupBy(webhookRequests, readMessageId).values()].map(
        ([first]) => first?.body ?? Buffer.alloc(0),
      );
      expect(firsts.map(readRoomId).sort((a, b) => a - b)).toEqual(rooms);
    }

  let repeats = 0;
  for (const { id, payload, attempts, deliveries } of messages) {
    const requests = requestsById.get(id) ?? [];
    expect(requests.filter(({ body }) => !body.equals(Buffer.from(payload)))).toEqual([]);
    expect(deliveries.map(({ attempt }) => attempt)).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
    // An attempt is recorded with its start time: before its request arrived, and after the previous request.
    const records = requests.map(({ at }, index) => {
      const previous = requests[index - 1]?.at ?? new Date(0);
      return deliveries.find(({ createdAt }) => isBefore(createdAt, at) && !isBefore(createdAt, previous));
    });
    expect(records.filter((record) => record !== undefined)).toEqual(deliveries);
    expect(records.at(-1)).toMatchObject({ success: true });
    for (const [index, request] of requests.entries()) {
      const record = records[index];
      if (record) expect(record.responseStatus).toBe(statuses.get(request));
      else {
        repeats += 1;
        const at = request.at.getTime();
        expect(kills.some((killedAt) => at - killedAt < READ_LATE_MS && killedAt - at < UNRECORDED_MS)).toBe(true);
      }
    }
  }
  // Otherwise no worker was killed during an attempt, and the test has shown nothing.
  expect(repeats).toBeGreaterThan(0);
}, 240_000);

/**
 * The worker's clock follows the database, and on a busy machine differs from that of the receiver by a few
 * milliseconds. Attempts of one message are seconds apart.
 */
function isBefore(time: Date, other: Date): boolean {
  return time.getTime() <= other.getTime() + MAX_CLOCK_ERROR_MS;
}
