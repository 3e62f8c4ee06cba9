/** The numbers of events: they grow in the order of the commits, whatever the ids of the events are. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Tx, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { startTestDelivery } from '../support/delivery.ts';
import { type DeliveryWorld, startDeliveryWorld } from './fixtures/world.ts';

const WRITERS = 8;
const EVENTS_EACH = 40;

let world: DeliveryWorld;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());

function emitLeft(tx: Tx, user_name: string): Promise<void> {
  const { app, team } = world;
  const data = { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name, reason: 'left' as const };
  return emit(sqlIn(tx), app.clock.now(), { type: 'member.left', workspaceId: team.id, data });
}

function readLog(after = 0n) {
  return world.app.services.db.event.findMany({
    where: { workspaceId: world.team.id, sequence: { gt: after } },
    orderBy: { sequence: 'asc' },
  });
}

test('an event that is committed later has a higher sequence, though it has a lower id', async () => {
  const { db } = world.app.services;
  const [emitted, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const committing = transact(db, async (tx) => {
    await emitLeft(tx, 'Slow');
    emitted.resolve();
    await mayCommit.promise;
  });
  await emitted.promise;
  await transact(db, (tx) => emitLeft(tx, 'Fast'));
  await expect
    .poll(() => db.event.count({ where: { data: { path: ['user_name'], equals: 'Fast' }, sequence: { not: null } } }))
    .toBe(1);
  mayCommit.resolve();
  await committing;
  await world.waitUntilIdle();
  const [fast, slow] = (await readLog()).slice(-2);
  expect([fast?.data, slow?.data]).toMatchObject([{ user_name: 'Fast' }, { user_name: 'Slow' }]);
  expect(Number(slow?.id)).toBeLessThan(Number(fast?.id));
});

test('a reader that goes on from the last sequence it has seen misses nothing, with two relays', async () => {
  const { app } = world;
  const { db } = app.services;
  const second = await startTestDelivery(app);
  const committed = new Set<string>();
  let isWriting = true;
  const read: string[] = [];
  const reading = (async () => {
    let last = (await readLog()).at(-1)?.sequence ?? 0n;
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      for (const { data, sequence } of await readLog(last)) {
        read.push((data as { user_name: string }).user_name);
        last = sequence ?? last;
      }
    }
  })();
  const write = async (writer: number): Promise<void> => {
    for (let index = 0; index < EVENTS_EACH; index += 1) {
      const name = `${writer}/${index}`;
      const isRolledBack = Math.random() < 0.1;
      const writing = transact(db, async (tx) => {
        await emitLeft(tx, name);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
        if (isRolledBack) throw new Error('rolled back');
      });
      await writing.then(
        () => committed.add(name),
        () => {},
      );
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  await world.waitUntilIdle();
  isWriting = false;
  await reading;
  await second.stop();
  expect(read.toSorted()).toEqual([...committed].toSorted());
});

test('a message, its deliveries and its header carry the sequence of the event; a test message has none', async () => {
  const { app, team } = world;
  const webhook = await world.addWebhook();
  await world.createRoom();
  const [delivery] = await world.waitForDeliveries(webhook, 1);
  const [event] = await app.services.db.event.findMany({ orderBy: { sequence: 'desc' }, take: 1 });
  const sequence = Number(event?.sequence);
  expect(sequence).toBeGreaterThan(0);
  expect(delivery).toMatchObject({ sequence });
  expect(await world.readMessage(webhook, delivery?.delivery_id)).toMatchObject({ sequence, attempts: [{ sequence }] });
  expect(webhook.receiver.requests[0]?.headers['x-webhook-sequence']).toBe(String(sequence));
  await app.http.post(`${webhook.path}/test`, team.owner.token);
  const [sent] = await world.waitForDeliveries(webhook, 2);
  expect(sent).toMatchObject({ event: 'webhook.test', sequence: null });
  expect(webhook.receiver.requests[1]?.headers).not.toHaveProperty('x-webhook-sequence');
  await world.removeWebhook(webhook);
});
