/**
 * The parts of the statements that read meetings. A meeting is computed from the visits of its room whenever it is
 * read, so that reports that arrive late, erasures and the retention of visits need no further code. Triggers mark the
 * visits with which meetings began (`begins_meeting`), so that beginning and end are found with an index.
 */
import type { Actor } from '../../auth/identify.ts';
import { isAtLeast } from '../../core/roles.ts';
import { includesScope } from '../../core/scopes.ts';
import { secondsOf } from '../../db/columns.ts';
import { bool, int } from '../../db/statements.ts';
import { MAX_MEETING_VISITS, MAX_PAGE_VISITS, MAX_RECORDINGS } from './schemas.ts';

/** What decides which addresses the caller may see. */
export const addressParams = { workspaceId: int, callerId: int, isAdmin: bool };

/** What decides what the caller may see. */
export const viewerParams = { ...addressParams, readsRecordings: bool };

/** The values of `viewerParams`. An API key sees recordings only if its scopes allow it to read them. */
export function toViewer({ workspaceId, userId, role, credential }: Actor) {
  const scopes = credential?.kind === 'key' ? credential.scopes : null;
  const readsRecordings = includesScope(scopes, { resource: 'recordings', level: 'read' });
  return { workspaceId, callerId: userId, isAdmin: isAtLeast(role, 'admin'), readsRecordings };
}

/** Whether the caller is a host of the room `r`. Only hosts see addresses. */
export const isHostOf = '($isAdmin or r.user_id = $callerId)';

/**
 * A user is recognized by the account, the holder of a pass by the pass, a guest by the token of an earlier visit, or
 * by the same name and address.
 */
const person = `case when p.user_id is not null then 'user ' || p.user_id
        when p.pass_id is not null then 'pass ' || p.pass_id
        when btrim(p.email) <> '' then 'guest ' || lower(btrim(p.email)) || ' ' || lower(p.name)
        else 'visit ' || coalesce(p.first_visit_id, p.id) end`;

/**
 * Defines `peaks`: the most people who were present at the same time. Counts somebody with several open visits once.
 * Who leaves at the moment at which somebody joins does not meet them.
 */
const peakParts = `
    changes as (
      select v.meeting_id, v.person, c.at, c.change,
        sum(c.change) over (
          partition by v.meeting_id, v.person order by c.at, c.change rows unbounded preceding) as open_visits
      from visits v cross join lateral (values (v.joined_at, 1), (v.left_at, -1)) c (at, change)
      where c.at is not null and v.left_at is distinct from v.joined_at),
    counts as (
      select meeting_id, sum(change) over (
        partition by meeting_id order by at, change rows unbounded preceding) as present
      from changes where open_visits = case when change = 1 then 1 else 0 end),
    peaks as materialized (select meeting_id, max(present)::int as peak from counts group by meeting_id)`;

/** The recordings of the meeting `m` that the caller may watch, as JSON. */
const recordings = `(
      select coalesce(json_agg(json_build_object('id', c.id, 'title', c.title, 'status', c.status)
        order by c.created_at, c.id), '[]')
      from (
        select c.id, c.title, c.status, c.created_at from recordings c
        where c.workspace_id = $workspaceId and c.room_id = m.room_id and $readsRecordings and (
          ${isHostOf} or r.recordings_visible_to = 'members')
          and c.created_at <= coalesce(m.ended_at, 'infinity') and coalesce(c.ended_at, c.created_at) >= m.started_at
        order by c.created_at, c.id limit ${MAX_RECORDINGS}) c)`;

/** Selects the first visit of the meeting to which the visit `p` belongs. */
export const firstVisit = `
        select q.id as meeting_id, q.joined_at as started_at from participants q
        where q.workspace_id = $workspaceId and q.room_id = p.room_id and (q.joined_at, q.id) <= (p.joined_at, p.id)
          and q.begins_meeting order by q.joined_at desc, q.id desc limit 1`;

/** Selects when the next meeting of the room began after the meeting `g`. */
const nextStart = `
        select q.joined_at from participants q
        where q.workspace_id = $workspaceId and q.room_id = g.room_id
          and (q.joined_at, q.id) > (g.started_at, g.meeting_id) and q.begins_meeting
        order by q.joined_at, q.id limit 1`;

/**
 * When the meeting `g` ended, before a meeting that began at `n.joined_at`. If there is none, it is the last one of the
 * room, and runs while somebody is in the room. All visits of the room that ended ten minutes before the next meeting,
 * or earlier, belong to this meeting or to earlier ones.
 */
