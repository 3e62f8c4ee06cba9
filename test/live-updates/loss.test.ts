/** Counts what a reader loses or gets twice, while everything between the writers and the reader breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream, type ReceivedEvent, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const WRITERS = 8;
const EVENTS_EACH = 40;

let writing: TestApp;
let reading: TestApp;
let delivery: TestDelivery;
let team: Team;
beforeAll(async () => {
  writing = await startTestApp();
  // Another process, in effect: it shares nothing with the first but the database.
  reading = await startTestApp({ sharedDatabase: writing });
  delivery = await startTestDelivery(writing);
  team = await addTeam(writing);
});
afterAll(async () => {
  await delivery.stop();
  await reading.close();
  await writing.close();
});

class RolledBack extends Error {}

/** Writes events in concurrent transactions of different lengths, some of which are rolled back. */
async function write(writer: number): Promise<number[]> {
  const { db, clock } = writing.services;
  const committed: number[] = [];
  for (let index = 0; index < EVENTS_EACH; index += 1) {
    const itemId = writer * EVENTS_EACH + index + 1;
    const data = { workspace_id: team.id, item_id: itemId, name: 'a.pdf', mime_type: 'application/pdf', size: 1 };
    const deleted = { ...data, deleted_by: null, deleted_by_name: null };
    await transact(db, async (tx) => {
      await emit(sqlIn(tx), clock.now(), { type: 'library_item.deleted', workspaceId: team.id, data: deleted });
      await sleep((itemId * 7) % 11);
      if (itemId % 20 === 0) throw new RolledBack();
    }).then(
      () => committed.push(itemId),
      (error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      },
    );
  }
  return committed;
}

const itemsOf = (events: readonly ReceivedEvent[]): number[] =>
  events.filter(({ event }) => event === 'library_item.deleted').map(({ data }) => data.data.item_id);

test('each committed event arrives once and in order, while streams and the listening connection are cut', async () => {
  const url = `${reading.url}${team.path}/events/stream`;
  const received: ReceivedEvent[] = [];
  let stream: ReceivedStream = await openEventStream(url, team.owner.token);
  await stream.first('stream.opened');
  let isWriting = true;
  let cuts = 0;

  const readThroughCuts = async (): Promise<void> => {
    while (isWriting) {
      await sleep(60);
      stream.close();
      await stream.ended;
      received.push(...stream.events);
      cuts += 1;
      stream = await openEventStream(url, team.owner.token, { 'last-event-id': received.at(-1)?.id ?? '' });
    }
  };
  const breakNotifications = async (): Promise<void> => {
    const superuser = new pg.Client({ connectionString: writing.superuserUrl });
    await superuser.connect();
    while (isWriting) {
      await superuser.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'lynxroom notifications'`,
      );
      await sleep(150);
    }
    await superuser.end();
  };
  const breaking = Promise.all([readThroughCuts(), breakNotifications()]);
  const committed = (await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))).flat();
  isWriting = false;
  await breaking;
  expect(committed.length).toBe((WRITERS * EVENTS_EACH * 19) / 20);

  // A stream also sends events of its own, so only the items are counted.
  await eventually(async () => itemsOf([...received, ...stream.events]).length >= committed.length);
  const all = [...received, ...stream.events];
  expect(itemsOf(all).toSorted((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b));
  const ids = all.map(({ id }) => Number(id));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(all.map(({ event }) => event)).not.toContain('stream.reset');
  expect(cuts).toBeGreaterThan(1);
  stream.close();
});

test('a stream ends at the shutdown of its process, and another process continues it', async () => {
  const stopping = await startTestApp({ sharedDatabase: writing });
  const first = await openEventStream(`${stopping.url}${team.path}/events/stream`, team.owner.token);
  const opened = await first.first('stream.opened');
  stopping.services.live.endAll();
  await first.ended;
  expect(first.events).toEqual([opened]);
  const { status } = await stopping.http.get(`${team.path}/events/stream`, team.owner.token);
  expect(status).toBe(503);
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  const second = await openEventStream(`${reading.url}${team.path}/events/stream`, team.owner.token, {
    'last-event-id': opened.id,
  });
  const { data } = await second.first('room.created');
  expect([data.data.room_name, second.events.length]).toEqual([room.name, 1]);
  second.close();
  await stopping.close();
});
