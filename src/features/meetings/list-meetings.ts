import type { Actor } from '../../auth/identify.ts';
import { badField } from '../../core/errors.ts';
import type { Page } from '../../core/list-page.ts';
import { readSlug } from '../../core/slugs.ts';
import { fromUnixSeconds } from '../../core/time.ts';
import { LAST_SECOND } from '../../core/validation.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { byTime, type PageText, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { int, json, nullable, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import {
  firstParticipants,
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
  returns: { id: int, meeting: json<Meeting>('json'), ...timeKey },
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
    sql: (page) => selectMeetingsOfPerson(visitsOfUser(''), page),
  }),
  ofRoom: pagedList('list-meetings-of-user-in-room', {
    ...list,
    params: { ...personParams, userId: int, room: text },
    sql: (page) => selectMeetingsOfPerson(visitsOfUser(isInRoom), page),
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

/**
 * Selects the visits with which a meeting began, so that a page reads only about as many visits as its meetings have.
 * First looks at the visit before, which is enough for most visits that began no meeting. `offset 0` makes PostgreSQL
 * look up each visit in an index. It would otherwise join all visits with each other.
 */
function selectMeetings(scope: string, { after, window }: PageText): string {
  return selectPage(`
      select p.id, p.room_id, p.joined_at, p.joined_at as started_at, p.id as meeting_id from participants p
      where ${isInRange} ${scope}
        and not exists (
          select from (
            select q.left_at from participants q
            where q.workspace_id = $workspaceId and q.room_id = p.room_id and q.joined_at is not null
              and (q.joined_at, q.id) < (p.joined_at, p.id)
            order by q.joined_at desc, q.id desc limit 1) q
          where q.left_at is null or q.left_at > p.joined_at - interval '10 minutes' offset 0)
        and not exists (
          select from ended_visits($workspaceId, p.room_id, p.joined_at - interval '10 minutes', p.joined_at) q
          where (q.joined_at, q.id) < (p.joined_at, p.id) and q.left_at > p.joined_at - interval '10 minutes' offset 0)
        and not exists (
          select from participants q
          where q.workspace_id = $workspaceId and q.room_id = p.room_id and q.status = 'joined'
            and (q.joined_at, q.id) < (p.joined_at, p.id) offset 0)
        ${after}
      ${window}`);
}

/** Selects the first visit of the person in each meeting. `visits` are their visits in scope, newest first. */
function selectMeetingsOfPerson(visits: string, { after, window }: PageText): string {
  return selectPage(`
      select p.id, p.room_id, p.joined_at, s.started_at, (
        select q.id from participants q
        where q.workspace_id = $workspaceId and q.room_id = p.room_id and q.joined_at = s.started_at
        order by q.id limit 1) as meeting_id
      from (${visits} order by p.joined_at desc, p.id desc offset 0) p cross join lateral (
        select meeting_start($workspaceId, p.room_id, p.joined_at, coalesce(p.previous, '-infinity')) as started_at
        offset 0) s
      where (p.previous is null or s.started_at > p.previous) ${after}
      ${window}`);
}

function visitsOfUser(scope: string): string {
  return `
        select ${visitOfPerson} from participants p ${roomOfVisit}
        where ${isInRange} ${scope} and p.user_id = $userId and ${isWanted}`;
}

function newestVisits(scope: string, { after }: PageText): string {
  return `
        select ${visitOfPerson} from (
          select p.* from participants p where ${isInRange} ${scope} ${after}
          order by p.joined_at desc, p.id desc limit ${MAX_SEARCHED_VISITS}) p ${roomOfVisit}
        where ${isWanted}`;
}

function selectPage(page: string): string {
  return `
    with page as materialized (${page}), ${meetingParts(MAX_LISTED_VISITS)}
    select g.id, ${meetingJson(firstParticipants(MAX_LISTED_PARTICIPANTS))} as meeting, ${timeKeyOf('g.joined_at')}
    from ${meetingTables} join page g on g.meeting_id = m.meeting_id
    order by g.joined_at desc, g.id desc`;
}

/**
 * Lists the meetings of the workspace, newest first. With a filter by person, lists the meetings in which the person
 * took part, sorted by when they joined. Addresses, and meetings found by an address, are only those of rooms of which
 * the actor is a host. A filter by name, address or contact compares only the newest 20,000 visits of a page's range.
 * Throws 400 if the range is empty.
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
  const read = (): Promise<Page<{ meeting: Meeting }>> => {
    if (isAll) {
      return room === undefined
        ? readPage(db.sql, allMeetings.ofWorkspace, base, page, filters)
        : readPage(db.sql, allMeetings.ofRoom, { ...base, room }, page, filters);
    }
    if (user_id !== undefined) {
      const user = { ...person, userId: user_id };
      return room === undefined
        ? readPage(db.sql, meetingsOfUser.ofWorkspace, user, page, filters)
        : readPage(db.sql, meetingsOfUser.ofRoom, { ...user, room }, page, filters);
    }
    return room === undefined
      ? readPage(db.sql, meetingsOfPerson.ofWorkspace, person, page, filters)
      : readPage(db.sql, meetingsOfPerson.ofRoom, { ...person, room }, page, filters);
  };
  const { entries, next_cursor } = await read();
  return { entries: entries.map(({ meeting }) => meeting), next_cursor };
}
