import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { int, type Sql, type SqlType, statement, text } from '../../db/statements.ts';
import type { Analytics } from './schemas.ts';

/** Number of days before today that the timelines cover. */
const DAYS_BEFORE_TODAY = 29;

/** `json` keeps the order of the fields; `jsonb` does not. */
const orderedJson: SqlType<Analytics> = { name: 'json' };

/**
 * Reads the counters, and adds the changes in `waiting`, which are not yet part of them. `offset 0` in `topSubjects`
 * keeps PostgreSQL from flattening the lateral lookup of a room or page into a join, so that the scan of the ordered
 * index stops after five rows.
 */
const findAnalytics = statement('find-analytics', {
  params: { workspaceId: int, today: text },
  returns: { analytics: orderedJson },
  sql: `
    with this as materialized (
      select id, room_count, contact_count, recording_count, recording_seconds, $today::date as today
      from workspaces where id = $workspaceId),
    waiting as materialized (
      select counter, day, type, subject_id, sum(amount) as count from counter_changes
      where workspace_id = $workspaceId group by counter, day, type, subject_id),
    types as materialized (
      select type, sum(count) as count from (
        select type, count from contact_event_days where workspace_id = $workspaceId
        union all select type, count from waiting where counter = 'contact_events') d
      group by type)
    select json_build_object(
      'kpis', json_build_object(
        'rooms', this.room_count + (select coalesce(sum(count), 0) from waiting where counter = 'rooms'),
        'recordings', this.recording_count,
        'recordingDuration', this.recording_seconds,
        'contacts', this.contact_count + (select coalesce(sum(count), 0) from waiting where counter = 'contacts'),
        'bookings', coalesce((select t.count from types t where t.type = 'booking'), 0)),
      'activityTimeline', (
        select coalesce(
          json_agg(json_build_object('date', day, 'bookings', bookings, 'room_joins', room_joins) order by day), '[]')
        from (
          select day, coalesce(sum(count) filter (where type = 'booking'), 0) as bookings,
            coalesce(sum(count) filter (where type = 'room_join'), 0) as room_joins
          from (
            select day, type, count from contact_event_days
            where workspace_id = $workspaceId and day between this.today - ${DAYS_BEFORE_TODAY} and this.today
            union all
            select day, type, count from waiting
            where counter = 'contact_events' and day between this.today - ${DAYS_BEFORE_TODAY} and this.today) d
          where type in ('booking', 'room_join')
          group by day) days),
      'eventTypeBreakdown', (
        select coalesce(
          json_agg(json_build_object('type', t.type, 'count', t.count) order by t.count desc, t.type collate "C"), '[]')
        from types t),
      'topBookingPages', (
        select coalesce(json_agg(json_build_object('id', s.id, 'title', s.title, 'slug', s.slug, 'count', s.count)
          order by s.count desc, s.id), '[]')
        from ${topSubjects('booking', 'booking_pages', 'title, slug')} s),
      'newContactsTimeline', (
        select coalesce(json_agg(json_build_object('date', day, 'count', count) order by day), '[]')
        from (
          select day, sum(count) as count
          from (
            select day, count from contact_days
            where workspace_id = $workspaceId and day between this.today - ${DAYS_BEFORE_TODAY} and this.today
            union all
            select day, count from waiting
            where counter = 'contacts' and day between this.today - ${DAYS_BEFORE_TODAY} and this.today) d
          group by day having sum(count) > 0) days),
      'topRooms', (
        select coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'display_name', s.display_name,
          'count', s.count) order by s.count desc, s.id), '[]')
        from ${topSubjects('room_join', 'rooms', 'name, display_name')} s)
    ) as analytics from this`,
});

/**
 * Reads the analytics of a workspace from one consistent snapshot: lifetime counts, and timelines of the last 30 UTC
 * days including today, oldest first. Equal counts are ordered by type or ID. Throws 404 if the workspace was deleted.
 *
 * The query reads counters per day and type, and per subject, but no events. Its cost therefore grows with the age of
 * the workspace in days, not with its activity.
 */
export async function readAnalytics(
  { db, clock }: { db: { sql: Sql }; clock: Clock },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
): Promise<Analytics> {
  const today = clock.now().toISOString().slice(0, 'YYYY-MM-DD'.length);
  const [row] = await db.sql.run(findAnalytics, { workspaceId, today });
  if (!row) throw notFound('Workspace');
  return row.analytics;
}

/**
 * Returns a subquery for the five rows of `table` with the most events of `type`. For subjects with pending changes, it
 * adds these to the stored counts. For the remaining subjects, an index yields the top five.
 */
function topSubjects(type: string, table: string, columns: string): string {
  const find = `cross join lateral (
    select id, ${columns} from ${table} where workspace_id = $workspaceId and id = s.subject_id offset 0) t`;
  return `(
    select * from (
      (select t.*, s.count::numeric as count from contact_event_subjects s ${find}
      where s.workspace_id = $workspaceId and s.type = '${type}' and s.subject_id <> all (array(
        select subject_id from waiting where type = '${type}' and subject_id is not null))
      order by s.count desc, s.subject_id limit 5)
      union all
      select t.*, s.count + coalesce((
        select f.count from contact_event_subjects f
        where f.workspace_id = $workspaceId and f.type = '${type}' and f.subject_id = s.subject_id), 0)
      from (
        select subject_id, sum(count) as count from waiting
        where type = '${type}' and subject_id is not null group by subject_id) s ${find}) counted
    order by count desc, id limit 5)`;
}
