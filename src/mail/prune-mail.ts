import { pruneAccountTokens } from '../auth/account-tokens.ts';
import { DAY_MS } from '../core/time.ts';
import { inBatches } from '../db/in-batches.ts';
import { bool, statement, time } from '../db/statements.ts';
import type { Services } from '../services.ts';
import { COUNTED_MS } from './drop-mails.ts';

/** Maximum number of rows that one statement deletes and locks. */
export const MAX_PRUNED = 1_000;

const pruneMessages = statement('prune-mail', {
  params: { endedBefore: time, now: time, counted: time },
  returns: { isDeleted: bool },
  sql: `
    delete from mail_messages where id = any(array(
      select id from mail_messages where ended_at < $counted and (to_address = '' or ended_at < $endedBefore)
        and not (kind = 'workspace-invitation' and state = 'failed' and expires_at > $now and to_address <> '')
      order by ended_at limit ${MAX_PRUNED} for update skip locked))
    returning true as "isDeleted"`,
});

/**
 * Deletes messages that were sent, kept, dropped or failed more than `MAIL_RETENTION_DAYS` ago, what is left of erased
 * ones after a day, and links that have expired. A failed invitation is kept until its link expires, because it is what
 * the list of invitations shows.
 */
export async function pruneMail({ db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const now = clock.now();
  const counted = new Date(now.getTime() - COUNTED_MS);
  const endedBefore = new Date(now.getTime() - settings.mailRetentionDays * DAY_MS);
  await inBatches(MAX_PRUNED, async () => (await db.sql.run(pruneMessages, { endedBefore, now, counted })).length);
  await pruneAccountTokens(db.sql, now);
}
