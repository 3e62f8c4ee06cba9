/** Workers killed under load: whatever they were doing, each event arrives, as one message, and the books are right. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Handler, type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { openWorkshop, roomOf, type Workshop } from './fixtures/workshop.ts';

const KILLS_OF_ONE = 5;
const KILLS_OF_ONE_OF_TWO = 2;
const EMIT_EVERY_MS = 200;
/**
 * At each of the three receivers. Many, with few events for each: a worker that was killed keeps the places of its
 * attempts, 20 for a webhook, until its heartbeat is missed, and where it took them all the next worker has nothing to
 * be killed at.
 */
const WEBHOOKS_EACH = 8;
/** From the last kill on: the heartbeat of 10 s, the supervision of 5 s, and two retries' worth. */
const MAX_MS = 30_000;
/**
 * How long before a kill a request may have come whose attempt is not in the books, and how late it may be read here.
 */
const UNRECORDED_MS = 5_000;
const READ_LATE_MS = 1_000;

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

function nameOf({ headers }: ReceivedRequest): string {
  return String(headers['webhook-id']);
}
function received(): number {
  return receivers.reduce((sum, { requests }) => sum + requests.length, 0);
}

/** What each request was answered with. */
const statuses = new Map<ReceivedRequest, number>();

function answerWith(statusOf: (request: ReceivedRequest) => number, afterMs: number): Handler {
  return (request, response) => {
    const status = statusOf(request);
    statuses.set(request, status);
    setTimeout(() => response.writeHead(status).end(), afterMs);
  };
}

/** Refuses each message once. */
function fussy(): Handler {
  const refused = new Set<string>();
  return answerWith((request) => {
    if (refused.has(nameOf(request))) return 200;
    refused.add(nameOf(request));
    return 503;
  }, 0);
}

/** Emits until it is disposed of, which waits for the last transaction. */
function emitSteadily(): AsyncDisposable {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await workshop.emitRooms(1);
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

/**
 * Kills a worker at a random moment after requests have come from it or its like; resolves with the time of its end.
 */
async function killUnderLoad(worker: WorkerProcess): Promise<number> {
  const before = received();
  await expect.poll(received, { timeout: 20_000, interval: 10 }).toBeGreaterThan(before);
  await sleep(Math.random() * 1_000);
  await worker.end('SIGKILL');
  return Date.now();
}

/** All of it under load. Resolves with the times of the kills, and the worker that is left. */
async function killAgainAndAgain(): Promise<{ kills: number[]; survivor: WorkerProcess }> {
  await using _load = emitSteadily();
  const kills: number[] = [];
  for (let kill = 0; kill < KILLS_OF_ONE; kill += 1) kills.push(await killUnderLoad(await workshop.startWorker()));
  let survivor = await workshop.startWorker();
  for (let kill = 0; kill < KILLS_OF_ONE_OF_TWO; kill += 1) {
    const other = await workshop.startWorker();
    kills.push(await killUnderLoad(survivor));
    survivor = other;
  }
  return { kills, survivor };
}

test('workers killed under load, again and again, lose no event, repeat no event as another message, and lie about no attempt', async () => {
  for (const handler of [answerWith(() => 200, 0), answerWith(() => 200, 150), fussy()]) {
    const receiver = await startReceiver(handler);
    receivers.push(receiver);
    for (let count = 0; count < WEBHOOKS_EACH; count += 1) await workshop.addWebhook(`${receiver.url}/${count}`);
  }
  const { db } = workshop;
  const { kills, survivor } = await killAgainAndAgain();
  const emitted = workshop.emitted();
  const undelivered = () => db.webhookMessage.count({ where: { status: { not: 'delivered' } } });
  const unrelayed = () => db.event.count({ where: { relayedAt: null } });
  const timeouts = (kills.at(-1) ?? 0) + MAX_MS - Date.now();
  await expect
    .poll(async () => (await unrelayed()) + (await undelivered()), { timeout: timeouts, interval: 250 })
    .toBe(0);
  expect(await survivor.end('SIGTERM')).toBe(0);

  const messages = await db.webhookMessage.findMany({ include: { deliveries: { orderBy: { attempt: 'asc' } } } });
  expect(messages.length).toBe(emitted * receivers.length * WEBHOOKS_EACH);
  const requestsOf = Map.groupBy(
    receivers.flatMap(({ requests }) => requests),
    nameOf,
  );
  expect(requestsOf.size).toBe(messages.length);
  const rooms = Array.from({ length: emitted }, (_, index) => index + 1);
  for (const { requests } of receivers)
    for (const ofWebhook of Map.groupBy(requests, ({ target }) => target).values()) {
      const firsts = [...Map.groupBy(ofWebhook, nameOf).values()].map(([first]) => first?.body ?? Buffer.alloc(0));
      expect(firsts.map(roomOf).sort((a, b) => a - b)).toEqual(rooms);
    }

  let repeats = 0;
  for (const { id, payload, attempts, deliveries } of messages) {
    const requests = requestsOf.get(id) ?? [];
    expect(requests.filter(({ body }) => !body.equals(Buffer.from(payload)))).toEqual([]);
    expect(deliveries.map(({ attempt }) => attempt)).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
    // An attempt is in the books with the time at which it began: before its request came, after the one before it.
    const recordOf = requests.map(({ at }, index) =>
      deliveries.find(({ createdAt }) => createdAt <= at && createdAt > (requests[index - 1]?.at ?? new Date(0))),
    );
    expect(recordOf.filter((record) => record !== undefined)).toEqual(deliveries);
    expect(recordOf.at(-1)).toMatchObject({ success: true });
    for (const [index, request] of requests.entries()) {
      const record = recordOf[index];
      if (record) expect(record.responseStatus).toBe(statuses.get(request));
      else {
        repeats += 1;
        const at = request.at.getTime();
        expect(kills.some((killedAt) => at - killedAt < READ_LATE_MS && killedAt - at < UNRECORDED_MS)).toBe(true);
      }
    }
  }
  // Else no kill came while anything was under way, and all this has shown nothing.
  expect(repeats).toBeGreaterThan(0);
}, 120_000);
