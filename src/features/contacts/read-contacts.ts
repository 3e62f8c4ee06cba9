import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { Prisma } from '../../db/client.ts';
import { exactCount } from '../../db/counters.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import type { Services } from '../../services.ts';
import { type ContactRow, contactColumns, toContact } from './present.ts';
import {
  type ContactEvent,
  type ContactInput,
  type ContactReadAnswer,
  type ContactsAnswer,
  type ListContactsInput,
  MAX_EVENTS,
} from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** The maximum of `total` in a search. Further matches are not counted. */
const MAX_SEARCH_TOTAL = 10_000;
/** How many contacts are scanned by a search that cannot use the index. */
const MAX_SCANNED = 10_000;
/** The index is on trigrams, so a search can use it only with three letters or digits in a row. */
const SEARCHABLE = /[\p{L}\p{N}]{3}/u;

type EventRow = {
  id: bigint;
  type: string;
  room_id: number | null;
  room_name: string | null;
  booking_page_id: number | null;
  booking_page_title: string | null;
  created_at: Date;
};

const columns = Prisma.sql`id, workspace_id as "workspaceId", name, email, created_at as "createdAt"`;
const newestFirst = Prisma.sql`order by created_at desc, id desc`;

/**
 * Lists the workspace's contacts a page at a time, newest first. `total` is the number of all contacts that match, but
 * with a search it is at most `MAX_SEARCH_TOTAL`. A search without three letters or digits in a row looks only at the
 * newest `MAX_SCANNED` contacts, because no index finds shorter texts.
 */
export async function listContacts(
  { db }: Db,
  { workspaceId }: Actor,
  { search, limit, offset }: ListContactsInput,
): Promise<ContactsAnswer> {
  const rows = await db.$queryRaw<((ContactRow | { id: null }) & { total: number })[]>(
    statementFor(workspaceId, search, Prisma.sql`limit ${limit} offset ${offset}`),
  );
  return {
    contacts: rows.flatMap((row) => (row.id === null ? [] : [toContact(row)])),
    total: rows[0]?.total ?? 0,
  };
}

function statementFor(workspaceId: number, search: string | undefined, page: Prisma.Sql): Prisma.Sql {
  const contacts = Prisma.sql`contacts where workspace_id = ${workspaceId}`;
  if (!search) {
    const total = Prisma.sql`select ${Prisma.raw(exactCount('contacts'))} as total from workspaces w
      where w.id = ${workspaceId}`;
    return joinPage(total, Prisma.sql`select ${columns} from ${contacts} ${newestFirst} ${page}`);
  }
  const pattern = toLikePattern(search);
  const isMatch = Prisma.sql`(name ilike ${pattern} or email ilike ${pattern})`;
  const isIndexed = SEARCHABLE.test(search);
  // The expressions of the index `contacts_search`, so PostgreSQL reads only what matches.
  const source = isIndexed
    ? Prisma.sql`contacts where workspace_id::bigint = ${workspaceId}::bigint
        and (name || e'\\n' || email) ilike ${pattern} and ${isMatch}`
    : Prisma.sql`(select * from ${contacts} ${newestFirst} limit ${MAX_SCANNED}) newest where ${isMatch}`;
  const matching = Prisma.sql`with matching as materialized (
    select id, workspace_id, name, email, created_at from ${source} limit ${MAX_SEARCH_TOTAL + 1})`;
  const total = Prisma.sql`
    select least(count(*), ${MAX_SEARCH_TOTAL})::int as total, count(*) as matches from matching`;
  const few = Prisma.sql`select ${columns} from matching where n.matches <= ${MAX_SEARCH_TOTAL} ${newestFirst} ${page}`;
  // Runs only if there are more matches than `total` counts. A scan of the contacts, newest first, then soon finds a
  // page.
  const many = Prisma.sql`select ${columns} from ${contacts} and n.matches > ${MAX_SEARCH_TOTAL} and ${isMatch}
    ${newestFirst} ${page}`;
  const found = isIndexed ? Prisma.sql`(${few}) union all (${many})` : few;
  return Prisma.sql`${matching} ${joinPage(total, found)}`;
}

/** Joins the row `n` of `total` with the page, which may be empty. */
function joinPage(total: Prisma.Sql, page: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`select n.total, c.* from (${total}) n left join lateral (${page}) c on true
    order by c."createdAt" desc, c.id desc`;
}

/** Reads a contact with its latest events. Throws 404. */
export async function readContact(
  { db }: Db,
  { workspaceId }: Actor,
  { contactId }: ContactInput,
): Promise<ContactReadAnswer> {
  const contact = await db.contact.findFirst({ where: { workspaceId, id: contactId }, select: contactColumns });
  if (contact === null) throw notFound('Contact');
  const events = await db.$queryRaw<EventRow[]>`
    select e.id, e.type, e.room_id, r.name as room_name, e.booking_page_id, p.title as booking_page_title, e.created_at
    from contact_events e
    left join rooms r on r.workspace_id = e.workspace_id and r.id = e.room_id
    left join booking_pages p on p.workspace_id = e.workspace_id and p.id = e.booking_page_id
    where e.workspace_id = ${workspaceId} and e.contact_id = ${contactId}
    order by e.created_at desc, e.id desc limit ${MAX_EVENTS}`;
  return { contact: toContact(contact), events: events.map(toEvent) };
}

function toEvent(row: EventRow): ContactEvent {
  return {
    id: Number(row.id),
    type: row.type,
    room_id: row.room_id,
    room_name: row.room_name,
    booking_page_id: row.booking_page_id,
    booking_page_title: row.booking_page_title,
    created_at: toUnixSeconds(row.created_at),
  };
}
