/** The relays are told after a commit that added events. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { createEventSignal, RELAY_CHANNEL } from '../../src/db/event-signal.ts';
import { sqlIn } from '../../src/db/sql.ts';
import type { Sql } from '../../src/db/statements.ts';
import type { NewEvent } from '../../src/events/catalogue.ts';
import { emit } from '../../src/events/emit.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let client: pg.Client;
let signals = 0;
let notifications = 0;
beforeAll(async () => {
  app = await startTestApp();
  app.services.db.eventSignal.listen(() => {
    signals += 1;
  });
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  client.on('notification', () => {
    notifications += 1;
  });
  await client.query(`listen ${RELAY_CHANNEL}`);
  team = await addTeam(app);
  // Longer than the pause between two signals, so that the last signal for the team's events is not counted below.
  await sleep(300);
  await eventually(async () => notifications === signals);
});
afterAll(async () => {
  await client.end();
  await app.close();
});

function emitTo(sql: Sql): Promise<void> {
  const data = { workspace_id: team.id, workspace_name: 'T', user_id: 1, user_name: 'U', reason: 'left' } as const;
  const event: NewEvent = { type: 'member.left', workspaceId: team.id, data };
  return emit(sql, app.clock.now(), event);
}

async function expectSignal(work: () => Promise<unknown>): Promise<void> {
  const next = signals + 1;
  await work();
  await expect.poll(() => [signals, notifications]).toEqual([next, next]);
}

test('one signal follows a statement, a transaction of statements, one of Prisma, and a call of the API', async () => {
  const { db } = app.services;
  await expectSignal(() => emitTo(db.sql));
  await expectSignal(() =>
    db.sql.transact(async (sql) => {
      await emitTo(sql);
      await emitTo(sql);
    }),
  );
  await expectSignal(() => transact(db, (tx) => emitTo(sqlIn(tx))));
  await expectSignal(() => app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id }));
});

test('no signal follows a transaction that is rolled back or adds no event', async () => {
  const { db } = app.services;
  await expectSignal(async () => {
    const fail = async (sql: Sql): Promise<void> => {
      await emitTo(sql);
      throw new Error('Rolled back');
    };
    await expect(db.sql.transact(fail)).rejects.toThrow('Rolled back');
    await expect(transact(db, (tx) => fail(sqlIn(tx)))).rejects.toThrow('Rolled back');
    await transact(db, (tx) => tx.room.count());
    // The only signal.
    await emitTo(db.sql);
  });
});

test('commits that follow each other share a signal, and a notification that fails does no harm', async () => {
  let woken = 0;
  let sent = 0;
  const signal = createEventSignal(async () => {
    sent += 1;
    throw new Error('No connection');
  });
  signal.listen(() => {
    woken += 1;
  });
  for (let count = 0; count < 100; count += 1) signal.raise();
  expect([woken, sent]).toEqual([1, 1]);
  await expect.poll(() => [woken, sent]).toEqual([2, 2]);
});
