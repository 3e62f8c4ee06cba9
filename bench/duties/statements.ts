/** The statements of the server with the same duties: one for each operation, besides the one that finds the caller. */

const UNIX = (column: string): string => `floor(extract(epoch from ${column}))::int`;
const PAGE_KEY = (column: string): string => `round(date_part('epoch', ${column}) * 1000) as page_key`;

/** Finds the creator of an active key, with their role in its workspace. */
export const CALLER_BY_KEY = {
  name: 'caller-by-key',
  text: `select u.id as "userId", u.name, k.workspace_id as "workspaceId", m.role
    from api_keys k join users u on u.id = k.created_by
    join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    where k.key_hash = $1 and k.is_active and ($2::int is null or k.workspace_id = $2)`,
};

/** Finds the user of a session, with their role in a workspace. */
export const CALLER_BY_SESSION = {
  name: 'caller-by-session',
  text: `select u.id as "userId", u.name, w.id as "workspaceId", m.role
    from sessions s join users u on u.id = s.user_id
    left join workspaces w on w.id = $2
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where s.token_hash = $1 and s.expires_at > now()`,
};

export const RETENTION = {
  name: 'retention',
  text: 'select media_retention_days from workspaces where id = $1',
};

export const LABELS = {
  name: 'labels',
  text: `select l.id, l.name, l.color, coalesce(u.name, 'Deleted user') as created_by_name,
      ${UNIX('l.created_at')} as created_at, ${PAGE_KEY('l.created_at')}
    from labels l left join users u on u.id = l.created_by
    where l.workspace_id = $1 order by l.created_at, l.id limit 1001`,
};

const ITEM = `i.id, i.workspace_id, i.uploaded_by,
  coalesce((select u.name from users u where u.id = i.uploaded_by), 'Deleted user') as uploaded_by_name, i.name,
  i.description, null as file_url, null as poster_url, i.mime_type, i.size::float8 as size, i.duration,
  coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.created_at, l.id)
    from item_labels il join labels l on l.workspace_id = il.workspace_id and l.id = il.label_id
    where il.workspace_id = i.workspace_id and il.item_id = i.id), '[]'::json) as labels,
  ${UNIX('i.created_at')} as created_at, ${UNIX('i.updated_at')} as updated_at, ${PAGE_KEY('i.created_at')}`;

export const LIST = {
  name: 'list',
  text: `with page as materialized (select * from library_items
      where workspace_id = $1 order by created_at desc, id desc limit $2 offset $3)
    select (select library_item_count from workspaces where id = $1) as total, ${ITEM}
    from page i order by i.created_at desc, i.id desc`,
};

export const SEARCH = {
  name: 'search',
  text: `with hit as materialized (select * from library_items
      where workspace_id::bigint = $1::bigint and name ilike $4),
    page as materialized (select * from hit order by created_at desc, id desc limit $2 offset $3)
    select (select count(*)::int from hit) as total, ${ITEM} from page i order by i.created_at desc, i.id desc`,
};

/**
 * Creates a room and its event. `for share` holds up a change of the creator's role until the commit. The workspace is
 * locked before the member, the order in which a deletion locks them.
 */
export const CREATE_ROOM = {
  name: 'create-room',
  text: `with w as (select id from workspaces where id = $1 for key share),
    m as (select m.role from w join members m on m.workspace_id = w.id and m.user_id = $2 for share of m),
    r as (insert into rooms (workspace_id, user_id, name, accent_color, waiting_room_enabled, waiting_room_message,
        scheduled_at, display_name, created_at, last_used_at)
      select $1, $2, $3, $4, $5, $6, $7, $8, now(), now() from m where m.role in ('owner', 'admin')
      on conflict (name) do nothing returning *),
    e as (insert into events (workspace_id, type, data, created_at)
      select r.workspace_id, 'room.created', jsonb_build_object('workspace_id', r.workspace_id, 'room_id', r.id,
        'room_name', r.name, 'display_name', r.display_name, 'created_by', $9::text, 'created_by_id', r.user_id,
        'scheduled_at', r.scheduled_at, 'created_at', ${UNIX('r.created_at')}), r.created_at from r)
    select m.role, r.id, r.workspace_id, r.name, r.user_id, r.display_name, ${UNIX('r.created_at')} as created_at,
      ${UNIX('r.last_used_at')} as last_used_at, 0 as recording_count, r.scheduled_at, r.accent_color,
      r.waiting_room_enabled::int, r.waiting_room_message, (r.locked_at is not null)::int as locked, r.session_id,
      r.media, r.relay_only::int, r.chat_enabled::int, r.max_participants, r.members_only::int,
      r.recordings_visible_to, r.who_may_record
    from m left join r on true`,
};

