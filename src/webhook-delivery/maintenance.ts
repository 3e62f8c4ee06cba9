/** Scheduled maintenance of messages. */

import { type Clock, DAY_MS, HOUR_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { inBatches } from '../db/in-batches.ts';
import { onlyRow } from '../db/only-row.ts';
import { int, statement, text, time } from '../db/statements.ts';
import { releaseOrphans } from './held-messages.ts';
import { wakeRelay } from './pending-messages.ts';
import { removeExpiredLeases } from './queue.ts';

const MAX_PER_BATCH = 1_000;

const pruneBatch = statement('prune-messages', {
  params: { until: time },
  returns: { id: text },
  sql: `
    delete from webhook_messages where (workspace_id, id) in
      (select workspace_id, id from webhook_messages
       where created_at < $until and updated_at < $until and status <> 'waiting' limit ${MAX_PER_BATCH}
       for update skip locked)
    returning id`,
});

/**
 * Deletes the messages, with their attempts, that were created more than `webhookRetentionDays` ago and have not
 * changed within that time. Pending messages are not deleted.
 */
export async function pruneMessages(services: {
  db: Database;
  clock: Clock;
  settings: { webhookRetentionDays: number };
}): Promise<void> {
  const { db, clock, settings } = services;
  const until = new Date(clock.now().getTime() - settings.webhookRetentionDays * DAY_MS);
  await inBatches(MAX_PER_BATCH, async () => (await db.sql.run(pruneBatch, { until })).length);
}

const clearLost = statement('clear-lost-jobs', {
  params: { overdueSince: time },
  returns: { count: int },
  sql: `
    with cleared as (
      update webhook_messages set job_id = null where (workspace_id, id) in
        (select m.workspace_id, m.id from webhook_messages m
         where m.status = 'waiting' and m.job_id is not null and m.next_attempt_at < $overdueSince
           and m.queued_job_id is distinct from m.job_id
         for update skip locked)
      returning true)
    select count(*)::int as count from cleared`,
});

/**
 * Clears the job ID of each message that is overdue by an hour and whose job is missing from the queue, so that the
 * relay queues a new one. Jobs are missing, for example, if the queue's tables were restored from an older backup than
 * the other tables. Also releases messages that wait for one that is no longer pending. Messages that are being
 * deleted, or whose attempts are being recorded, are left for the next run. Removes leases of jobs that are gone.
 */
export async function requeueLostMessages({ db, clock }: { db: Database; clock: Clock }): Promise<void> {
  const overdueSince = new Date(clock.now().getTime() - HOUR_MS);
  const { count } = onlyRow(await db.sql.run(clearLost, { overdueSince }));
  const released = await releaseOrphans(db.sql);
  await removeExpiredLeases(db.sql);
  if (count + released > 0) await wakeRelay(db.sql);
}
