/** The records that a workspace's export of a person contains. Secrets and hashes are left out. */
import { secondsOf } from '../../db/columns.ts';
import { addressParams, isAddress, isInEvent, isInFact, isReference, isVisit, personParams } from './person-sql.ts';
import { declareScan } from './scan.ts';

const roomName = (roomId: string) =>
  `(select r.name from rooms r where r.workspace_id = t.workspace_id and r.id = ${roomId})`;

export const contacts = declareScan('export-person-contacts', {
  params: addressParams,
  from: `
    select c.*, c.id::text as key from contacts c
    where c.workspace_id = $workspaceId and c.email = $email and c.id > $after::int order by c.id`,
  record: `json_build_object('id', t.id, 'name', t.name, 'email', t.email, 'created_at', ${secondsOf('t.created_at')})`,
});

export const contactEvents = declareScan('export-person-contact-events', {
  params: addressParams,
  from: `
    select e.*, e.id::text as key from contact_events e
    where e.workspace_id = $workspaceId and e.id > $after::bigint and e.contact_id in (
      select c.id from contacts c where c.workspace_id = $workspaceId and c.email = $email)
    order by e.id`,
  record: `json_build_object('id', t.id, 'type', t.type, 'contact_id', t.contact_id, 'room_id', t.room_id,
    'room_name', ${roomName('t.room_id')}, 'booking_page_id', t.booking_page_id,
    'created_at', ${secondsOf('t.created_at')})`,
});

export const visits = declareScan('export-person-visits', {
  params: personParams,
  from: `
    select p.*, p.id::text as key from participants p
    where p.workspace_id = $workspaceId and p.id > $after::int order by p.id`,
  isMatch: isVisit('t'),
  record: `json_build_object('id', t.id, 'room_id', t.room_id, 'room_name', ${roomName('t.room_id')}, 'name', t.name,
    'email', t.email, 'user_id', t.user_id, 'contact_id', t.contact_id, 'external_id', t.external_id,
    'metadata', t.metadata, 'status', t.status,
    'provider_reference', (select min(c.reference) from participant_connections c
      where c.workspace_id = t.workspace_id and c.participant_id = t.id),
    'provider_references', (select coalesce(json_agg(c.reference order by c.id), '[]') from participant_connections c
      where c.workspace_id = t.workspace_id and c.participant_id = t.id), 'created_at', ${secondsOf('t.created_at')},
    'joined_at', ${secondsOf('t.joined_at')}, 'left_at', ${secondsOf('t.left_at')})`,
});

export const roomPasses = declareScan('export-person-room-passes', {
  params: addressParams,
  from: `
    select q.*, q.id::text as key from room_passes q
    where q.workspace_id = $workspaceId and q.id > $after::int order by q.id`,
  isMatch: isAddress('t.email'),
  record: `json_build_object('id', t.id, 'room_id', t.room_id, 'room_name', ${roomName('t.room_id')}, 'name', t.name,
    'email', t.email, 'external_id', t.external_id, 'metadata', t.metadata, 'created_at', ${secondsOf('t.created_at')},
    'expires_at', ${secondsOf('t.expires_at')})`,
});

export const bookings = declareScan('export-person-bookings', {
  params: addressParams,
  from: `
    select b.*, b.id::text as key from bookings b
    where b.workspace_id = $workspaceId and b.id > $after::int order by b.id`,
  isMatch: isAddress('t.email'),
  record: `json_build_object('id', t.id, 'booking_page_id', t.booking_page_id,
    'title', (select g.title from booking_pages g where g.workspace_id = t.workspace_id and g.id = t.booking_page_id),
    'name', t.name, 'email', t.email, 'room_name', ${roomName('t.room_id')}, 'starts_at', ${secondsOf('t.starts_at')},
    'ends_at', ${secondsOf('t.ends_at')}, 'cancelled_at', ${secondsOf('t.cancelled_at')},
    'created_at', ${secondsOf('t.created_at')})`,
});

export const invitations = declareScan('export-person-invitations', {
  params: addressParams,
  from: `
    select i.*, i.id::text as key from invitations i
    where i.workspace_id = $workspaceId and i.id > $after::int order by i.id`,
  isMatch: 't.email = $email',
  record: `json_build_object('id', t.id, 'email', t.email, 'role', t.role, 'state', t.state,
    'created_at', ${secondsOf('t.created_at')}, 'sent_at', ${secondsOf('t.sent_at')}, 'sends', t.sends,
    'expires_at', ${secondsOf('t.expires_at')})`,
});

export const mail = declareScan('export-person-mail', {
  params: addressParams,
  from: `
    select m.*, m.id::text as key from mail_messages m
    where m.to_address = $email and m.workspace_id = $workspaceId and m.id > $after::int order by m.id`,
  record: `json_build_object('id', t.id, 'kind', t.kind, 'to', t.to_address, 'state', t.state,
    'created_at', ${secondsOf('t.created_at')}, 'ended_at', ${secondsOf('t.ended_at')})`,
});

export const events = declareScan('export-person-events', {
  params: personParams,
  from: `
    select e.*, e.created_at as at, e.id::text as key from events e
    where e.workspace_id = $workspaceId and e.id > $after::bigint order by e.id`,
  isMatch: isInEvent(),
  record: `json_build_object('id', t.id, 'type', t.type, 'data', t.data, 'created_at', ${secondsOf('t.created_at')})`,
});

export const messages = declareScan('export-person-messages', {
  params: personParams,
  from: `
    select m.workspace_id, m.id as key, m.webhook_id, m.event as type, m.created_at, m.payload::jsonb->'data' as data,
      (m.payload::jsonb->>'timestamp')::timestamptz as at
    from webhook_messages m where m.workspace_id = $workspaceId and m.id > $after order by m.id`,
  isMatch: isInEvent(),
  record: `json_build_object('id', t.key, 'webhook_id', t.webhook_id, 'event', t.type, 'data', t.data,
    'created_at', ${secondsOf('t.created_at')})`,
});

const personalFacts = `from jsonb_array_elements(t.facts) f where ${isInFact('f', 't.connection_id')}`;

export const callbacks = declareScan('export-person-callbacks', {
  params: personParams,
  from: `
    select i.*, i.connection_id || ':' || i.dedupe_key as key from ingest_events i
    where i.workspace_id = $workspaceId and (i.connection_id, i.dedupe_key) >
      (split_part($after, ':', 1)::int, substr($after, strpos($after, ':') + 1))
    order by i.connection_id, i.dedupe_key`,
  isMatch: `exists (select ${personalFacts})`,
  record: `json_build_object('connection_id', t.connection_id, 'received_at', ${secondsOf('t.received_at')},
    'events', (select json_agg(f - 'token') ${personalFacts}))`,
});

export const unmatchedCallbacks = declareScan('export-person-unmatched-callbacks', {
  params: personParams,
  from: `
    select u.*, u.id::text as key from unmatched_callbacks u
    where u.workspace_id = $workspaceId and u.id > $after::bigint order by u.id`,
  isMatch: `(${isAddress('t.reference')} or ${isReference('t.reference', 't.meeting', 't.connection_id')})`,
  record: `json_build_object('id', t.id, 'connection_id', t.connection_id, 'kind', t.kind, 'reference', t.reference,
    'occurred_at', ${secondsOf('t.occurred_at')})`,
});
