/** What wakes the loops of a process: notifications of PostgreSQL, and commits of the process itself. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { allStatements } from '../../src/db/statements.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

let app: TestApp;
const cleanups: (() => Promise<void>)[] = [];
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(async () => {
  for (const end of cleanups.splice(0)) await end();
});
afterAll(() => app.close());

/** Listens on `some_channel` and for commits, and waits until the connection is open. */
async function start({ everyMs = 0 } = {}) {
  const { eventSignal } = app.services.db;
  const wakeUps = createWakeUps(eventSignal);
  const counts = { channel: 0, commit: 0 };
  wakeUps.on('some_channel', () => {
    counts.channel += 1;
  });
  wakeUps.onCommit(() => {
    counts.commit += 1;
  }, everyMs);
  const listener = wakeUps.start({ connectionString: app.databaseUrl, log: app.services.log });
  cleanups.push(listener.stop);
  await eventually(async () => counts.channel === 1);
  return counts;
}

function notify(channel: string, payload = '') {
  return app.services.db.$queryRaw`select pg_notify(${channel}, ${payload})::text`;
}

test('a loop is woken by each notification on its channel, and when the connection is open again', async () => {
  const counts = await start();
  await notify('other_channel');
  await notify('some_channel');
  await eventually(async () => counts.channel === 2);
  await app.services.db.$queryRaw`
    select pg_terminate_backend(pid)::text from pg_stat_activity
    where application_name = 'lynxroom notifications' and datname = current_database()`;
  await eventually(async () => counts.channel === 3);
});

test('commits of this and of other processes wake a loop, each once', async () => {
  const counts = await start();
  app.services.db.eventSignal.raise();
  await eventually(async () => counts.commit === 2);
  await notify('lynxroom_relay', 'another process');
  await eventually(async () => counts.commit === 3);
});

test('many commits wake a loop once in a time, and the last of them is not lost', async () => {
  const hourly = await start({ everyMs: 3_600_000 });
  for (let commit = 0; commit < 20; commit += 1) await notify('lynxroom_relay', `process ${commit}`);
  await notify('some_channel');
  await eventually(async () => hourly.channel === 2);
  expect(hourly.commit).toBe(1);
  const often = await start({ everyMs: 50 });
  await notify('lynxroom_relay', 'another process');
  await eventually(async () => often.commit === 2);
});

test('a commit that adds mail wakes the loops', async () => {
  const counts = await start();
  const before = counts.commit;
  await addPerson(app);
  await eventually(async () => counts.commit > before);
});

test('statements that add events, entries of audit logs or mail say so', () => {
  const names = ['insert-audit-entries', 'insert-mails', 'read-mail-backlog'];
  expect(names.map((name) => allStatements.get(name)?.addsWork)).toEqual([true, true, false]);
  expect([...allStatements.values()].filter(({ addsEvents, addsWork }) => addsEvents && !addsWork)).toEqual([]);
});
