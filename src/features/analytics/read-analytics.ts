import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import type { Analytics } from './schemas.ts';

/** How many days the timelines cover before today. */
const DAYS_BEFORE_TODAY = 29;

/**
 * Reads the analytics of a workspace in one consistent snapshot: lifetime counts, and timelines of the last 30 UTC days
 * including today, oldest first. Equal counts are ordered by type or id. Throws 404 if the workspace was deleted.
 *
 * No events are read. Triggers maintain counters per day and type, and per subject, so the cost grows with the age of
 * the workspace in days and not with its activity. `offset 0` keeps PostgreSQL from flattening the lateral lookup of a
 * room or page into a join, so the scan of the ordered index stops after five rows.
 */
export async function readAnalytics(
  { db, clock }: { db: Tx; clock: Clock },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
): Promise<Analytics> {
  const today = clock.now().toISOString().slice(0, 'YYYY-MM-DD'.length);
  const [row] = await db.$queryRaw<{ analytics: Analytics }[]>`
    with this as materialized (
      select id, room_count, recording_count, recording_seconds, ${today}::date as today
      from workspaces where id = ${workspaceId}),
    types as materialized (
      select d.type, sum(d.count) as count from contact_event_days d
      where d.workspace_id = ${workspaceId} group by d.type)
    select json_build_object(
      'kpis', json_build_object(
        'rooms', this.room_count,
        'recordings', this.recording_count,
        'recordingDuration', this.recording_seconds,
        'contacts', (select coalesce(sum(c.count), 0) from contact_days c where c.workspace_id = ${workspaceId}),
        'bookings', coalesce((select t.count from types t where t.type = 'booking'), 0)),
      'activityTimeline', (
        select coalesce(
          json_agg(json_build_object('date', day, 'bookings', bookings, 'room_joins', room_joins) order by day), '[]')
        from (
          select d.day, coalesce(sum(d.count) filter (where d.type = 'booking'), 0) as bookings,
            coalesce(sum(d.count) filter (where d.type = 'room_join'), 0) as room_joins
          from contact_event_days d
          where d.workspace_id = ${workspaceId} and d.day between this.today - ${DAYS_BEFORE_TODAY}::int and this.today
            and d.type in ('booking', 'room_join')
          group by d.day) days),
      'eventTypeBreakdown', (
        select coalesce(
          json_agg(json_build_object('type', t.type, 'count', t.count) order by t.count desc, t.type collate "C"), '[]')
        from types t),
      'topBookingPages', (
        select coalesce(json_agg(json_build_object('id', id, 'title', title, 'slug', slug, 'count', count)
          order by count desc, id), '[]')
        from (
          select p.id, p.title, p.slug, s.count from contact_event_subjects s
          cross join lateral (
            select id, title, slug from booking_pages
            where workspace_id = s.workspace_id and id = s.subject_id offset 0) p
          where s.workspace_id = ${workspaceId} and s.type = 'booking'
          order by s.count desc, s.subject_id limit 5) pages),
      'newContactsTimeline', (
        select coalesce(json_agg(json_build_object('date', c.day, 'count', c.count) order by c.day), '[]')
        from contact_days c
        where c.workspace_id = ${workspaceId} and c.day between this.today - ${DAYS_BEFORE_TODAY}::int and this.today
          and c.count > 0),
      'topRooms', (
        select coalesce(json_agg(json_build_object('id', id, 'name', name, 'display_name', display_name, 'count', count)
          order by count desc, id), '[]')
        from (
          select r.id, r.name, r.display_name, s.count from contact_event_subjects s
          cross join lateral (
            select id, name, display_name from rooms
            where workspace_id = s.workspace_id and id = s.subject_id offset 0) r
          where s.workspace_id = ${workspaceId} and s.type = 'room_join'
          order by s.count desc, s.subject_id limit 5) rooms)
    ) as analytics from this`;
  if (!row) throw notFound('Workspace');
  return row.analytics;
}
