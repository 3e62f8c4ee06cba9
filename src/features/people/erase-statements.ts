/**
 * Erases what a workspace stores about an address. The statements of `declareErasure` each read at most one page of
 * rows.
 */
import { float, int, ints, nullable, type SqlType, statement, text, time } from '../../db/statements.ts';
import { erasedData } from '../../events/erased-data.ts';
import { isAddress, isInEvent, isInFact, isReference, isVisit } from './person-sql.ts';

/** How many rows such a statement reads. It changes and locks only these rows, and rows that depend on them. */
export const PAGE_SIZE = 1_000;

const params = { workspaceId: int, email: text, participantId: nullable(int) };
const addressed = { workspaceId: int, email: text };
type Types = Readonly<Record<string, SqlType<never>>>;

/**
 * Declares a statement that erases one page. `page` reads the rows after the key `$after`, `isMatch` selects the
 * person's rows as `found`, and `change` changes those rows in the order of their keys.
 */
function declareErasure<const Params extends Types>(
  name: string,
  { params, page, isMatch, change }: { params: Params; page: string; isMatch: string; change: string },
) {
  return statement(name, {
    params: { ...params, after: text },
    returns: { last: nullable(text), scanned: int, erased: int },
    sql: `
      with page as materialized (${page} limit ${PAGE_SIZE}),
      found as materialized (select t.* from page t where ${isMatch}),
      ${change}
      select (select (array_agg(t.key))[count(*)] from page t) as last, (select count(*)::int from page) as scanned,
        (select count(*)::int from changed) as erased`,
  });
}

/** Events that the relay has processed. */
export const eraseRelayed = declareEventErasure('erase-person-events', 'e.relayed_at is not null');
/**
 * Events that the relay has not processed. The relay must not run: it would skip the locked events, and number later
 * ones first.
 */
export const eraseUnrelayed = declareEventErasure('erase-person-unrelayed-events', 'e.relayed_at is null');

function declareEventErasure(name: string, which: string) {
  return declareErasure(name, {
    params,
    page: `
    select e.*, e.created_at as at, e.id::text as key from events e
    where e.workspace_id = $workspaceId and e.id > $after::bigint and ${which} order by e.id`,
    isMatch: `${isInEvent()} and t.data <> ${erasedData('t.data')}`,
    change: `changed as (
    update events e set data = ${erasedData('e.data')} from found f
    where e.workspace_id = f.workspace_id and e.id = f.id returning e.id)`,
  });
}

/** Locks the messages in the order of their IDs, as the workers do, to avoid deadlocks. */
export const eraseMessages = declareErasure('erase-person-messages', {
  params,
  page: `
    select m.workspace_id, m.id, m.id as key, m.event as type, m.payload::jsonb->'data' as data,
      (m.payload::jsonb->>'timestamp')::timestamptz as at
    from webhook_messages m where m.workspace_id = $workspaceId and m.id > $after order by m.id`,
  isMatch: `${isInEvent()} and t.data <> ${erasedData('t.data')}`,
  change: `locked as materialized (
    select m.workspace_id, m.id from webhook_messages m join found f on m.workspace_id = f.workspace_id and m.id = f.id
    order by m.id for update of m),
    responses as (
      update webhook_deliveries d set response_body = '' from locked l
      where d.workspace_id = l.workspace_id and d.message_id = l.id),
    changed as (
      update webhook_messages m set payload = json_build_object('event', m.event, 'timestamp',
        m.payload::jsonb->>'timestamp', 'data', ${erasedData("(m.payload::jsonb->'data')")})::text
      from locked l where m.workspace_id = l.workspace_id and m.id = l.id returning m.id)`,
});

export const eraseCallbacks = declareErasure('erase-person-callbacks', {
  params,
  page: `
    select i.*, i.connection_id || ':' || i.dedupe_key as key from ingest_events i
    where i.workspace_id = $workspaceId and (i.connection_id, i.dedupe_key) >
      (split_part($after, ':', 1)::int, substr($after, strpos($after, ':') + 1))
    order by i.connection_id, i.dedupe_key`,
  isMatch: `exists (select from jsonb_array_elements(t.facts) f where ${isInFact('f', 't.connection_id')})`,
  change: `changed as (
    update ingest_events i set facts = coalesce((
      select jsonb_agg(f) from jsonb_array_elements(i.facts) f
      where not coalesce(${isInFact('f', 'i.connection_id')}, false)), '[]'::jsonb)
    from found o
    where i.workspace_id = o.workspace_id and i.connection_id = o.connection_id and i.dedupe_key = o.dedupe_key
    returning i.dedupe_key)`,
});

export const eraseUnmatched = declareErasure('erase-person-unmatched', {
  params,
  page: `
    select u.*, u.id::text as key from unmatched_callbacks u
    where u.workspace_id = $workspaceId and u.id > $after::bigint order by u.id`,
  isMatch: `(${isAddress('t.reference')} or ${isReference('t.reference', 't.meeting', 't.connection_id')})`,
  change: `changed as (
    delete from unmatched_callbacks u using found f
    where u.workspace_id = f.workspace_id and u.connection_id = f.connection_id and u.id = f.id returning u.id)`,
});

