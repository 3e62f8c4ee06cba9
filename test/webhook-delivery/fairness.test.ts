/** Webhooks and workspaces that are slow, fail or have many messages do not delay the others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emitAll } from '../../src/events/emit.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import { openDeliveryQueue } from '../../src/webhook-delivery/queue.ts';
import { createRelay } from '../../src/webhook-delivery/relay.ts';
import { startDelivery } from '../../src/webhook-delivery/start.ts';
import { accept, respond, startReceiver } from '../support/receiver.ts';
import { startTestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { createGate, type DeliveryWorld, startDeliveryWorld, waitFor } from './fixtures/world.ts';

const SLOTS = 256;
const MAX_FAST = 20;
const MAX_SLOW = 5;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld({ maxInFlight: SLOTS });
});
afterAll(() => world.close());

function registerWebhook({ id, owner }: Team, url: string) {
  return owner.client.webhooks.create.mutate({ id, name: 'Chat', url, events: ['member.left'] });
}

test('a webhook has at most 20 attempts in flight, however many messages are due', async () => {
  const gate = createGate(accept);
  const webhook = await world.addWebhook({ events: ['member.left'], handler: gate.handler });
  await world.emitMemberLeft(90);
  await webhook.receiver.waitFor(MAX_FAST);
  // The worker looks for more in the meantime, and finds the message of another webhook.
  const other = await world.addWebhook();
  await world.createRoom();
  await world.waitForDeliveries(other, 1);
  expect(gate.held()).toBe(MAX_FAST);
  gate.open();
  await world.waitUntilIdle();
  expect(webhook.receiver.requests.length).toBe(90);
  // Responses that were held for 2 s make the webhook slow: then the slow lane sends too.
  expect(gate.maxHeld()).toBeLessThanOrEqual(MAX_FAST + MAX_SLOW);
  await world.removeWebhook(webhook);
  await world.removeWebhook(other);
});

test('a retry waits in the slow lane, and so does every message of a webhook that fails', async () => {
  const { db } = world.app.services;
  const webhook = await world.addWebhook({ handler: respond(500) });
  const readPriorities = (): Promise<{ priority: number }[]> => db.$queryRaw`
    select -queue_rank as priority from webhook_messages
    where webhook_id = ${webhook.id} and status = 'waiting' and queued_job_id = job_id`;
  await world.createRoom();
  await world.waitForDeliveries(webhook, 1);
  expect(await readPriorities()).toEqual([{ priority: -17 }]);
  await world.createRoom();
  await world.waitForDeliveries(webhook, 2);
  expect(await db.webhook.findFirst({ where: { id: webhook.id } })).toMatchObject({ isSlow: true });
  const priorities = await readPriorities();
  expect(priorities.length).toBe(2);
  expect(priorities.every(({ priority }) => priority <= -17)).toBe(true);
  await world.removeWebhook(webhook);
});

test('messages queued before their webhook began to fail are demoted: each is attempted once', async () => {
  const gate = createGate(respond(500));
  const failing = await world.addWebhook({ events: ['member.left'], handler: gate.handler });
  const other = await world.addWebhook();
  await world.emitMemberLeft(60);
  await failing.receiver.waitFor(MAX_FAST);
  gate.open();
  await waitFor(async () => expect((await world.readWebhook(failing)).failure_count).toBeGreaterThan(0));
  await world.createRoom();
  await world.waitForDeliveries(other, 1);
  await world.waitUntilIdle();
  expect(await world.app.services.db.webhookDelivery.count({ where: { webhookId: failing.id } })).toBe(60);
  expect(new Set(failing.receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(60);
  expect(failing.receiver.requests.length).toBe(60);
  await world.removeWebhook(failing);
  await world.removeWebhook(other);
});

test('a message of a quiet workspace overtakes those of a busy workspace that were relayed before it', async () => {
  await using cleanup = new AsyncDisposableStack();
  const app = await startTestApp();
  cleanup.defer(() => app.close());
  const { services, clock } = app;
  const receiver = await startReceiver();
  cleanup.defer(() => receiver.close());
  const [busy, quiet] = [await addTeam(app, 'Busy'), await addTeam(app, 'Quiet')];
  await registerWebhook(busy, `${receiver.url}/busy`);
  await registerWebhook(quiet, `${receiver.url}/quiet`);
  const leave = ({ id }: Team, user_id = 1) => ({
    type: 'member.left' as const,
    workspaceId: id,
    data: { workspace_id: id, workspace_name: 'Team', user_id, user_name: 'Ada', reason: 'left' as const },
  });
  const events = [...Array.from({ length: 1_500 }, (_, index) => leave(busy, index + 1)), leave(quiet)];
  await transact(services.db, (tx) => emitAll(sqlIn(tx), clock.now(), events));

  const relayBatch = createRelay({ ...services, queue: openDeliveryQueue(services) });
  while (await relayBatch());
  const wakeUps = createWakeUps(services.db.eventSignal);
  const delivery = startDelivery({ wakeUps, services, maxInFlight: SLOTS });
  cleanup.defer(delivery.stop);
  const position = await waitFor(async () => {
    const index = receiver.requests.findIndex(({ target }) => target === '/quiet');
    expect(index).not.toBe(-1);
    return index;
  });
  expect(position).toBeLessThan(100);
});

test('receivers of three workspaces that hang leave slots to a fourth workspace', async () => {
  const { app } = world;
  const hanging = await startReceiver(() => {});
  const responding = await startReceiver();
  try {
    for (const name of ['One', 'Two', 'Three']) {
      const team = await addTeam(app, name);
      for (let index = 0; index < 5; index += 1) await registerWebhook(team, `${hanging.url}/${index}`);
      await world.emitMemberLeft(100, team.id);
    }
    // Each has its share of the slots, and far more messages are due.
    await hanging.waitFor(60);
    const team = await addTeam(app, 'Four');
    await registerWebhook(team, responding.url);
    await world.emitMemberLeft(1, team.id);
    await responding.waitFor(1);
    // No hanging attempt had ended by then, so no slot had to be waited for.
    const { db } = app.services;
    const hangingWorkspaces = { name: { in: ['One', 'Two', 'Three'] } };
    expect(await db.webhookDelivery.count({ where: { webhook: { workspace: hangingWorkspaces } } })).toBe(0);
    expect(hanging.requests.length).toBeLessThan(SLOTS);
  } finally {
    await hanging.close();
    await responding.close();
  }
});
