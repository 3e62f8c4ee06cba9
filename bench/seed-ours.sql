-- Generated data in our schema, for the benchmarks. `:name` is a number that the benchmark sets.
--
-- Workspace 1 is for reads. It is the Personal workspace of user 1. Workspaces 2 to 17 are for writes: 16 workspaces, so
-- that 16 writers can work in one or in a workspace each. User 1 owns them all. The benchmark adds keys and sessions.
set synchronous_commit = off;
insert into users (name, email, password_hash, created_at)
  select 'User ' || g, 'u' || g || '@example.org', 'x', now() from generate_series(1, 1000) g;
begin;
insert into workspaces (name, slug, owner_id, is_personal, created_at)
  select 'Team ' || g, 'team-' || g, 1, g = 1, now() from generate_series(1, 17) g;
insert into members (workspace_id, user_id, role, joined_at)
  select w, u, case when u = 1 then 'owner' else 'member' end, now()
  from generate_series(1, 17) w, generate_series(1, 200) u;
commit;
insert into labels (workspace_id, name, color, created_by, created_at)
  select 1, 'label ' || g, '#' || lpad(to_hex(g * 7919 % 16777216), 6, '0'), 1 + g % 200,
    now() - (:labels - g) * interval '1 hour'
  from generate_series(1, :labels) g;
insert into library_items
  (workspace_id, uploaded_by, name, description, file_key, mime_type, size, sha256, duration, created_at, updated_at)
  select 1, 1 + g % 200,
    (array['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor', 'indigo', 'jasper', 'kestrel',
      'lagoon', 'meadow', 'nebula', 'onyx', 'prairie', 'quartz', 'river', 'summit', 'tundra', 'umber', 'valley',
      'willow', 'xenon', 'yarrow', 'zephyr', 'alpine', 'basalt', 'canyon', 'dune', 'estuary', 'forest', 'glacier',
      'heath', 'island', 'juniper', 'knoll', 'lichen', 'marsh', 'north', 'ocean', 'pebble', 'quarry', 'ridge',
      'stone', 'thicket', 'upland', 'vista', 'wharf', 'yonder'])[1 + g % 50]
    || ' ' || (array['invoice', 'report', 'contract', 'minutes', 'proposal', 'budget', 'roadmap', 'brief', 'agenda',
      'handbook', 'policy', 'survey', 'summary', 'review', 'forecast', 'design', 'manual', 'transcript', 'notes',
      'outline', 'recap', 'demo', 'training', 'interview', 'webinar', 'keynote', 'standup', 'retro', 'kickoff',
      'workshop', 'audit', 'statement', 'receipt', 'estimate', 'quote', 'plan', 'draft', 'guide', 'spec', 'chart',
      'deck', 'memo', 'letter', 'form', 'ticket', 'log', 'index', 'list', 'table', 'paper'])[1 + (g / 50) % 50]
    || ' ' || lpad(g::text, 7, '0') || case when g % 3 = 0 then '.mp4' else '.pdf' end,
    'Uploaded by the generator', 'workspaces/1/library/' || gen_random_uuid(),
    case when g % 3 = 0 then 'video/mp4' else 'application/pdf' end, 1000 + (g::bigint * 7919 % 100000000)::int,
    sha256(g::text::bytea), case when g % 3 = 0 then g % 3600 end, t, t
  from generate_series(1, :items) g,
    lateral (select now() - (g::bigint * 104729 % :items) * interval '157 seconds' t) t;
insert into item_labels (workspace_id, item_id, label_id)
  select 1, i.id, l.id
  from (select id, row_number() over (order by id) as n from library_items
    where workspace_id = 1 and id > (select coalesce(max(item_id), 0) from item_labels where workspace_id = 1)) i,
    lateral (select distinct 1 + (i.n * 31 + k * 17 + i.n % (k + 3)) % :labels as n
      from generate_series(1, 1 + i.n % 3) k) x
    join (select id, row_number() over (order by id) as n from labels where workspace_id = 1) l on l.n = x.n;
insert into contacts (workspace_id, name, email, created_at)
  select w, 'Contact ' || g, 'c' || g || '@example.org', now() - random() * interval '365 days'
  from generate_series(1, 2) w, generate_series(1, :contacts) g;
insert into contact_events (workspace_id, type, contact_id, created_at)
  select 1, (array['page_view', 'message', 'email', 'note'])[1 + g % 4], 1 + g % 1000,
    now() - (:contact_events - g) * (interval '365 days' / :contact_events)
  from generate_series(1, :contact_events) g;

-- For the writes.
insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
  select 1 + w, 'room-' || w || '-' || g, 1, '#112233', now(), now()
  from generate_series(1, 16) w, generate_series(1, 100) g;
insert into labels (workspace_id, name, color, created_by, created_at)
  select 1 + w, 'label ' || g, '#112233', 1, now() from generate_series(1, 16) w, generate_series(1, 20) g;
insert into library_items
  (workspace_id, uploaded_by, name, file_key, mime_type, size, sha256, created_at, updated_at)
  select 2, 1, 'item ' || g, 'workspaces/2/library/' || gen_random_uuid(), 'application/pdf', 1000, sha256('x'), now(),
    now()
  from generate_series(1, 20000) g;
insert into booking_pages
  (workspace_id, title, slug, user_id, duration, time_zone, hours, created_at, updated_at)
  select 2, 'Page ' || g, 'page-' || g, g, 5, 'UTC',
    (select jsonb_agg(jsonb_build_object('day', day, 'from', '00:00', 'to', '24:00'))
      from unnest(array['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']) day), now(), now()
  from generate_series(1, 100) g;

-- History, so that PostgreSQL plans the writes as it does in a service that has run for a while.
insert into bookings
  (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at, ends_at, created_at)
  select p.workspace_id, p.id, p.user_id, 'Guest ' || g, 'past' || g || '@example.org', 'past' || g || '@example.org',
    sha256(('past' || p.id || '-' || g)::bytea), now() - g * interval '1 hour', now() - g * interval '1 hour' + interval '5 minutes',
    now() - interval '60 days'
  from booking_pages p, generate_series(1, 50) g where p.workspace_id = 2;
insert into mail_messages
  (message_id, kind, to_address, workspace_id, needs_account, state, attempts, created_at, due_at, ended_at)
  select 'past' || g, 'booking-for-guest', 'past' || g || '@example.org', 2, false, 'sent', 1, now() - interval '2 days',
    now() - interval '2 days', now() - interval '2 days'
  from generate_series(1, 10000) g;
