/** Deleting old mail and links, however many there are. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_PRUNED, pruneMail } from '../../src/mail/prune-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('what ended long ago is deleted in batches, and nothing else', async () => {
  const { db, settings } = app.services;
  const many = MAX_PRUNED * 2 + 1;
  await db.$executeRaw`
    insert into mail_messages (message_id, kind, to_address, needs_account, state, created_at, due_at, ended_at)
    select 'old' || n, 'new-sign-in', 'ada@example.com', false, 'sent', now(), now(),
      now() - make_interval(days => ${settings.mailRetentionDays}::int, secs => 60)
    from generate_series(1, ${many}::int) n`;
  await db.$executeRaw`
    insert into mail_messages (message_id, kind, to_address, needs_account, state, created_at, due_at, ended_at, data)
    values ('new', 'new-sign-in', 'ada@example.com', false, 'sent', now(), now(), now(), null),
      ('waiting', 'new-sign-in', 'ada@example.com', false, 'queued', now() - interval '1 year', now(), null, '\\x00')`;
  await db.$executeRaw`
    insert into account_tokens (token_hash, purpose, address, created_at, expires_at)
    select sha256(n::text::bytea), 'reset_password', 'ada@example.com', now(),
      now() + case when n <= ${many}::int then interval '-1 minute' else interval '1 hour' end
    from generate_series(1, ${many + 1}::int) n`;
  await pruneMail(app.services);
  const left = await db.mailMessage.findMany({ orderBy: { id: 'asc' } });
  expect(left.map(({ messageId }) => messageId)).toEqual(['new', 'waiting']);
  expect(await db.accountToken.count()).toBe(1);
});