export const CREATE_LABEL = {
  name: 'create-label',
  text: `insert into labels (workspace_id, name, color, created_by, created_at) values ($1, $2, $3, $4, now())
    on conflict (workspace_id, name) do nothing
    returning id, name, color, workspace_id, created_by, ${UNIX('created_at')} as created_at`,
};

/** Returns the labels that the item had, and the new one. */
export const ASSIGN_LABEL = {
  name: 'assign-label',
  text: `with i as (select id from library_items where workspace_id = $1 and id = $2),
    l as (select id, name, color, created_at from labels where workspace_id = $1 and id = $3),
    a as (insert into item_labels (workspace_id, item_id, label_id) select $1, i.id, l.id from i, l
      on conflict do nothing)
    select (select count(*)::int from i) as items, (select count(*)::int from l) as found, s.id, s.name, s.color
    from (select 1) one left join (
      select o.id, o.name, o.color, o.created_at from item_labels il
        join labels o on o.workspace_id = il.workspace_id and o.id = il.label_id
        where il.workspace_id = $1 and il.item_id = $2
      union select * from l order by created_at, id) s on true`,
};

/** Adds the event of each row of `c`. */
const CONTACT_CREATED = `ce as (insert into events (workspace_id, type, data, created_at)
      select c.workspace_id, 'contact.created', jsonb_build_object('workspace_id', c.workspace_id, 'contact_id', c.id,
        'name', c.name, 'email', c.email, 'created_at', ${UNIX('c.created_at')}), c.created_at from c)`;

export const CREATE_CONTACT = {
  name: 'create-contact',
  text: `with w as (select id from workspaces where id = $1 for key share),
    m as (select m.role from w join members m on m.workspace_id = w.id and m.user_id = $2 for share of m),
    c as (insert into contacts (workspace_id, name, email, created_at)
      select $1, $3, $4, now() from m where m.role in ('owner', 'admin')
      on conflict (workspace_id, email) do nothing returning *),
    ${CONTACT_CREATED}
    select m.role, c.id, c.workspace_id, c.name, c.email, ${UNIX('c.created_at')} as created_at
    from m left join c on true`,
};

/** Joins a room as a guest: the participant, their contact, the event, and the event that analytics counts. */
export const JOIN = {
  name: 'join',
  text: `with r as (select workspace_id, id, name, waiting_room_message from rooms where name = $1
      and not waiting_room_enabled),
    w as (select w.id from r join workspaces w on w.id = r.workspace_id for key share of w),
    entry as (select from r, check_room_entry(r.workspace_id, r.id, null, $3, $2, null, now()) e
      where not e.is_locked and e.barred_until is null),
    old as (select c.id from r join contacts c on c.workspace_id = r.workspace_id and c.email = $3),
    c as (insert into contacts (workspace_id, name, email, created_at)
      select w.id, $2, $3, now() from w where $3::text is not null and not exists (select from old)
      on conflict (workspace_id, email) do nothing returning *),
    ${CONTACT_CREATED},
    contact as (select id from old union all select id from c),
    u as (update rooms set last_used_at = now() from r, w where rooms.workspace_id = w.id and rooms.id = r.id),
    p as (insert into participants (workspace_id, room_id, name, email, contact_id, status, token_hash, created_at,
        joined_at, last_seen_at)
      select w.id, r.id, $2, $3, (select id from contact), 'joined', $4, now(), now(), now() from r, w, entry
      returning *),
    e as (insert into events (workspace_id, type, data, created_at)
      select p.workspace_id, 'room.joined', jsonb_build_object('workspace_id', p.workspace_id, 'room_id', p.room_id,
        'room_name', r.name, 'participant_id', p.id, 'participant_name', p.name, 'user_id', null,
        'contact_id', p.contact_id, 'joined_at', ${UNIX('p.joined_at')}), p.joined_at from p, r),
    s as (insert into contact_events (workspace_id, type, contact_id, room_id, created_at)
      select p.workspace_id, 'room_join', p.contact_id, p.room_id, p.joined_at from p)
    select p.id, r.name as room_name, p.name, null as user_id, p.status, null as waiting_room_message,
      null as end_reason, 0 as room_locked, 0 as is_host, 0 as is_member, null as may_record,
      null as external_id, null as metadata, ${UNIX('p.joined_at')} as joined_at,
      ${UNIX('p.created_at')} as created_at from p, r`,
};

