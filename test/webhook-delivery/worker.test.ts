/** The delivery worker with a queue that fails: no lease outlives its work, and no attempt is lost. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DeliveryQueue, Lease } from '../../src/webhook-delivery/queue.ts';
import { startDeliveryWorker } from '../../src/webhook-delivery/worker.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { makeLease, makeOutcome } from './fixtures/attempts.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

/** Adds a webhook with a message that waits for a job, and returns a lease of this job. */
async function addLeasedMessage(changes: { isActive?: boolean; isSlow?: boolean }): Promise<Lease> {
  const { db, clock } = app.services;
  const input = { id: team.id, name: 'Chat', url: 'https://example.com/', events: ['room.created' as const] };
  const { webhook } = await team.owner.client.webhooks.create.mutate(input);
  await db.webhook.updateMany({ where: { id: webhook.id }, data: changes });
  const lease = makeLease(crypto.randomUUID(), `msg_${webhook.id}`, team.id);
  const at = clock.now();
  const payload = JSON.stringify({ event: 'room.created', timestamp: at.toISOString(), data: {} });
  await db.webhookMessage.create({
    data: {
      workspaceId: team.id,
      id: lease.data.messageId,
      webhookId: webhook.id,
      event: 'room.created',
      payload,
      jobId: lease.id,
      nextAttemptAt: at,
      createdAt: at,
      updatedAt: at,
    },
  });
  return lease;
}

function toWebhookId({ data }: Lease): number {
  return Number(data.messageId.replace('msg_', ''));
}

/** A queue whose fast lane returns these leases once. */
function makeQueue(leases: readonly Lease[]) {
  return {
    add: vi.fn<DeliveryQueue['add']>(async () => {}),
    wake: vi.fn<DeliveryQueue['wake']>(async () => {}),
    lease: vi.fn<DeliveryQueue['lease']>(async () => []).mockResolvedValueOnce([...leases]),
    renew: vi.fn<DeliveryQueue['renew']>(async () => {}),
    putBack: vi.fn<DeliveryQueue['putBack']>(async () => {}),
    complete: vi.fn<DeliveryQueue['complete']>(async () => {}),
    drop: vi.fn<DeliveryQueue['drop']>(async () => {}),
    findNextDue: vi.fn<DeliveryQueue['findNextDue']>(async () => 0),
    takeOldJobs: vi.fn<DeliveryQueue['takeOldJobs']>(async () => 0),
  };
}

function startWorker(queue: DeliveryQueue, send = async () => makeOutcome(204)) {
  const { db, clock, sealer } = app.services;
  const sender = { send, close: async () => {} };
  return startDeliveryWorker({ db, clock, sealer, sender, queue, log: quietLog, maxInFlight: 10 });
}

/** Whether `stop` resolves before it gives up waiting for leases, which takes 20 s. */
async function stopsAtOnce(worker: { stop(): Promise<void> }): Promise<boolean> {
  const startedAt = performance.now();
  await worker.stop();
  return performance.now() - startedAt < 15_000;
}

test('if obsolete jobs cannot be dropped, all leases that are not attempted are released', async () => {
  const queue = makeQueue([await addLeasedMessage({ isActive: false }), await addLeasedMessage({ isSlow: true })]);
  queue.drop.mockRejectedValueOnce(new Error('no connection'));
  const worker = startWorker(queue);
  await expect.poll(() => queue.drop.mock.calls.length).toBe(1);
  expect(await stopsAtOnce(worker)).toBe(true);
});

