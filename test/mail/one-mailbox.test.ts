/** Nobody fills the mailbox of another person, although they may enter its address in many spellings. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { eraseMailsTo } from '../../src/mail/drop-mails.ts';
import { pruneMail } from '../../src/mail/prune-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const CALLS = 30;

/** Different addresses of one mailbox. */
const spell = (n: number) =>
  `${n % 2 === 0 ? 'vi.ctim' : 'victim'}+${n}@${n % 3 === 0 ? 'gmail.com' : 'googlemail.com'}`;

test('strangers who register, forget passwords and confirm again cause 5 messages of a kind in an hour', async () => {
  const emails = Array.from({ length: CALLS }, (_, n) => spell(n));
  const post = (path: string, body: object, token?: string) => app.http.post(`/api/auth/${path}`, token, body);
  const registered = await Promise.all(
    emails.map((email) => post('register', { email, password: PASSWORD, name: 'Victim' })),
  );
  expect(new Set(registered.map(({ status }) => status))).toEqual(new Set([200]));
  const answers = await Promise.all([
    ...emails.map((email) => post('forgot-password', { email })),
    ...registered.map(({ body }) => post('verify-email/resend', {}, body.token)),
  ]);
  expect(answers.map(({ status }) => status).every((status) => status < 500)).toBe(true);
  const messages = await app.services.db.mailMessage.groupBy({
    by: ['kind'],
    _count: true,
    where: { mailbox: 'victim@gmail.com' },
    orderBy: { kind: 'asc' },
  });
  expect(messages.map(({ kind, _count }) => [kind, _count])).toEqual([
    ['reset-password', 5],
    ['verify-email', 5],
  ]);
});

test('messages to a person who is erased, or has deleted the account, still count for an hour', async () => {
  const team = await addTeam(app);
  const invite = async () => {
    const answer = await app.http.post(`${team.path}/invitations`, team.owner.token, {
      email: 'often@example.com',
      role: 'member',
    });
    await app.http.post(`${team.path}/people/erase`, team.owner.token, { email: 'often@example.com' });
    return answer.status;
  };
  const invited: number[] = [];
  for (let count = 0; count < 11; count += 1) invited.push(await invite());
  expect(invited).toEqual([...Array.from({ length: 10 }, () => 200), 429]);

  for (let count = 0; count < 6; count += 1) {
    const account = { email: 'comes.and.goes@example.com', password: PASSWORD, name: 'Victim' };
    const { token } = (await app.http.post('/api/auth/register', undefined, account)).body;
    const sent = { toAddress: account.email, kind: 'verify-email' };
    expect(await app.services.db.mailMessage.count({ where: sent })).toBe(count < 5 ? 1 : 0);
    expect((await app.http.delete('/api/auth/me', token)).status).toBe(200);
  }
  expect(await app.services.db.mailMessage.count({ where: { toAddress: { contains: 'comes' } } })).toBe(0);
});

test('a message is erased in every state, and only what was sent still counts as sent', async () => {
  const { db } = app.services;
  const now = app.clock.now();
  const states = { queued: 'dropped', sent: 'sent', kept: 'sent', failed: 'failed', dropped: 'dropped' };
  await db.mailMessage.createMany({
    data: Object.keys(states).map((state) => ({
      messageId: `erased-${state}`,
      kind: 'verify-email',
      toAddress: 'every.state@example.com',
      data: state === 'queued' || state === 'kept' ? Buffer.from('sealed') : null,
      needsAccount: false,
      state,
      createdAt: now,
      dueAt: now,
      endedAt: state === 'queued' ? null : now,
    })),
  });
  expect(await eraseMailsTo(db.sql, { address: 'every.state@example.com', now })).toBe(5);
  const left = await db.mailMessage.findMany({
    where: { messageId: { startsWith: 'erased-' } },
    select: { messageId: true, state: true, toAddress: true, data: true },
    orderBy: { id: 'asc' },
  });
  expect(left).toEqual(
    Object.entries(states).map(([from, state]) => ({ messageId: `erased-${from}`, state, toAddress: '', data: null })),
  );
  const later = new Date(now.getTime() + DAY_MS + 1);
  await pruneMail({ ...app.services, clock: { now: () => later } });
  expect(await db.mailMessage.count({ where: { messageId: { startsWith: 'erased-' } } })).toBe(0);
});

test('one network forgets the passwords of one mailbox as often as that of one address', async () => {
  const strict = await startTestApp({ limits: { signInPerEmail: 3 } });
  try {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        strict.http.post('/api/auth/forgot-password', undefined, { email: spell(n) }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
  } finally {
    await strict.close();
  }
});