/** Finds the participant by their token, leaves, and adds the event. `found` says whether the token is known. */
export const LEAVE = {
  name: 'leave',
  text: `with p as (select p.workspace_id, p.id, r.name as room_name, p.status from participants p
      join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
      where p.token_hash = $2 and r.name = $1 for no key update of p),
    l as (update participants set status = 'left', left_at = now() from p
      where participants.workspace_id = p.workspace_id and participants.id = p.id
        and p.status in ('waiting', 'joined') returning participants.*, p.status as before),
    e as (insert into events (workspace_id, type, data, created_at)
      select l.workspace_id, 'room.left', jsonb_build_object('workspace_id', l.workspace_id, 'room_id', l.room_id,
        'room_name', $1::text, 'participant_id', l.id, 'participant_name', l.name, 'user_id', l.user_id,
        'contact_id', l.contact_id, 'joined_at', ${UNIX('l.joined_at')}, 'left_at', ${UNIX('l.left_at')}), l.left_at
      from l where l.before = 'joined')
    select count(*)::int as found from p`,
};

export const BOOKING_PAGE = {
  name: 'booking-page',
  text: `select p.id, p.workspace_id as "workspaceId", p.user_id as "userId", u.name as "userName",
      u.email as "userEmail", p.title, p.slug, p.duration, p.time_zone as "timeZone", p.hours
    from booking_pages p join users u on u.id = p.user_id where p.slug = $1`,
};

/**
 * Books a meeting: the room, the contact, the booking, the events and the mail, with the host's row locked. An
 * exclusion constraint keeps the times of one host from overlapping. `upcoming` are the guest's bookings on the page.
 */
export const BOOK = {
  name: 'book',
  text: `with h as (select id from users where id = $3 for no key update),
    n as (select (select count(*)::int from bookings where workspace_id = $1 and booking_page_id = $2 and mailbox = $6
        and cancelled_at is null and starts_at > now()) as upcoming,
      count(*) filter (where cancelled_at is null)::int as host from h
      left join bookings b on b.user_id = h.id and b.created_at > now() - interval '1 day'),
    old as (select id from contacts where workspace_id = $1 and email = $5),
    new as (insert into contacts (workspace_id, name, email, created_at)
      select $1, $4, $5, now() from n where upcoming < 3 and not exists (select from old)
      on conflict (workspace_id, email) do nothing returning id),
    c as (select id from old union all select id from new),
    r as (insert into rooms (workspace_id, user_id, name, display_name, accent_color, waiting_room_enabled,
        scheduled_at, created_at, last_used_at)
      select $1, $3, $7, $8, '#6366f1', true, extract(epoch from $9::timestamptz), now(), now() from n
      where upcoming < 3 returning *),
    e as (insert into events (workspace_id, type, data, created_at)
      select r.workspace_id, 'room.created', jsonb_build_object('workspace_id', r.workspace_id, 'room_id', r.id,
        'room_name', r.name, 'display_name', r.display_name, 'created_by', $12::text, 'created_by_id', r.user_id,
        'scheduled_at', r.scheduled_at, 'created_at', ${UNIX('r.created_at')}), r.created_at from r),
    b as (insert into bookings (workspace_id, booking_page_id, user_id, contact_id, room_id, name, email, mailbox,
        token_hash, starts_at, ends_at, created_at)
      select $1, $2, $3, (select id from c), r.id, $4, $5, $6, $10, $9, $11, now() from r returning *),
    s as (insert into contact_events (workspace_id, type, contact_id, booking_page_id, created_at)
      select b.workspace_id, 'booking', b.contact_id, b.booking_page_id, b.created_at from b),
    ce as (insert into events (workspace_id, type, data, created_at)
      select $1, 'contact.created', jsonb_build_object('workspace_id', $1::int, 'contact_id', new.id, 'name', $4::text,
        'email', $5::text, 'created_at', ${UNIX('now()')}), now() from new),
    be as (insert into events (workspace_id, type, data, created_at)
      select b.workspace_id, 'booking.created', jsonb_build_object('workspace_id', b.workspace_id, 'booking_id', b.id,
        'booking_page_id', b.booking_page_id, 'title', $13::text, 'host_id', b.user_id, 'host_name', $12::text,
        'contact_id', b.contact_id, 'guest_name', b.name, 'guest_email', b.email, 'guest_time_zone', b.time_zone,
        'room_name', r.name, 'starts_at', ${UNIX('b.starts_at')}, 'ends_at', ${UNIX('b.ends_at')}, 'sequence', 0,
        'created_at', ${UNIX('b.created_at')}), b.created_at from b, r),
    m as (insert into mail_messages
        (message_id, kind, to_address, workspace_id, data, needs_account, created_at, due_at, expires_at)
      select m.message_id, m.kind, m.to_address, b.workspace_id, decode(m.data, 'base64'), false, now(), now(),
        b.ends_at
      from b, json_to_recordset($14::json) as m (message_id text, kind text, to_address text, data text)
      where (select count(*) from mail_messages o where o.to_address = m.to_address and o.kind = m.kind
        and o.created_at > now() - interval '1 hour') < 20)
    select n.upcoming, b.id, b.uid::text, r.name as room_name from n left join b on true left join r on true`,
};