/**
 * Also the passes of the visits that are erased. They end, and what is left names nobody: a visit in progress, which
 * has another address or began meanwhile, still may not record if its pass forbids it. A job deletes the rows.
 */
export const erasePasses = statement('erase-person-room-passes', {
  params: { ...addressed, visits: ints, now: time },
  returns: { id: int },
  sql: `
    update room_passes q
    set name = '', email = null, external_id = null, metadata = null, link_hash = null, is_host = false,
      may_record = nullif(may_record, true), expires_at = least(q.expires_at, $now)
    where q.workspace_id = $workspaceId and (${isAddress('q.email')} or q.id in (
      select p.pass_id from participants p where p.workspace_id = $workspaceId and p.id = any($visits)))
    returning q.id`,
});

export const eraseInvitations = statement('erase-person-invitations', {
  params: addressed,
  returns: { id: int },
  sql: 'delete from invitations where workspace_id = $workspaceId and email = $email returning id',
});

/** The visits in progress, which must end before they are erased. */
export const presentVisits = statement('find-present-visits', {
  params,
  returns: { id: int, roomId: int },
  sql: `
    select p.id, p.room_id as "roomId" from participants p
    where p.workspace_id = $workspaceId and p.status in ('waiting', 'joined') and ${isVisit('p')}`,
});

/**
 * The rows by which the person's events are found. Excludes visits in progress and upcoming bookings, because they can
 * still cause new events. If there are any, they were added after the erasure had ended the person's visits and
 * cancelled the person's bookings.
 */
export const rowsOfPerson = statement('find-rows-of-person', {
  params: { ...params, now: time },
  returns: { visits: ints, bookings: ints, contacts: ints },
  sql: `
    select
      array(select p.id from participants p
        where p.workspace_id = $workspaceId and p.status not in ('waiting', 'joined') and ${isVisit('p')}) as visits,
      array(select b.id from bookings b
        where b.workspace_id = $workspaceId and (b.cancelled_at is not null or b.starts_at <= $now)
          and ${isAddress('b.email')}) as bookings,
      array(select c.id from contacts c where c.workspace_id = $workspaceId and c.email = $email) as contacts`,
});

export const eraseVisits = declareErasure('erase-person-visits', {
  params: { workspaceId: int, known: ints },
  page: `
    select p.*, p.id::text as key from participants p
    where p.workspace_id = $workspaceId and p.id > $after::int order by p.id`,
  isMatch: 't.id = any($known)',
  change: `changed as (
    delete from participants p using found f where p.workspace_id = f.workspace_id and p.id = f.id returning p.id)`,
});

export const upcomingBookings = statement('find-upcoming-bookings-of-person', {
  params: { ...addressed, now: time },
  returns: { id: int },
  sql: `
    select b.id from bookings b
    where b.workspace_id = $workspaceId and b.starts_at > $now and b.cancelled_at is null and ${isAddress('b.email')}
    order by b.starts_at, b.id`,
});

/** Also removes the display name of the meeting's room if the guest's name is in it. */
export const eraseBookings = declareErasure('erase-person-bookings', {
  params: { workspaceId: int, known: ints },
  page: `
    select b.*, b.id::text as key from bookings b
    where b.workspace_id = $workspaceId and b.id > $after::int order by b.id`,
  isMatch: 't.id = any($known)',
  change: `renamed as (
    update rooms r set display_name = null from found f
    where r.workspace_id = f.workspace_id and r.id = f.room_id and strpos(r.display_name, f.name) > 0),
  changed as (
    delete from bookings b using found f where b.workspace_id = f.workspace_id and b.id = f.id returning b.id)`,
});

/** Allows the transaction to delete contact events without changing the sums that analytics reads. */
export const keepSums = statement('keep-sums', {
  params: {},
  returns: { setting: text },
  sql: "select set_config('lynxroom.keeps_sums', 'on', true) as setting",
});

export const eraseContactEvents = statement('erase-contact-events', {
  params: { ...addressed, max: int },
  returns: { id: float },
  sql: `
    delete from contact_events where workspace_id = $workspaceId and id in (
      select e.id from contacts c join contact_events e on e.workspace_id = c.workspace_id and e.contact_id = c.id
      where c.workspace_id = $workspaceId and c.email = $email limit $max)
    returning id::float8 as id`,
});

export const eraseContacts = statement('erase-person-contacts', {
  params: { workspaceId: int, known: ints },
  returns: { id: int },
  sql: 'delete from contacts where workspace_id = $workspaceId and id = any($known) returning id',
});

export const accountWith = statement('find-account-by-address', {
  params: addressed,
  returns: { id: int, isMember: int },
  sql: `
    select u.id, (exists (select from members m where m.workspace_id = $workspaceId and m.user_id = u.id))::int
      as "isMember" from users u where u.email = $email`,
});
