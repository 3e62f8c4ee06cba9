/**
 * The counters of rooms, contacts and contact events. Counting locks no row that writers share: when a counted row is
 * added or removed, a trigger appends the change to `counter_changes`. A job adds the pending changes to the counters
 * in `workspaces`, `contact_days`, `contact_event_days` and `contact_event_subjects`. A reader sums the counter and its
 * pending changes in one statement, so the result is always exact. docs/decisions/0010-analytics-sums.md explains why.
 */
import { SAFETY_POLL_MS, SECOND_MS } from '../core/time.ts';
import type { Database } from './client.ts';
import { int, nullable, statement } from './statements.ts';

const columns = { rooms: 'room_count', contacts: 'contact_count' } as const;
/** What a quota counts besides: rooms in the trash. */
const besides = { rooms: ' + w.trashed_room_count', contacts: '' } as const;

/** The maximum number of pending changes that a quota check reads. */
const MAX_READ = 10_000;
/** How many changes are added to the counters in one transaction. */
const MAX_FOLDED = 1_000;

/** SQL for the number of rooms or contacts of the workspace `w`. */
export function exactCount(counter: keyof typeof columns): string {
  return `(w.${columns[counter]} + (
    select coalesce(sum(amount), 0) from counter_changes where workspace_id = w.id and counter = '${counter}'))::int`;
}

/**
 * Like `exactCount`, but at a bounded cost: only the newest `MAX_READ` pending changes of the workspace are counted.
 * Usually only the changes of the last second are pending, but they stay pending while another transaction has locked
 * the workspace. Do not use it in a statement that locks the workspace more strongly than `for key share`. Such a
 * statement may wait for the job that adds a batch of changes to the counters. It would then count the changes of this
 * batch twice: in the counter, which it reads again after the wait, and as pending changes in its older snapshot.
 * Returns 0 without counting if the parameter `quota` of the statement is 0, which means that there is no quota. Counts
 * rooms in the trash too.
 */
export function countForQuota(counter: keyof typeof columns, quota: `$${string}`): string {
  return `(case when ${quota} = 0 then 0 else w.${columns[counter]}${besides[counter]} + (
    select coalesce(sum(amount) filter (where counter = '${counter}'), 0) from (
      select counter, amount from counter_changes where workspace_id = w.id order by id desc limit ${MAX_READ}
    ) newest) end)::int`;
}

/**
 * Takes a batch of changes from `$from` on, and adds it to the counters. Does nothing while another process does this.
 * Locks the workspaces first, like every transaction that locks several rows of a workspace. Changes of a workspace
 * that another transaction has locked stay in the queue for the next run. Changes of a deleted workspace are dropped.
 * If the room or booking page that a change is about was deleted, the change is not added to `contact_event_subjects`.
 * Within a workspace, changes are taken in the order of their ids, so no counter becomes negative in between. Only
 * changes that this statement itself deletes from the queue are added, so each is added exactly once, whatever the
 * snapshot shows.
 */
const foldChanges = statement('fold-counter-changes', {
  params: { from: int },
  returns: { seen: int, last: nullable(int), taken: int },
  sql: `
    with turn as materialized (select pg_try_advisory_xact_lock(hashtext('counter changes')) as is_ours),
    batch as materialized (
      select c.workspace_id, c.id from turn cross join lateral (
        select workspace_id, id from counter_changes where turn.is_ours and workspace_id >= $from
        order by workspace_id, id limit ${MAX_FOLDED}) c),
    present as materialized (
      select w.id from workspaces w where w.id in (select workspace_id from batch)
      order by w.id for no key update skip locked),
    taken as (
      delete from counter_changes c using batch b
      where c.workspace_id = b.workspace_id and c.id = b.id
        and (c.workspace_id in (select id from present)
          or not exists (select from workspaces w where w.id = c.workspace_id))
      returning c.*),
    changes as materialized (
      select t.workspace_id, t.counter, t.day, t.type, t.subject_id, sum(t.amount) as amount
      from taken t where t.workspace_id in (select id from present) group by 1, 2, 3, 4, 5),
    totals as (
      update workspaces w set room_count = w.room_count + c.rooms, contact_count = w.contact_count + c.contacts
      from (
        select workspace_id, coalesce(sum(amount) filter (where counter = 'rooms'), 0) as rooms,
          coalesce(sum(amount) filter (where counter = 'contacts'), 0) as contacts
        from changes group by 1) c
      where w.id = c.workspace_id and (c.rooms <> 0 or c.contacts <> 0)),
    contacts as (
      insert into contact_days as d (workspace_id, day, count)
      select workspace_id, day, sum(amount) from changes where counter = 'contacts' group by 1, 2 order by 1, 2
      on conflict (workspace_id, day) do update set count = d.count + excluded.count),
    events as (
      insert into contact_event_days as d (workspace_id, day, type, count)
      select workspace_id, day, type, sum(amount) from changes where counter = 'contact_events'
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (workspace_id, day, type) do update set count = d.count + excluded.count),
    subjects as (
      insert into contact_event_subjects as s (workspace_id, type, subject_id, count)
      select workspace_id, type, subject_id, sum(amount) from changes c
      where subject_id is not null and case type
        when 'room_join' then exists (select from rooms where workspace_id = c.workspace_id and id = c.subject_id)
        else exists (select from booking_pages where workspace_id = c.workspace_id and id = c.subject_id) end
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (workspace_id, type, subject_id) do update set count = s.count + excluded.count)
    select count(*)::int as seen, max(workspace_id) as last, (select count(*)::int from taken) as taken from batch`,
});

/**
 * Returns a function that adds one batch of changes to the counters. The function resolves with the delay until the
 * next call, in milliseconds: 0 if more changes may be pending. The call after a commit that added events may come
 * sooner.
 */
export function createCounterFolder({ db }: { db: Database }): () => Promise<number> {
  let from = 0;
  return async () => {
    const [batch] = await db.sql.run(foldChanges, { from });
    const isMore = batch?.seen === MAX_FOLDED;
    // If nothing could be taken, the whole batch belongs to workspaces that are locked.
    from = isMore ? (batch.last ?? 0) + (batch.taken === 0 ? 1 : 0) : 0;
    if (isMore) return 0;
    return batch !== undefined && batch.seen > 0 ? SECOND_MS : SAFETY_POLL_MS;
  };
}
