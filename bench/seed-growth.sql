-- Adds rows to workspace 1, after seed-ours.sql: the items, contacts, events, messages and deliveries numbered `:from`
-- to `:to`. `:name` is a number that the benchmark sets.
set synchronous_commit = off;
insert into labels (workspace_id, name, color, created_by, created_at)
  select 1, 'label ' || g, '#112233', 1, now() from generate_series(:from_label, :to_label) g;
insert into library_items
  (workspace_id, uploaded_by, name, file_key, mime_type, size, sha256, created_at, updated_at)
  select 1, b.uploaded_by, regexp_replace(b.name, '\d{7}', lpad(g::text, 7, '0')),
    'workspaces/1/library/' || gen_random_uuid(), b.mime_type, b.size + g % 1000, b.sha256,
    b.created_at + g % 1000 * interval '1 second', now()
  from generate_series(:from, :to) g
    join (select *, row_number() over (order by id) as n from library_items where workspace_id = 1 and id <= :base) b
      on b.n = 1 + g % :base;
insert into item_labels (workspace_id, item_id, label_id)
  select distinct 1, i.id, l.id
  from (select id from library_items where workspace_id = 1
    and id > (select max(item_id) from item_labels where workspace_id = 1)) i
    cross join generate_series(1, 2) k
    join (select id, row_number() over (order by id) as n from labels where workspace_id = 1) l
      on l.n = 1 + (i.id * 31 + k * 17) % :to_label;
insert into contacts (workspace_id, name, email, created_at)
  select 1, 'Contact ' || g, 'g' || g || '@example.org', now() - random() * interval '365 days'
  from generate_series(:from, least(:to, 200000)) g;
insert into contact_events (workspace_id, type, contact_id, room_id, created_at)
  select 1, case when g % 5 = 0 then 'room_join' else 'page_view' end, 1 + g % 1000,
    case when g % 5 = 0 then 1 + g % 100 end, now() - g % 1000 * interval '8 hours'
  from generate_series(:from, :to) g;
insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
  select 1, 'met-' || g, 1, '#112233', now(), now() from generate_series(0, 99) g on conflict do nothing;
-- Meetings of five guests.
insert into participants (workspace_id, room_id, name, status, created_at, joined_at, left_at, last_seen_at)
  select 1, r.id, 'Guest ' || g % 5000, 'left', t, t, t + interval '25 minutes', t
  from generate_series(:from, :to) g
    join rooms r on r.name = 'met-' || g / 5 % 100
    cross join lateral (
      select now() - g / 5 * interval '8 minutes' + g % 5 * interval '1 minute' - interval '1 hour' as t) v;
insert into events (workspace_id, type, data, created_at, relayed_at, sequence)
  select 1, 'room.created', jsonb_build_object('workspace_id', 1, 'room_id', g), now() - (2000000 - g) * interval '1 s',
    now(), g
  from generate_series(:from, :to) g;
insert into webhooks
  (workspace_id, name, url, host, sealed_secret, events, is_active, created_at, updated_at)
  select 1, 'Growth', 'https://example.org/', 'example.org', '\x00', '{room.created}', false, now(), now()
  where not exists (select from webhooks where workspace_id = 1);
insert into webhook_messages
  (workspace_id, id, webhook_id, event, payload, status, attempts, round_attempts, created_at, updated_at)
  select 1, 'msg_' || lpad(to_hex(g), 32, '0'), w.id, 'room.created', repeat('x', 300), 'delivered', 1, 1,
    now() - (2000000 - g) * interval '1 s', now()
  from generate_series(:from, :to) g, webhooks w where w.workspace_id = 1;
insert into webhook_deliveries
  (workspace_id, webhook_id, message_id, attempt, response_status, response_body, success, duration_ms, created_at)
  select 1, w.id, 'msg_' || lpad(to_hex(g), 32, '0'), 1, 200, 'ok', true, 20, now() - (2000000 - g) * interval '1 s'
  from generate_series(:from, :to) g, webhooks w where w.workspace_id = 1;
