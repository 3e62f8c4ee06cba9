import { pruneAccountTokens } from '../auth/account-tokens.ts';
import { DAY_MS } from '../core/time.ts';
import { inBatches } from '../db/in-batches.ts';
import { bool, statement, time } from '../db/statements.ts';
import type { Services } from '../services.ts';

/** Maximum number of rows that one statement deletes and locks. */
export const MAX_PRUNED = 1_000;

const pruneMessages = statement('prune-mail', {
  params: { endedBefore: time, now: time },
  returns: { isDeleted: bool },
  sql: `
    delete from mail_messages where id = any(array(
      select id from mail_messages where ended_at < $endedBefore
        and not (kind = 'workspace-invitation' and state = 'failed' and expires_at > $now)
      order by ended_at limit ${MAX_PRUNED} for update skip locked))
    returning true as "isDeleted"`,
});

/**
 * Deletes messages that were sent, kept, dropped or failed more than `MAIL_RETENTION_DAYS` ago, and links that have
 * expired. A failed invitation is kept until its link expires, because it is what the list of invitations shows.
 */
export async function pruneMail({ db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const now = clock.now();
  const endedBefore = new Date(now.getTime() - settings.mailRetentionDays * DAY_MS);
  await inBatches(MAX_PRUNED, async () => (await db.sql.run(pruneMessages, { endedBefore, now })).length);
  await pruneAccountTokens(db.sql, now);
}
