/** A webhook whose row another transaction has locked, such as the deletion of its workspace. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyRow } from '../../src/db/only-row.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { accept, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { createGate } from './fixtures/world.ts';

let app: TestApp;
let delivery: TestDelivery;
let receiver: Receiver;
let blocker: pg.Client;
beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  receiver = await startReceiver();
  blocker = new pg.Client({ connectionString: app.databaseUrl });
  await blocker.connect();
});
afterAll(async () => {
  await blocker.end();
  await delivery.stop();
  await receiver.close();
  await app.close();
});

async function addWebhook({ id, owner }: Team): Promise<number> {
  const input = { id, name: 'Chat', url: `${receiver.url}/${id}`, events: ['room.created' as const] };
  return (await owner.client.webhooks.create.mutate(input)).webhook.id;
}

function addRoom({ id, owner }: Team, name: string) {
  return owner.client.rooms.create.mutate({ name, workspace_id: id });
}

/** The workspaces and rooms of the requests so far. */
function arrivals(): string[] {
  return receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.room_name);
}

test('a long deletion in one workspace delays no event of another, and a rollback loses none', async () => {
  const [busy, other] = [await addTeam(app, 'Busy'), await addTeam(app, 'Other')];
  const [webhookId] = [await addWebhook(busy), await addWebhook(busy), await addWebhook(other)];
  await blocker.query('begin');
  await blocker.query('delete from webhooks where id = $1', [webhookId]);
  await addRoom(busy, 'busy-1');
  await addRoom(other, 'other-1');
  await receiver.waitFor(1);
  await addRoom(busy, 'busy-2');
  await addRoom(other, 'other-2');
  await receiver.waitFor(2);
  expect(arrivals()).toEqual(['other-1', 'other-2']);

  await blocker.query('rollback');
  await receiver.waitFor(6);
  expect(arrivals().slice(2).toSorted()).toEqual(['busy-1', 'busy-1', 'busy-2', 'busy-2']);

  const rows = await app.services.db.$queryRaw<{ name: string }[]>`
    select data->>'room_name' as name from events where type = 'room.created' order by sequence`;
  const names = rows.map(({ name }) => name);
  expect(names.indexOf('busy-1')).toBeLessThan(names.indexOf('busy-2'));
});

test.each(['rollback', 'commit'])(
  'while a webhook is being deleted, attempts at others are recorded, and after a %s its own are complete',
  async (end) => {
    const [busy, other] = [await addTeam(app, 'Busy'), await addTeam(app, 'Other')];
    const [webhookId, otherId] = [await addWebhook(busy), await addWebhook(other)];
    const before = receiver.requests.length;
    const gate = createGate(accept);
    receiver.respondWith(gate.handler);
    await Promise.all([addRoom(busy, `busy-${end}`), addRoom(other, `other-${end}`)]);
    await receiver.waitFor(before + 2);
    await blocker.query('begin');
    await blocker.query('delete from webhooks where id = $1', [webhookId]);
    gate.open();
    await waitForStatuses(otherId, ['delivered']);
    await addRoom(other, `other-${end}-2`);
    await waitForStatuses(otherId, ['delivered', 'delivered']);
    expect(await readStatuses(webhookId)).toEqual(['waiting']);
    await blocker.query(end);
    if (end === 'rollback') await waitForStatuses(webhookId, ['delivered']);
    await expect.poll(countJobs).toBe(0);
    expect(receiver.requests.length).toBe(before + 3);
    expect(app.logLines.filter(({ msg }) => msg === 'A poll failed')).toEqual([]);
  },
);

async function readStatuses(webhookId: number): Promise<string[]> {
  const messages = await app.services.db.webhookMessage.findMany({ where: { webhookId } });
  return messages.map(({ status }) => status);
}

async function waitForStatuses(webhookId: number, statuses: string[]): Promise<void> {
  await expect.poll(() => readStatuses(webhookId)).toEqual(statuses);
}

async function countJobs(): Promise<number> {
  const rows = await app.services.db.$queryRaw<{ count: number }[]>`
    select count(*)::int as count from webhook_messages where status = 'waiting' and queued_job_id = job_id`;
  return onlyRow(rows).count;
}
