/** The outbox of mail, and the links in it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccountToken, takeAccountToken } from '../../src/auth/account-tokens.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { type BookingChange, linkTo, type MailedBooking } from '../../src/mail/kinds.ts';
import { mailSeal, type NewMail, queueMail, queueMails } from '../../src/mail/queue-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = linkTo('/reset-password', 'lnm_secret');

const booking: MailedBooking = {
  uid: '3c5a1f5e-5a36-4d0e-9f6c-0d5e4c1b2a39',
  sequence: 0,
  changedAt: 0,
  title: 'Intro call',
  startsAt: 0,
  endsAt: 1_800,
  timeZone: 'UTC',
  host: { name: 'Ada', email: 'ada@example.com' },
  guest: { name: 'Vera', email: 'vera@example.com' },
  room: null,
};

function reset(to: string): NewMail {
  return { kind: 'reset-password', to, data: { link } };
}

function queue(mail: NewMail): Promise<boolean> {
  return queueMail(app.services, app.services.db.sql, mail);
}

function rowsOf(toAddress: string) {
  return app.services.db.mailMessage.findMany({ where: { toAddress } });
}

test('a message is queued with the transaction, and not if that is rolled back', async () => {
  const { db } = app.services;
  await transact(db, (tx) => queueMail(app.services, sqlIn(tx), reset('committed@example.com')));
  const failed = transact(db, async (tx) => {
    await queueMail(app.services, sqlIn(tx), reset('rolled-back@example.com'));
    throw new Error('Something else failed');
  });
  await expect(failed).rejects.toThrow('Something else failed');
  expect(await rowsOf('committed@example.com')).toHaveLength(1);
  expect(await rowsOf('rolled-back@example.com')).toHaveLength(0);
});

test('the database stores the link of a message only sealed, and bound to the message', async () => {
  await queue(reset('sealed@example.com'));
  const [row] = await rowsOf('sealed@example.com');
  if (!row?.data) throw new Error('The message has no data');
  expect(Buffer.from(row.data).includes('lnm_')).toBe(false);
  expect(JSON.parse(app.services.sealer.open(row.data, mailSeal(row.messageId)))).toEqual({ link });
  const { data } = row;
  expect(() => app.services.sealer.open(data, mailSeal('another'))).toThrow('Failed to open');
  expect(row.expiresAt?.getTime()).toBe(row.createdAt.getTime() + HOUR_MS);
});

test('a message with the same key is queued once', async () => {
  const keyed: NewMail = { ...reset('once@example.com'), dedupeKey: 'the same' };
  expect(await Promise.all([queue(keyed), queue(keyed)])).toContain(false);
  expect(await rowsOf('once@example.com')).toHaveLength(1);
});

test('a recipient gets a limited number of messages of a kind in an hour', async () => {
  const to = 'limited@example.com';
  for (let sent = 0; sent < 5; sent += 1) expect(await queue(reset(to))).toBe(true);
  expect(await queue(reset(to))).toBe(false);
  expect(await queue({ kind: 'password-changed', to, data: { by: 'owner' } })).toBe(true);
  app.clock.advance(HOUR_MS);
  expect(await queue(reset(to))).toBe(true);
});

test('a mailbox has one limit for all its addresses, also if they come at once', async () => {
  const addresses = Array.from({ length: 30 }, (_, n) => {
    const local = n % 2 === 0 ? 'o.n.e.p.e.r.s.o.n' : 'oneperson';
    return `${local}+${n}@${n % 3 === 0 ? 'googlemail.com' : 'gmail.com'}`;
  });
  const inOneCall = addresses.splice(20).map(reset);
  const queued = await Promise.all([
    ...addresses.map(async (to) => ((await queue(reset(to))) ? 1 : 0)),
    queueMails(app.services, app.services.db.sql, inOneCall),
  ]);
  expect(queued.reduce((sum, count) => sum + count, 0)).toBe(5);
  const { db } = app.services;
  expect(await db.mailMessage.count({ where: { mailbox: 'oneperson@gmail.com' } })).toBe(5);
  expect(await queue(reset('one.other@gmail.com'))).toBe(true);
});

test('mail to many mailboxes at once takes a bounded number of locks', async () => {
  const { db } = app.services;
  const mails = Array.from({ length: 5_000 }, (_, n) => reset(`one-of-many-${n}@example.com`));
  await transact(db, async (tx) => {
    expect(await queueMails(app.services, sqlIn(tx), mails)).toBe(mails.length);
    const [row] = await tx.$queryRaw<{ locks: number }[]>`
      select count(*)::int as locks from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`;
    expect(row?.locks).toBeLessThanOrEqual(1_024);
    await tx.$executeRaw`delete from mail_messages where to_address like 'one-of-many-%'`;
  });
});

test('while too many of a kind wait, only other kinds, notices and what a meeting needs are queued', async () => {
  const { db } = app.services;
  await db.$executeRaw`
    insert into mail_messages (message_id, kind, to_address, needs_account, created_at, due_at, data)
    select kind || n, kind, 'flood@example.com', false, now(), now(), '\\x00'
    from generate_series(1, 10000) n,
      unnest(array['verify-email', 'password-changed', 'booking-for-guest', 'cancellation-for-guest']) kind`;
  const to = 'full@example.com';
  expect(await queue({ kind: 'verify-email', to, data: { link } })).toBe(false);
  expect(await queue(reset(to))).toBe(true);
  expect(await queue({ kind: 'password-changed', to, data: { by: 'reset-link' } })).toBe(true);
  const expiresAt = new Date(app.clock.now().getTime() + HOUR_MS);
  const ofBooking = (kind: 'booking' | 'cancellation', change: BookingChange): NewMail => {
    const data = { change, booking, link: null };
    return { kind: `${kind}-for-guest`, to, expiresAt, data };
  };
  expect(await queue(ofBooking('booking', 'booked'))).toBe(false);
  expect(await queue(ofBooking('cancellation', 'cancelled'))).toBe(true);
  await db.mailMessage.deleteMany({ where: { messageId: 'verify-email1' } });
  expect(await queue({ kind: 'verify-email', to, data: { link } })).toBe(true);
  await db.mailMessage.deleteMany({ where: { toAddress: 'flood@example.com' } });
});

test('a token works once, for its purpose, until it expires', async () => {
  const { sql } = app.services.db;
  const { id: userId, email: address } = await addPerson(app);
  const now = app.clock.now();
  const expiresAt = new Date(now.getTime() + DAY_MS);
  const create = async (): Promise<string> =>
    (await createAccountToken(sql, { purpose: 'verify_email', userId, address }, { now, expiresAt })) ?? 'none';

  const token = await create();
  expect(await takeAccountToken(sql, token, ['reset_password'], now)).toBeNull();
  const taken = await Promise.all(
    [1, 2, 3].map(() => takeAccountToken(sql, token, ['verify_email', 'change_email'], now)),
  );
  expect(taken.filter((one) => one !== null)).toEqual([{ purpose: 'verify_email', userId, address }]);

  expect(await takeAccountToken(sql, await create(), ['verify_email'], expiresAt)).toBeNull();
  expect(await takeAccountToken(sql, 'lnm_unknown', ['verify_email'], now)).toBeNull();
});