const endOfMeeting = `
        case when n.joined_at is not null or not exists (
          select from participants q
          where q.workspace_id = $workspaceId and q.room_id = g.room_id and q.status = 'joined')
        then (
          select q.left_at from participants q
          where q.workspace_id = $workspaceId and q.room_id = g.room_id and q.joined_at is not null
            and q.left_at <= coalesce(n.joined_at - interval '10 minutes', 'infinity')
          order by q.left_at desc limit 1) end`;

const visitColumns = `p.id, p.name, p.email, p.user_id, p.contact_id, p.joined_at, p.left_at, p.external_id, p.metadata,
      ${person} as person`;

/** Selects the first visits `p` of the meeting `m`. */
function visitsOfMeeting(columns: string): string {
  return `
        select ${columns} from participants p
        where p.workspace_id = $workspaceId and p.room_id = m.room_id and p.joined_at >= m.started_at
          and p.joined_at < coalesce(m.next_at, 'infinity')
        order by p.joined_at, p.id limit ${MAX_MEETING_VISITS}`;
}

/**
 * Defines `meetings`, `visits`, `people` and `peaks` of the meetings in the part `page (id, room_id, joined_at,
 * started_at, meeting_id)`, newest first. Each person has at most `maxVisits` visits in `people.visits`. Only the first
 * meetings, with about `MAX_PAGE_VISITS` visits together, are read (`is_read`); at least one is.
 */
export function meetingParts(maxVisits: number): string {
  return `
    spans as materialized (
      select g.*, n.joined_at as next_at, ${endOfMeeting} as ended_at
      from page g left join lateral (${nextStart}) n on true),
    sizes as materialized (
      select m.*, (select count(*) from (${visitsOfMeeting('')}) v) as size from spans m),
    meetings as materialized (
      select m.*, coalesce(sum(m.size) over (
        order by m.joined_at desc, m.id desc rows between unbounded preceding and 1 preceding), 0)
        < ${MAX_PAGE_VISITS} as is_read
      from sizes m),
    visits as materialized (
      select m.meeting_id, v.*, row_number() over (
        partition by m.meeting_id, v.person order by v.joined_at, v.id) as position
      from meetings m cross join lateral (
        ${visitsOfMeeting(visitColumns)}
        ) v where m.is_read),
    people as materialized (
      select v.meeting_id, ${firstVisitColumns.map(ofFirstVisit).join(', ')},
        (array_agg(v.metadata) filter (where v.position = 1))[1] as metadata,
        min(v.joined_at) as joined_at,
        case when bool_and(v.left_at is not null) then max(v.left_at) end as left_at, count(*)::int as visit_count,
        json_agg(json_build_object('participant_id', v.id, 'joined_at', ${secondsOf('v.joined_at')},
          'left_at', ${secondsOf('v.left_at')}) order by v.position) filter (where v.position <= ${maxVisits}) as visits
      from visits v group by v.meeting_id, v.person),
    ${peakParts}`;
}

const firstVisitColumns = ['id', 'name', 'user_id', 'email', 'contact_id', 'external_id'];

function ofFirstVisit(column: string): string {
  return `max(v.${column}) filter (where v.position = 1) as ${column}`;
}

/** The columns of a participant `o` of a meeting in the room `r`. */
export const participantColumns = `o.id, o.name, o.user_id,
      case when ${isHostOf} then o.email end as email,
      case when ${isHostOf} and o.email is not null then o.contact_id end as contact_id,
      case when ${isHostOf} then o.external_id end as external_id,
      case when ${isHostOf} then o.metadata end as metadata,
      ${secondsOf('o.joined_at')} as joined_at, ${secondsOf('o.left_at')} as left_at, o.visit_count, o.visits`;

/** The participants of the meeting `m` who joined first, as JSON. */
export function firstParticipants(max: number): string {
  return `(
      select coalesce(json_agg(to_json(f) order by f.joined_at, f.id), '[]') from (
        select ${participantColumns} from people o
        where o.meeting_id = m.meeting_id order by o.joined_at, o.id limit ${max}) f)`;
}

/** The fields of the meeting `m` in the room `r`, as JSON. */
export function meetingJson(participants: string): string {
  return `json_build_object('id', m.meeting_id,
      'room', json_build_object('id', r.id, 'name', r.name, 'display_name', r.display_name),
      'started_at', ${secondsOf('m.started_at')}, 'ended_at', ${secondsOf('m.ended_at')},
      'participant_count', (select count(*) from people o where o.meeting_id = m.meeting_id),
      'peak', coalesce((select k.peak from peaks k where k.meeting_id = m.meeting_id), 1),
      'participants', ${participants}, 'recordings', ${recordings})`;
}

/** The meetings `m` and their rooms `r`. */
export const meetingTables = 'meetings m join rooms r on r.workspace_id = $workspaceId and r.id = m.room_id';
