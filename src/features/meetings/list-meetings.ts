import type { Actor } from '../../auth/identify.ts';
import { badField } from '../../core/errors.ts';
import { MAX_LISTED, type Page, type PageRequest } from '../../core/list-page.ts';
import { readSlug } from '../../core/slugs.ts';
import { fromUnixSeconds } from '../../core/time.ts';
import { LAST_SECOND } from '../../core/validation.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import {
  byTime,
  type PagedList,
  type PageText,
  pagedList,
  runPage,
  timeKey,
  timeKeyOf,
  toPage,
} from '../../db/pages.ts';
import { int, json, nullable, type Sql, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import {
  firstParticipants,
  firstVisit,
  isHostOf,
  meetingJson,
  meetingParts,
  meetingTables,
  toViewer,
  viewerParams,
} from './meeting-parts.ts';
import {
  type ListMeetingsInput,
  MAX_LISTED_PARTICIPANTS,
  MAX_LISTED_VISITS,
  MAX_SEARCHED_VISITS,
  type Meeting,
} from './schemas.ts';

const params = { ...viewerParams, from: time, to: time };
const personParams = { ...params, email: nullable(text), contactId: nullable(int), pattern: nullable(text) };
const list = {
  order: byTime('p.joined_at', 'p.id', 'desc'),
  returns: { id: int, meeting: nullable(json<Meeting>('json')), ...timeKey },
};

const isInRange = `p.workspace_id = $workspaceId and p.joined_at is not null and p.joined_at >= $from
        and p.joined_at < $to`;
const isInRoom = 'and p.room_id = (select r.id from rooms r where r.workspace_id = $workspaceId and r.name = $room)';
const roomOfVisit = 'join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id';

/** Whether the visit `p` in the room `r` is of the person who is searched for. */
const isWanted = `($pattern is null or p.name ilike $pattern)
          and ($email is null or (lower(btrim(p.email)) = $email and ${isHostOf}))
          and ($contactId is null or (p.contact_id = $contactId and ${isHostOf}))`;

/** The visit `p` of the person, and when the visit before it in the room began. */
const visitOfPerson = `p.id, p.room_id, p.joined_at,
          lead(p.joined_at) over (partition by p.room_id order by p.joined_at desc, p.id desc) as previous`;

const allMeetings = {
  ofWorkspace: pagedList('list-meetings', { ...list, params, sql: (page) => selectMeetings('', page) }),
  ofRoom: pagedList('list-meetings-of-room', {
    ...list,
    params: { ...params, room: text },
    sql: (page) => selectMeetings(isInRoom, page),
  }),
};

const meetingsOfUser = {
  ofWorkspace: pagedList('list-meetings-of-user', {
    ...list,
    params: { ...personParams, userId: int },
    sql: (page) => selectMeetingsOfPerson(visitsOfUser('', page), page),
  }),
  ofRoom: pagedList('list-meetings-of-user-in-room', {
    ...list,
    params: { ...personParams, userId: int, room: text },
    sql: (page) => selectMeetingsOfPerson(visitsOfUser(isInRoom, page), page),
  }),
};

const meetingsOfPerson = {
  ofWorkspace: pagedList('list-meetings-of-person', {
    ...list,
    params: personParams,
    sql: (page) => selectMeetingsOfPerson(newestVisits('', page), page),
  }),
  ofRoom: pagedList('list-meetings-of-person-in-room', {
    ...list,
    params: { ...personParams, room: text },
    sql: (page) => selectMeetingsOfPerson(newestVisits(isInRoom, page), page),
  }),
};

/** Selects the visits with which a meeting began, in the order of an index of these visits. */
function selectMeetings(scope: string, { after, window }: PageText): string {
  return selectPage(`
      select p.id, p.room_id, p.joined_at, p.joined_at as started_at, p.id as meeting_id from participants p
      where ${isInRange} ${scope} and p.begins_meeting ${after}
      ${window}`);
}

/**
 * Selects the first visit of the person in each meeting. `visits` are their visits in scope, newest first. Looks for a
 * mark since the visit before, before it looks for the meeting, because most visits of a person who comes often belong
 * to the meeting of the visit before.
 */
function selectMeetingsOfPerson(visits: string, { after, window }: PageText): string {
  return selectPage(`
      select p.id, p.room_id, p.joined_at, s.started_at, s.meeting_id
      from (
        select p.* from (${visits}) p
        where p.previous is null or exists (
          select from participants q
          where q.workspace_id = $workspaceId and q.room_id = p.room_id and q.begins_meeting
            and q.joined_at > p.previous and q.joined_at <= p.joined_at)
        order by p.joined_at desc, p.id desc offset 0) p
      cross join lateral (${firstVisit} offset 0) s
      where (p.previous is null or s.started_at > p.previous) ${after}
      ${window}`);
}

function visitsOfUser(scope: string, page: PageText): string {
  return newestVisits('and p.user_id = $userId', page, scope);
}

/** Selects visits of the person, of the newest visits with the index condition `scope`. */
function newestVisits(scope: string, { after }: PageText, filter = ''): string {
  return `
        select ${visitOfPerson} from (
          select p.* from participants p where ${isInRange} ${scope} ${after}
          order by p.joined_at desc, p.id desc limit ${MAX_SEARCHED_VISITS}) p ${roomOfVisit}
        where ${isWanted} ${filter}`;
}

function selectPage(page: string): string {
  return `
    with page as materialized (${page}), ${meetingParts(MAX_LISTED_VISITS)}
    select m.id, case when m.is_read then ${meetingJson(firstParticipants(MAX_LISTED_PARTICIPANTS))} end as meeting,
      ${timeKeyOf('m.joined_at')}
    from ${meetingTables}
    order by m.joined_at desc, m.id desc`;
}

/**
 * Lists the meetings of the workspace, newest first. With a filter by person, lists the meetings in which the person
 * took part, sorted by when they joined. Addresses, and meetings found by an address, are only those of rooms of which
 * the actor is a host. A filter by person compares only the newest 20,000 visits of a page's range, or of the user in
 * it. Throws 400 if the range is empty.
 */
export async function listMeetings(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { room: roomName, user_id, email, contact_id, search, from, to, ...page }: ListMeetingsInput,
): Promise<Page<Meeting>> {
  if (from !== undefined && to !== undefined && to <= from) throw badField('to', '`to` must be after `from`');
  const room = roomName === undefined ? undefined : readSlug(roomName);
  if (room === null) return { entries: [] };
  const filters = [actor.workspaceId, room, user_id, email, contact_id, search, from, to];
  const viewer = toViewer(actor);
  const base = { ...viewer, from: fromUnixSeconds(from ?? 0), to: fromUnixSeconds(to ?? LAST_SECOND) };
  const pattern = search ? toLikePattern(search) : null;
  const person = { ...base, email: email ?? null, contactId: contact_id ?? null, pattern };
  const isAll = user_id === undefined && email === undefined && contact_id === undefined && pattern === null;
  const find = <Params>(list: MeetingList<Params>, values: Params): Promise<Page<Meeting>> =>
    readMeetings(db.sql, list, values, page, filters);
  if (isAll) {
    return room === undefined ? find(allMeetings.ofWorkspace, base) : find(allMeetings.ofRoom, { ...base, room });
  }
  if (user_id !== undefined) {
    const user = { ...person, userId: user_id };
    return room === undefined ? find(meetingsOfUser.ofWorkspace, user) : find(meetingsOfUser.ofRoom, { ...user, room });
  }
  return room === undefined
    ? find(meetingsOfPerson.ofWorkspace, person)
    : find(meetingsOfPerson.ofRoom, { ...person, room });
}

type MeetingList<Params> = PagedList<Params, { id: number; meeting: Meeting | null; page_key: number }>;

/** Reads a page, which ends before the first meeting that the statement has not read. */
async function readMeetings<Params>(
  sql: Sql,
  list: MeetingList<Params>,
  params: Params,
  page: PageRequest,
  filters: readonly unknown[],
): Promise<Page<Meeting>> {
  const rows = await runPage(sql, list, params, page, filters);
  const unread = rows.findIndex(({ meeting }) => meeting === null);
  const limit = Math.min(page.limit ?? MAX_LISTED, unread === -1 ? rows.length : unread);
  const { entries, next_cursor } = toPage(list, rows, { ...page, limit }, filters);
  return { entries: entries.flatMap(({ meeting }) => meeting ?? []), next_cursor };
}