test('the jobs of a webhook that is being deleted stay, and delay no others', async () => {
  const [inactive, isSlow] = [{ isActive: false }, { isSlow: true }];
  const deleting = [await addLeasedMessage(inactive), await addLeasedMessage(isSlow)];
  const others = [await addLeasedMessage(inactive), await addLeasedMessage(isSlow)];
  const blocker = new pg.Client({ connectionString: app.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('delete from webhooks where id = any($1)', [deleting.map(toWebhookId)]);
  const queue = makeQueue([...deleting, ...others]);
  const worker = startWorker(queue);
  const completed = () =>
    [...queue.drop.mock.calls, ...queue.complete.mock.calls].flatMap(([, leases]) => leases.map(({ id }) => id));
  await expect.poll(completed).toEqual(others.map(({ id }) => id));
  await blocker.end();
  expect(queue.add.mock.calls.flatMap(([, jobs]) => jobs)).toMatchObject([{ lane: 'slow' }]);
  expect(await stopsAtOnce(worker)).toBe(true);
  expect(completed()).toEqual(others.map(({ id }) => id));
});

test('stop waits until the attempts in flight have finished and are recorded', async () => {
  const { db } = app.services;
  const lease = await addLeasedMessage({});
  const response = Promise.withResolvers<ReturnType<typeof makeOutcome>>();
  const send = vi.fn(() => response.promise);
  const worker = startWorker(makeQueue([lease]), send);
  await expect.poll(() => send.mock.calls.length).toBe(1);
  const stopped = worker.stop();
  response.resolve(makeOutcome(200));
  await stopped;
  expect(await db.webhookMessage.findFirst({ where: { id: lease.data.messageId } })).toMatchObject({
    status: 'delivered',
    attempts: 1,
  });
});

test('a job that is leased again while its attempt is in flight is attempted once', async () => {
  const lease = await addLeasedMessage({});
  const response = Promise.withResolvers<ReturnType<typeof makeOutcome>>();
  const send = vi.fn(() => response.promise);
  const queue = makeQueue([lease]);
  const worker = startWorker(queue, send);
  await expect.poll(() => send.mock.calls.length).toBe(1);
  // As after an outage of the database in which the lease has expired.
  const before = queue.lease.mock.calls.length;
  queue.lease.mockResolvedValueOnce([lease]);
  await expect.poll(() => queue.lease.mock.calls.length).toBeGreaterThan(before + 1);
  response.resolve(makeOutcome(200));
  await worker.stop();
  expect(send).toHaveBeenCalledTimes(1);
  expect(queue.putBack).not.toHaveBeenCalled();
});

test('an attempt is recorded even if the first transaction fails', async () => {
  const { db } = app.services;
  const lease = await addLeasedMessage({});
  const queue = makeQueue([lease]);
  queue.complete.mockRejectedValueOnce(new Error('no connection'));
  const worker = startWorker(queue);
  await expect.poll(() => queue.complete.mock.calls.length).toBe(2);
  await worker.stop();
  const [delivery, ...others] = await db.webhookDelivery.findMany({ where: { messageId: lease.data.messageId } });
  expect(others).toEqual([]);
  expect(delivery).toMatchObject({ attempt: 1, success: true });
});

test('while attempts wait to be recorded, further requests are sent, up to a limit', async () => {
  const { db } = app.services;
  const first = await addLeasedMessage({});
  const webhookId = toWebhookId(first);
  const message = await db.webhookMessage.findFirstOrThrow({ where: { id: first.data.messageId } });
  const leases = Array.from({ length: 250 }, (_, index) =>
    makeLease(crypto.randomUUID(), `msg_many_${index}`, team.id),
  );
  await db.webhookMessage.createMany({
    data: leases.map(({ id, data: { messageId } }) => ({ ...message, id: messageId, jobId: id })),
  });
  // The recorder waits for this lock.
  const blocker = new pg.Client({ connectionString: app.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select from webhooks where id = $1 for no key update', [webhookId]);

  const queue = makeQueue([]);
  const waiting = [...leases];
  let held = 0;
  let maxHeld = 0;
  queue.lease.mockImplementation(async (_db, lane, max) => {
    const leased = lane === 'fast' ? waiting.splice(0, max) : [];
    held += leased.length;
    maxHeld = Math.max(maxHeld, held);
    return leased;
  });
  queue.complete.mockImplementation(async (_sql, completed) => {
    held -= completed.length;
  });
  const send = vi.fn(async () => makeOutcome(204));
  const worker = startWorker(queue, send);
  await expect.poll(() => send.mock.calls.length).toBe(210);
  await blocker.query('commit');
  await blocker.end();
  await expect.poll(() => db.webhookMessage.count({ where: { webhookId, status: 'delivered' } })).toBe(250);
  expect(maxHeld).toBe(210);
  await worker.stop();
});
