/** What waits in the queue of pg-boss, which the previous version used, is delivered once, also beside that version. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDeliveryQueue } from '../../src/webhook-delivery/queue.ts';
import { type DeliveryWorld, startDeliveryWorld, type TestWebhook } from './fixtures/world.ts';

/** The columns of pg-boss that matter here, with its types. */
const SCHEMA = `
  create schema pgboss;
  create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  create table pgboss.job (id uuid not null, name text not null, priority int not null default 0, data jsonb,
    state pgboss.job_state not null default 'created', start_after timestamptz not null default now(),
    started_on timestamptz, heartbeat_on timestamptz, primary key (name, id))`;

let world: DeliveryWorld;
let client: pg.Client;
let webhook: TestWebhook;
beforeAll(async () => {
  world = await startDeliveryWorld();
  client = new pg.Client({ connectionString: world.app.databaseUrl });
  await client.connect();
  await client.query(SCHEMA);
});
afterAll(async () => {
  await client.end();
  await world.close();
});
beforeEach(async () => {
  webhook = await world.addWebhook();
});
afterEach(async () => {
  await world.removeWebhook(webhook);
  await client.query('delete from pgboss.job');
});

/** Adds a message with a job as the previous version does. `state` is that of its job. */
async function addOldMessage(state = 'created', heartbeat = 'now()'): Promise<{ id: string; jobId: string }> {
  await world.addPendingMessages(webhook, 1);
  const { workspaceId, id, jobId } = await world.app.services.db.webhookMessage.findFirstOrThrow({
    where: { webhookId: webhook.id, attempts: 0 },
  });
  await client.query(
    `insert into pgboss.job (id, name, data, state, priority, started_on, heartbeat_on)
     values ($1, 'webhooks.deliver', $2, $3, 0, ${heartbeat}, ${heartbeat})`,
    [jobId, { workspaceId, messageId: id }, state],
  );
  return { id, jobId: String(jobId) };
}

function take(): Promise<number> {
  return openDeliveryQueue(world.app.services).takeOldJobs(10);
}

test.each(['created', 'retry'])('a job that waits as %s is taken, and its message is delivered once', async (state) => {
  const { id, jobId } = await addOldMessage(state);
  expect(await take()).toBe(1);
  expect(await world.waitForDeliveries(webhook, 1)).toMatchObject([{ success: 1 }]);
  expect(await take()).toBe(0);
  const { attempts, jobId: after } = await world.app.services.db.webhookMessage.findFirstOrThrow({ where: { id } });
  expect([attempts, after === jobId]).toEqual([1, false]);
  expect(webhook.receiver.requests).toHaveLength(1);
});

test('a job that a process of the previous version is leasing or has leased is left to it', async () => {
  const leasing = await addOldMessage();
  await client.query('begin');
  await client.query('select from pgboss.job where id = $1 for update', [leasing.jobId]);
  expect(await take()).toBe(0);
  await client.query("update pgboss.job set state = 'active', started_on = now(), heartbeat_on = now()");
  await client.query('commit');
  expect(await take()).toBe(0);
  const { jobId, queuedJobId } = await world.app.services.db.webhookMessage.findFirstOrThrow({
    where: { id: leasing.id },
  });
  expect([jobId, queuedJobId]).toEqual([leasing.jobId, null]);
  expect(webhook.receiver.requests).toEqual([]);
});

test('the job of a process of the previous version that was killed is taken once its lease has expired', async () => {
  await addOldMessage('active', "now() - interval '31 s'");
  expect(await take()).toBe(1);
  await world.waitForDeliveries(webhook, 1);
  expect(webhook.receiver.requests).toHaveLength(1);
});

test('many processes take each job once, and those of pg-boss without a message are removed', async () => {
  await addOldMessage();
  await client.query(`insert into pgboss.job (id, name, data) values (gen_random_uuid(), 'webhooks.deliver', '{}')`);
  const taken = await Promise.all(Array.from({ length: 5 }, take));
  expect(taken.reduce((sum, count) => sum + count)).toBe(2);
  await world.waitForDeliveries(webhook, 1);
  await world.waitUntilIdle();
  expect(webhook.receiver.requests).toHaveLength(1);
});

test('a message to which a process of the previous version has given another job is not leased before it', async () => {
  const { db } = world.app.services;
  const { id } = await addOldMessage();
  await client.query('delete from pgboss.job');
  // The message was queued here, and then resent by the other process, which queues it in pg-boss.
  const old = crypto.randomUUID();
  await db.webhookMessage.updateMany({ where: { id }, data: { queuedJobId: old, queueRank: 0, dueAt: new Date(0) } });
  await world.app.services.db.$queryRaw`select pg_notify('lynxroom_delivery', '')::text`;
  expect(await openDeliveryQueue(world.app.services).lease(db.sql, 'fast', 10, [])).toEqual([]);
  expect(webhook.receiver.requests).toEqual([]);
});
