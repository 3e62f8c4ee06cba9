/** A webhook whose row another transaction has locked, such as the deletion of its workspace. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

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
