/** What is done with messages by the clock. */
import type { Clock } from '../core/time.ts';
import { DAY_MS, HOUR_MS } from '../core/time.ts';
import { type Database, Prisma, retryDeadlocks } from '../db/client.ts';
import { wakeRelay } from './pending-messages.ts';
import { isQueued } from './queue.ts';

const MAX_AT_ONCE = 1_000;

/**
 * Deletes messages, with their attempts, that are older than so many days and that nothing has happened to since. What
 * still waits is kept.
 */
export async function pruneMessages(services: {
  db: Database;
  clock: Clock;
  settings: { webhookRetentionDays: number };
}): Promise<void> {
  const { db, clock, settings } = services;
  const until = new Date(clock.now().getTime() - settings.webhookRetentionDays * DAY_MS);
  for (;;) {
    const deleted = await retryDeadlocks(
      () => db.$executeRaw`
        delete from webhook_messages where (workspace_id, id) in
          (select workspace_id, id from webhook_messages
           where created_at < ${until} and updated_at < ${until} and status <> 'waiting' limit ${MAX_AT_ONCE}
           for update skip locked)`,
    );
    if (deleted < MAX_AT_ONCE) return;
  }
}

/** Has messages queued anew whose job is gone, as it is when the queue's tables were restored to another moment. */
export async function requeueLostMessages({ db, clock }: { db: Database; clock: Clock }): Promise<void> {
  const overdueSince = new Date(clock.now().getTime() - HOUR_MS);
  const found = await db.$executeRaw`
    update webhook_messages m set job_id = null
    where m.status = 'waiting' and m.job_id is not null and m.next_attempt_at < ${overdueSince}
      and not ${isQueued(Prisma.sql`m.job_id`)}`;
  if (found > 0) await wakeRelay(db);
}
