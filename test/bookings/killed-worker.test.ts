/** A worker that is killed while it reminds people of a meeting: nobody is forgotten. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEncryptionKey, createSealer } from '../../src/core/sealing.ts';
import { queueReminders } from '../../src/features/booking-mails/remind.ts';
import { eventually } from '../support/eventually.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { headerOf, textOf } from '../support/received-mail.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { addTeam } from '../support/world.ts';
import { book, createPage } from './pages.ts';

/** The advisory lock at which a transaction that queues mail stops. */
const GATE = 4712;
const GUEST = 'vera@example.com';

const key = createEncryptionKey();
let app: TestApp;
let sql: pg.Client;
let dataDir: string;
let mail: MailServer;
let worker: WorkerProcess | undefined;
/** Called while the mail server has a message and has not answered yet. */
let onMessage = (): void => {};

beforeAll(async () => {
  app = await startTestApp({ sealer: createSealer(key) });
  sql = new pg.Client({ connectionString: app.superuserUrl });
  await sql.connect();
  dataDir = await makeTempDir();
  mail = await startMailServer({ onMessage: () => onMessage() });
});
afterAll(async () => {
  await worker?.end('SIGKILL');
  await mail.close();
  await sql.end();
  await app.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** A booking whose reminder is due. The mail about the booking itself is not sent. */
beforeEach(async () => {
  await app.services.db.booking.deleteMany();
  const page = await createPage(app, await addTeam(app), { slug: `intro-${Math.random().toString(36).slice(2)}` });
  const { times } = (await app.http.get(`/api/book/${page.slug}`)).body;
  expect((await book(app, page.slug, times.at(-1))).status).toBe(200);
  await app.services.db.mailMessage.deleteMany();
  await app.services.db.booking.updateMany({ data: { reminderAt: app.clock.now() } });
});

function startWorker(): WorkerProcess {
  worker = startWorkerProcess({
    DATABASE_URL: app.databaseUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
    ENCRYPTION_KEY: Buffer.from(key).toString('base64'),
    SMTP_URL: mail.url,
    MAIL_FROM: 'noreply@lynxroom.example',
    PUBLIC_URL: 'https://app.example.com',
  });
  return worker;
}

/** The Message-IDs of the reminders that the mail server has received for the guest. */
function remindersOfGuest(): string[] {
  return mail.received
    .filter(({ to }) => to.includes(GUEST))
    .filter((one) => textOf(one).startsWith('Meeting soon'))
    .map(({ raw }) => headerOf(raw.split('\r\n\r\n')[0] ?? '', 'Message-ID') ?? '');
}

test('a reminder whose worker is killed while it is sent is sent again, with the same Message-ID', async () => {
  await queueReminders(app.services);
  const first = startWorker();
  onMessage = () => first.child.kill('SIGKILL');
  await first.ended;
  onMessage = () => {};
  const { db } = app.services;
  const [leased] = await db.mailMessage.findMany({ where: { toAddress: GUEST } });
  expect(leased).toMatchObject({ state: 'queued', attempts: 1 });
  expect(leased?.dueAt.getTime()).toBeGreaterThan(Date.now());
  // As if the lease had ended.
  await db.mailMessage.updateMany({ where: { state: 'queued' }, data: { dueAt: new Date(0) } });

  const second = startWorker();
  await eventually(async () => (await db.mailMessage.count({ where: { state: 'sent' } })) === 2);
  expect(await second.end('SIGTERM')).toBe(0);
  const received = remindersOfGuest();
  expect(received.length).toBeGreaterThan(0);
  expect(new Set(received).size).toBe(1);
  expect(await db.mailMessage.count()).toBe(2);
});

test('a reminder whose worker dies while it is queued stays due, and is then queued once', async () => {
  const { db } = app.services;
  await sql.query(`
    create function wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$;
    create trigger gate after insert on mail_messages for each statement execute function wait_at_gate()`);
  await sql.query('select pg_advisory_lock($1)', [GATE]);
  const queueing = queueReminders(app.services).then(
    () => 'queued',
    () => 'cut off',
  );
  await eventually(async () => {
    const { rows } = await sql.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and objid = $1 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      [GATE],
    );
    return rows.length > 0;
  });
  expect(await queueing).toBe('cut off');
  await sql.query('select pg_advisory_unlock($1)', [GATE]);
  await sql.query('drop trigger gate on mail_messages');
  expect(await db.mailMessage.count()).toBe(0);
  expect(await db.booking.count({ where: { reminderAt: { not: null } } })).toBe(1);

  for (let round = 0; round < 2; round += 1) await queueReminders(app.services);
  expect(await db.mailMessage.count({ where: { toAddress: GUEST, dedupeKey: { startsWith: 'reminder:' } } })).toBe(1);
  expect(await db.booking.count({ where: { reminderAt: { not: null } } })).toBe(0);
});
