/** Servers whose clocks differ, and clocks that step: which events a webhook gets is decided by the database. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Tx, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { type DeliveryWorld, startDeliveryWorld, type TestWebhook } from './fixtures/world.ts';

const TEN_MINUTES_MS = 600_000;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

/** Runs `work` with a clock that differs from that of the relay and the worker, as on another server. */
async function onAnotherServer<Result>(offsetMs: number, work: () => Promise<Result>): Promise<Result> {
  const { clock } = world.app;
  clock.advance(offsetMs);
  return work().finally(() => clock.advance(-offsetMs));
}

async function expectRooms({ receiver }: TestWebhook, rooms: readonly string[]): Promise<void> {
  await receiver.waitFor(rooms.length);
  await world.waitUntilIdle();
  const received = receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.room_name);
  expect(received.toSorted()).toEqual(rooms.toSorted());
}

test.each([TEN_MINUTES_MS, -TEN_MINUTES_MS])(
  'a webhook that is registered by a server whose clock is off by %i ms gets all events of both servers',
  async (offsetMs) => {
    const webhook = await onAnotherServer(offsetMs, () => world.addWebhook());
    const rooms: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      rooms.push(await world.createRoom());
      rooms.push(await onAnotherServer(offsetMs, () => world.createRoom()));
    }
    await expectRooms(webhook, rooms);
    await world.removeWebhook(webhook);
  },
);

test('a clock that steps back loses no event', async () => {
  const { clock } = world.app;
  clock.advance(TEN_MINUTES_MS);
  const webhook = await world.addWebhook();
  const rooms = [await world.createRoom()];
  clock.advance(-TEN_MINUTES_MS);
  for (let index = 0; index < 5; index += 1) rooms.push(await world.createRoom());
  await expectRooms(webhook, rooms);
  await world.removeWebhook(webhook);
});

test('a webhook gets the events that are committed after it, however old they are, and no others', async () => {
  const { app, team } = world;
  const { db, clock } = app.services;
  const leave = (tx: Tx, user_name: string, at = clock.now()) => {
    const data = { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name, reason: 'left' as const };
    return emit(sqlIn(tx), at, { type: 'member.left', workspaceId: team.id, data });
  };
  const relay = new pg.Client({ connectionString: app.databaseUrl });
  await relay.connect();
  // Nothing is relayed while another session holds the lock of the relay.
  await relay.query("select pg_advisory_lock(hashtext('webhook relay'))");
  await transact(db, (tx) => leave(tx, 'Before'));
  const [emitted, registered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const committing = transact(db, async (tx) => {
    await leave(tx, 'In progress');
    emitted.resolve();
    await registered.promise;
  });
  await emitted.promise;
  const webhook = await world.addWebhook({ events: ['member.left'] });
  registered.resolve();
  await committing;
  await transact(db, (tx) => leave(tx, 'After', new Date(clock.now().getTime() - TEN_MINUTES_MS)));
  await relay.end();
  await webhook.receiver.waitFor(2);
  await world.waitUntilIdle();
  const names = webhook.receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.user_name);
  expect(names.toSorted()).toEqual(['After', 'In progress']);
  await world.removeWebhook(webhook);
});
