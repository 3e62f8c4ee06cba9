import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { Prisma } from '../../db/client.ts';
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

type EventRow = {
  id: bigint;
  type: string;
  room_id: number | null;
  room_name: string | null;
  booking_page_id: number | null;
  booking_page_title: string | null;
  created_at: Date;
};

/** Lists the workspace's contacts a page at a time, newest first. `total` is the number of all contacts that match. */
export async function listContacts(
  { db }: Db,
  { workspaceId }: Actor,
  { search, limit, offset }: ListContactsInput,
): Promise<ContactsAnswer> {
  const pattern = search ? toLikePattern(search) : null;
  const condition =
    pattern === null
      ? Prisma.sql`workspace_id = ${workspaceId}`
      : Prisma.sql`workspace_id = ${workspaceId} and (name ilike ${pattern} or email ilike ${pattern})`;
  // Without a search, adds up the daily counters instead of counting all contacts.
  const total =
    pattern === null
      ? Prisma.sql`select coalesce(sum(count), 0)::int from contact_days where workspace_id = ${workspaceId}`
      : Prisma.sql`select count(*)::int from contacts where ${condition}`;
  const rows = await db.$queryRaw<((ContactRow | { id: null }) & { total: number })[]>`
    select n.total, c.* from (select (${total}) as total) n
    left join lateral (
      select id, workspace_id as "workspaceId", name, email, created_at as "createdAt"
      from contacts where ${condition} order by created_at desc, id desc limit ${limit} offset ${offset}) c on true
    order by c."createdAt" desc, c.id desc`;
  return {
    contacts: rows.flatMap((row) => (row.id === null ? [] : [toContact(row)])),
    total: rows[0]?.total ?? 0,
  };
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
