/** Jobs that send reminders of bookings and delete unconfirmed bookings. */

import { DAY_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { mailBookings } from './mail-bookings.ts';

const BATCH = 100;

/** Concurrent calls take different bookings. */
const takeReminders = statement('take-reminders', {
  params: { now: time },
  returns: { workspaceId: int, id: int, isUpcoming: bool },
  sql: `
    with due as (
      select workspace_id, id from bookings where reminder_at <= $now and cancelled_at is null
      order by reminder_at limit ${BATCH} for update skip locked)
    update bookings b set reminder_at = null from due d where b.workspace_id = d.workspace_id and b.id = d.id
    returning b.workspace_id as "workspaceId", b.id, b.starts_at > $now as "isUpcoming"`,
});

const deleteUnconfirmed = statement('delete-unconfirmed-bookings', {
  params: { before: time },
  returns: { id: int },
  sql: `
    delete from bookings where (workspace_id, id) in
      (select workspace_id, id from bookings where confirm_by <= $before limit ${DELETE_BATCH})
    returning id`,
});

/**
 * Queues the reminders that are due. Each reminder is queued once, because the same transaction removes it from the
 * booking. If no worker ran before a meeting began, its reminder is skipped.
 */
export async function queueReminders(services: Pick<Services, 'db' | 'sealer' | 'clock'>): Promise<void> {
  const { db, clock } = services;
  await inBatches(BATCH, () =>
    transact(db, async (tx) => {
      const at = clock.now();
      const rows = await sqlIn(tx).run(takeReminders, { now: at });
      const upcoming = rows.filter(({ isUpcoming }) => isUpcoming);
      for (const [workspaceId, bookings] of Map.groupBy(upcoming, (row) => row.workspaceId)) {
        const bookingIds = bookings.map(({ id }) => id);
        await mailBookings(services, sqlIn(tx), { workspaceId, bookingIds }, { change: 'reminder', at });
      }
      return rows.length;
    }),
  );
}

/**
 * Deletes bookings that were not confirmed in time. They are kept for a day after they expire, because during that day
 * they count toward the limit on bookings from one network.
 */
export async function pruneUnconfirmed({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - DAY_MS);
  await inBatches(DELETE_BATCH, async () => (await db.sql.run(deleteUnconfirmed, { before })).length);
}
