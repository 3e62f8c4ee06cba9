/** Cursors of every list: stable while entries come and go, and valid for one list only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toUnixSeconds } from '../../src/core/time.ts';
import { appRouter } from '../../src/routers/index.ts';
import { listOperations } from '../../src/trpc/operations.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const ROWS = 40;
const PAGE = 3;
/** The message that all deliveries are attempts of. They would be deleted with it. */
const DELIVERED_MESSAGE = 'msg_delivered';

type Listed = { id: string | number };
type List = {
  /** The operation, and what distinguishes this list among those of the operation. */
  name: string;
  path: (world: World) => string;
  /** The field with the entries, with dots between levels. */
  field: string;
  /** The table with the rows of the list. */
  table: keyof typeof inserts;
};
type World = {
  team: Team;
  roomName: string;
  roomId: number;
  pageId: number;
  webhookId: number;
  connectionId: number;
  labelId: number;
  /** A visit to the room. */
  visitId: number;
  /** Before the meetings of `inserts`, and after all other visits, in Unix seconds. */
  meetingsFrom: number;
  /** The session of the owner. */
  sessionId: number;
};

const library = ({ team }: World) => `${team.path}/library`;
const messages = ({ team, webhookId }: World) => `${team.path}/webhooks/${webhookId}/messages`;
/** What the test needs itself, and so never deletes. */
const kept: Record<string, (world: World) => number | string> = {
  workspaces: ({ team }) => team.id,
  rooms: ({ roomId }) => roomId,
  labels: ({ labelId }) => labelId,
  participants: ({ visitId }) => visitId,
  webhooks: ({ webhookId }) => webhookId,
  booking_pages: ({ pageId }) => pageId,
  meeting_connections: ({ connectionId }) => connectionId,
  members: ({ team }) => team.owner.id,
  sessions: ({ sessionId }) => sessionId,
  webhook_messages: () => DELIVERED_MESSAGE,
};

/**
 * Statements that insert the rows `n`. Their times are spread over ten seconds, in another order than `n`. Several rows
 * have the same time, and many differ only by fractions of a second.
 */
const AT = '($at::timestamptz + make_interval(secs => (n * 7) % 11 + ((n * 13) % 3) * 0.25))';
const inserts = {
  workspaces: `
    with added as (
      insert into workspaces (name, slug, owner_id, created_at)
      select 'W', 'listed-' || n, $owner, ${AT} from n returning id, owner_id, created_at)
    insert into members (workspace_id, user_id, role, joined_at)
    select id, owner_id, 'owner', created_at from added`,
  joinable: `
    with confirmed as (update users set email_verified_at = $at where id = $owner),
    other as (
      insert into users (name, email, password_hash, created_at, email_verified_at)
      select 'Other', 'other' || min(n) || '@example.com', 'x', $at::timestamptz, $at::timestamptz from n returning id),
    added as (
      insert into workspaces (name, slug, owner_id, created_at, join_domain)
      select 'W', 'joinable-' || n, other.id, ${AT}, 'example.com' from n, other returning id, owner_id, created_at)
    insert into members (workspace_id, user_id, role, joined_at)
    select id, owner_id, 'owner', created_at from added`,
  members: `
    with added as (
      insert into users (name, email, password_hash, created_at)
      select 'Listed', 'listed' || n || '@example.com', 'x', ${AT} from n returning id, created_at)
    insert into members (workspace_id, user_id, role, joined_at)
    select $workspace, id, 'member', created_at from added`,
  labels: `
    insert into labels (workspace_id, name, color, created_at)
    select $workspace, 'Listed ' || n, '#123456', ${AT} from n`,
  embed_tokens: `
    insert into embed_tokens (workspace_id, kind, token_hash, created_by, created_at, expires_at)
    select $workspace, 'webhooks', sha256(n::text::bytea), $owner, ${AT}, ${AT} + interval '1 day' from n`,
  room_passes: `
    insert into room_passes (workspace_id, room_id, name, created_at, expires_at)
    select $workspace, $room, 'Listed', ${AT}, ${AT} + interval '1 day' from n`,
  api_keys: `
    insert into api_keys (workspace_id, name, key_prefix, key_hash, created_by, created_at)
    select $workspace, 'Listed', 'lnx_abcd', sha256(n::text::bytea), $owner, ${AT} from n`,
  rooms: `
    insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
    select $workspace, 'listed-' || n, $owner, '#123456', ${AT}, ${AT} from n`,
  recordings: `
    insert into recordings (workspace_id, room_id, archive_id, status, created_at, updated_at)
    select $workspace, $room, 'listed-' || n, 'failed', ${AT}, ${AT} from n`,
  participants: `
    insert into participants (workspace_id, room_id, name, status, token_hash, created_at, joined_at,
      last_seen_at)
    select $workspace, $room, 'Guest', 'joined', sha256(n::text::bytea), ${AT}, ${AT},
      $at::timestamptz + interval '1 day' from n`,
  waiting: `
    insert into participants (workspace_id, room_id, name, status, token_hash, created_at, last_seen_at)
    select $workspace, $room, 'Guest', 'waiting', sha256(('waiting' || n)::bytea), ${AT},
      $at::timestamptz + interval '1 day' from n`,
  // Each in a room of its own, because those in one room would be one meeting.
  meetings: `
    with met_in as (
      insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
      select $workspace, 'met-' || n, $owner, '#123456', ${AT} - interval '1 year', ${AT} from n
      returning workspace_id, id, name)
    insert into participants (workspace_id, room_id, name, status, created_at, joined_at, left_at, last_seen_at)
    select workspace_id, id, 'Listed', 'left', ${AT}, ${AT} + interval '1 day', ${AT} + interval '2 days', ${AT}
    from n join met_in on name = 'met-' || n`,
  contacts: `
    insert into contacts (workspace_id, name, email, created_at)
    select $workspace, 'Guest', 'guest' || n || '@example.com', ${AT} from n`,
  contact_events: `
    insert into contact_events (workspace_id, type, room_id, created_at)
    select $workspace, 'room_join', $room, ${AT} from n`,
  booking_pages: `
    insert into booking_pages (workspace_id, title, slug, user_id, duration, time_zone, hours, created_at, updated_at)
    select $workspace, 'Listed', 'listed-' || n, $owner, 30, 'UTC', hours, ${AT}, ${AT}
    from n, booking_pages where id = $page`,
  passkeys: `
    insert into passkeys (user_id, name, credential_id, public_key, counter, is_backed_up, aaguid, created_at)
    select $owner, 'Listed', 'listed-' || n, '', 0, false, '', ${AT} from n`,
  openid_identities: `
    insert into openid_identities (user_id, issuer, subject, created_at, last_used_at)
    select $owner, 'https://provider.example.com', n::text, ${AT}, ${AT} from n`,
  bookings: `
    insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at, ends_at,
      created_at, cancelled_at)
    select $workspace, $page, $owner, 'Guest', 'g@example.com', 'g@example.com', sha256(n::text::bytea),
      ${AT} + interval '1 day', ${AT} + interval '1 day 30 minutes', ${AT}, ${AT} from n`,
  webhooks: `
    insert into webhooks (workspace_id, name, url, sealed_secret, events, created_at, updated_at)
    select $workspace, 'Listed', 'https://example.com', ''::bytea, '{room.created}', ${AT}, ${AT} from n`,
  webhook_messages: `
    insert into webhook_messages (workspace_id, id, webhook_id, event, payload, status, created_at, updated_at)
    select $workspace, 'msg_' || md5(n::text), $webhook, 'room.created', '{}', 'failed', ${AT}, ${AT} from n`,
  webhook_deliveries: `
    insert into webhook_deliveries (workspace_id, webhook_id, message_id, attempt, response_status, response_body,
      success, duration_ms, created_at)
    select $workspace, $webhook, '${DELIVERED_MESSAGE}', n, 200, '', true, 1, ${AT} from n`,
  meeting_connections: `
    insert into meeting_connections (workspace_id, ingest_id, name, provider, sealed_credentials, created_at,
      updated_at)
    select $workspace, md5(n::text), 'Listed', 'generic', ''::bytea, ${AT}, ${AT} from n`,
  unmatched_callbacks: `
    insert into unmatched_callbacks (workspace_id, connection_id, kind, meeting, reference, reason, occurred_at,
      received_at)
    select $workspace, $connection, 'recording.started', 'm', n::text, 'unknown_room', ${AT}, ${AT} from n`,
  sessions: `
    insert into sessions (user_id, token_hash, created_at, expires_at, last_used_at)
    select $owner, sha256(n::text::bytea), ${AT}, $at::timestamptz + interval '1 day', ${AT} from n`,
  oauth_grants: `
    with added as (
      insert into oauth_clients (id, name, redirect_uris, created_at, last_used_at)
      select 'listed-' || n, 'Listed', '{http://127.0.0.1/}', ${AT}, ${AT} from n returning id, created_at)
    insert into oauth_grants (workspace_id, user_id, client_id, scopes, resource, created_at, expires_at, code_hash,
      code_challenge, redirect_uri, code_expires_at)
    select $workspace, $owner, id, '{read}', '', created_at, created_at + interval '1 day', sha256(id::bytea), '',
      'http://127.0.0.1/', created_at from added`,
  account_events: `
    insert into account_events (user_id, action, details, created_at, last_at)
    select $owner, 'signed_in', '{}', ${AT}, ${AT} from n`,
  invitations: `
    insert into invitations (workspace_id, email, role, token_hash, invited_by, created_at, sent_at, expires_at)
    select $workspace, 'listed' || n || '@example.com', 'member', sha256(n::text::bytea), $owner, ${AT}, ${AT},
      ${AT} + interval '7 days' from n`,
  audit_log: `
    insert into audit_log (workspace_id, created_at, actor_kind, action, target_kind)
    select $workspace, ${AT}, 'system', 'room.deleted', 'room' from n`,
  trash_entries: `
    insert into trash_entries (workspace_id, kind, resource_id, name, size, created_at, trashed_at, record)
    select $workspace, 'library_item', n, 'Listed', 0, ${AT}, ${AT}, '{}' from n`,
  library_items: `
    with added as (
      insert into library_items (workspace_id, name, file_key, mime_type, size, sha256, created_at, updated_at)
      select $workspace, case n % 3 when 0 then 'item' when 1 then 'Item' else 'ITEM É' end || n % 5, 'listed/' || n,
        'application/pdf', n % 4, ''::bytea, ${AT}, ${AT} from n
      returning workspace_id, id)
    insert into item_labels (workspace_id, item_id, label_id) select workspace_id, id, $label from added`,
};

const lists: List[] = [
  { name: 'workspaces.list', path: () => '/api/workspaces', field: 'workspaces', table: 'workspaces' },
  {
    name: 'workspaces.listJoinable',
    path: () => '/api/workspaces/joinable',
    field: 'workspaces',
    table: 'joinable',
  },
  { name: 'workspaces.read', path: ({ team }) => team.path, field: 'workspace.members', table: 'members' },
  ...['', '?order=desc', '?sort=name', '?sort=name&order=desc', '?search=list'].map(
    (query): List => ({
      name: `members.list${query}`,
      path: ({ team }: World) => `${team.path}/members${query}`,
      field: 'members',
      table: 'members',
    }),
  ),
  { name: 'labels.list', path: ({ team }) => `${team.path}/labels`, field: 'labels', table: 'labels' },
  {
    name: 'invitations.list',
    path: ({ team }) => `${team.path}/invitations`,
    field: 'invitations',
    table: 'invitations',
  },
  { name: 'apps.list', path: () => '/api/auth/apps', field: 'apps', table: 'oauth_grants' },
  { name: 'sessions.list', path: () => '/api/auth/sessions', field: 'sessions', table: 'sessions' },
  {
    name: 'embedTokens.list',
    path: ({ team }) => `${team.path}/embed-tokens`,
    field: 'embed_tokens',
    table: 'embed_tokens',
  },
  {
    name: 'participants.listPasses',
    path: ({ team, roomName }) => `${team.path}/rooms/${roomName}/passes`,
    field: 'passes',
    table: 'room_passes',
  },
  { name: 'apiKeys.list', path: ({ team }) => `${team.path}/api-keys`, field: 'apiKeys', table: 'api_keys' },
  // Before the lists of rooms, whose tests delete rooms.
  ...['', '&search=list'].map(
    (query): List => ({
      name: `meetings.list?${query}`,
      path: ({ team, meetingsFrom }: World) => `${team.path}/meetings?from=${meetingsFrom}${query}`,
      field: 'meetings',
      table: 'meetings',
    }),
  ),
  { name: 'rooms.list', path: () => '/api/dashboard/rooms', field: 'rooms', table: 'rooms' },
  { name: 'rooms.listInWorkspace', path: ({ team }) => `${team.path}/rooms`, field: 'rooms', table: 'rooms' },
  { name: 'recordings.list', path: () => '/api/dashboard/recordings', field: 'recordings', table: 'recordings' },
  {
    name: 'recordings.listInRoom',
    path: ({ roomName }) => `/api/dashboard/rooms/${roomName}/recordings`,
    field: 'recordings',
    table: 'recordings',
  },
  {
    name: 'recordings.listInWorkspace',
    path: ({ team }) => `${team.path}/recordings`,
    field: 'recordings',
    table: 'recordings',
  },
  ...['', '?status=joined'].map(
    (query): List => ({
      name: `participants.list${query}`,
      path: ({ roomName }: World) => `/api/dashboard/rooms/${roomName}/participants${query}`,
      field: 'participants',
      table: 'participants',
    }),
  ),
  {
    name: 'participants.listWaiting',
    path: ({ team }) => `${team.path}/participants/waiting`,
    field: 'participants',
    table: 'waiting',
  },
  {
    name: 'meetings.read',
    path: ({ team, visitId }) => `${team.path}/meetings/${visitId}`,
    field: 'meeting.participants',
    table: 'participants',
  },
  ...['', '?search=Guest', '?search=gu', '?from=1'].map(
    (query): List => ({
      name: `contacts.list${query}`,
      path: ({ team }: World) => `${team.path}/contacts${query}`,
      field: 'contacts',
      table: 'contacts',
    }),
  ),
  ...['', '?type=room_join'].map(
    (query): List => ({
      name: `contacts.listEvents${query}`,
      path: ({ team }: World) => `${team.path}/contact-events${query}`,
      field: 'events',
      table: 'contact_events',
    }),
  ),
  {
    name: 'bookingPages.list',
    path: ({ team }) => `${team.path}/booking-pages`,
    field: 'bookingPages',
    table: 'booking_pages',
  },
  { name: 'trash.list', path: ({ team }) => `${team.path}/trash`, field: 'entries', table: 'trash_entries' },
  { name: 'bookings.list', path: ({ team }) => `${team.path}/bookings`, field: 'bookings', table: 'bookings' },
  {
    name: 'openid.identities',
    path: () => '/api/auth/openid/identities',
    field: 'identities',
    table: 'openid_identities',
  },
  { name: 'passkeys.list', path: () => '/api/auth/passkeys', field: 'passkeys', table: 'passkeys' },
  { name: 'webhooks.list', path: ({ team }) => `${team.path}/webhooks`, field: 'webhooks', table: 'webhooks' },
  {
    name: 'webhooks.deliveries',
    path: ({ team, webhookId }) => `${team.path}/webhooks/${webhookId}/deliveries`,
    field: 'deliveries',
    table: 'webhook_deliveries',
  },
  ...['', '?status=failed'].map(
    (query): List => ({
      name: `webhooks.messages${query}`,
      path: (world: World) => `${messages(world)}${query}`,
      field: 'messages',
      table: 'webhook_messages',
    }),
  ),
  {
    name: 'connections.list',
    path: ({ team }) => `${team.path}/connections`,
    field: 'connections',
    table: 'meeting_connections',
  },
  {
    name: 'connections.listUnmatched',
    path: ({ team, connectionId }) => `${team.path}/connections/${connectionId}/unmatched`,
    field: 'unmatched',
    table: 'unmatched_callbacks',
  },
  { name: 'auth.log', path: () => '/api/auth/log', field: 'events', table: 'account_events' },
  ...['', '?actor_kind=system&target_kind=room'].map(
    (query): List => ({
      name: `audit.list${query}`,
      path: ({ team }: World) => `${team.path}/audit${query}`,
      field: 'entries',
      table: 'audit_log',
    }),
  ),
  ...['date', 'name', 'size'].flatMap((sort) =>
    ['asc', 'desc'].flatMap((order) =>
      ['', '&search=Item', '&label=LABEL', '&search=Item&label=LABEL'].map(
        (filter): List => ({
          name: `library.list?sort=${sort}&order=${order}${filter}`,
          path: (world: World) =>
            `${library(world)}?sort=${sort}&order=${order}${filter.replace('LABEL', String(world.labelId))}`,
          field: 'items',
          table: 'library_items',
        }),
      ),
    ),
  ),
];

let app: TestApp;
let world: World;
beforeAll(async () => {
  app = await startTestApp();
  world = await createWorld();
});
afterAll(() => app.close());

test('every list that takes a cursor is tested', () => {
  const operations = listOperations(appRouter).filter(({ fields }) => fields.has('cursor'));
  const tested = new Set(lists.map(({ name }) => name.split('?')[0]));
  expect(operations.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
});

describe.each(lists.map((list) => [list.name, list] as const))('%s', (_, list) => {
  test('pages by cursor contain what pages by offset do, in the same order', async () => {
    const all = await readAll(list);
    expect(all.length).toBeGreaterThanOrEqual(ROWS / 2);
    expect(await readByCursor(list)).toEqual(all);
  });

  test('rows that come and go between the pages shift nothing', async () => {
    const before = await readAll(list);
    const keep = kept[list.table]?.(world);
    const removed = before.filter((id, index) => index % 3 === 1 && id !== keep);
    const seen = await readByCursor(list, async (page) => {
      if (page === 3) {
        await remove(list.table, removed);
        await insert(list.table, ROWS);
      }
    });
    const stay = before.filter((id) => !removed.includes(id));
    expect(seen.filter((id) => stay.includes(id))).toEqual(stay);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('a cursor is refused with an offset, and by other lists', async () => {
    const first = await get(list, `limit=${PAGE}`);
    const cursor = first.next_cursor ?? '';
    expect(await refusalOf(list, `cursor=${cursor}&offset=1`)).toEqual([400, 'cursor']);
    const other = list.name === 'labels.list' ? 'apiKeys.list' : 'labels.list';
    expect(await refusalOf(find(other), `cursor=${cursor}`)).toEqual([400, 'cursor']);
  });
});

test('a cursor is bound to the filters and the order of its list', async () => {
  const { next_cursor: cursor } = await get(find('library.list?sort=name&order=asc'), `limit=${PAGE}`);
  for (const query of ['sort=name&order=desc', 'sort=size&order=asc', 'sort=name&order=asc&search=Item'])
    expect(await refusalOf({ ...find('labels.list'), path: library }, `${query}&cursor=${cursor}`)).toEqual([
      400,
      'cursor',
    ]);
});

test.each([
  ['no base64', '!!'],
  ['no JSON', 'AAAA'],
  ['another version', [2, 0, 0, 1]],
  ['too few values', [1, 0, 0]],
  ['an object', {}],
  ['a text for a number', [1, 0, 'x', 'y']],
  ['a huge number', [1, 0, 1e300, 1e300]],
  ['a fraction', [1, 0, 0.5, 0.5]],
  ['NUL', [1, 0, '\u0000', '\u0000']],
  ['too long', [1, 0, 'x'.repeat(5_000), 1]],
])('a cursor that is %s is refused', async (_, value) => {
  const forged = await Promise.all(
    ['labels.list', 'library.list?sort=name&order=asc', 'webhooks.messages', 'webhooks.deliveries'].map(
      async (name) => {
        // With the checksum of the list, so that the values are looked at.
        const { next_cursor } = await get(find(name), `limit=${PAGE}`);
        const [, list] = JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString());
        const parts = Array.isArray(value) ? value.with(1, list) : value;
        const text = typeof parts === 'string' ? parts : Buffer.from(JSON.stringify(parts)).toString('base64url');
        return refusalOf(find(name), `cursor=${encodeURIComponent(text)}`);
      },
    ),
  );
  expect(forged.filter(([status]) => status !== 400 && status !== 200)).toEqual([]);
  expect(forged).toContainEqual([400, 'cursor']);
});

test('a cursor is no way around access', async () => {
  const { next_cursor: cursor } = await get(find('labels.list'), `limit=${PAGE}`);
  const path = `${world.team.path}/labels?cursor=${cursor}`;
  expect((await app.http.get(path, world.team.outsider.token)).status).toBe(403);
  expect((await app.http.get(path)).status).toBe(401);
});

test('null is the same as no cursor, and the last page has no field next_cursor', async () => {
  const { client } = world.team.owner;
  const page = await client.labels.list.query({ id: world.team.id, limit: 100, cursor: null });
  expect(page.labels.length).toBeGreaterThan(PAGE);
  expect(Object.keys(page)).toEqual(['labels']);
});

async function createWorld(): Promise<World> {
  const team = await addTeam(app);
  const { client } = team.owner;
  const id = team.id;
  const { room } = await client.rooms.create.mutate({ workspace_id: id });
  const { label } = await client.labels.create.mutate({ id, name: 'On every item' });
  const { webhook } = await client.webhooks.create.mutate({
    id,
    name: 'Listed',
    url: 'http://127.0.0.1:65535/',
    events: ['member.left'],
  });
  const { bookingPage } = await client.bookingPages.create.mutate({
    id,
    title: 'Listed',
    duration_minutes: 30,
    time_zone: 'UTC',
    hours: [{ day: 'monday', from: '09:00', to: '10:00' }],
  });
  const { connection } = await client.connections.create.mutate({ id, name: 'Listed', provider: 'generic' });
  world = {
    team,
    roomName: room.name,
    roomId: room.id,
    pageId: bookingPage.id,
    webhookId: webhook.id,
    connectionId: connection.id,
    labelId: label.id,
    visitId: (await client.participants.join.mutate({ roomName: room.name })).participant.id,
    meetingsFrom: toUnixSeconds(app.clock.now()) + 12 * 3600,
    sessionId: (await client.sessions.list.query({})).sessions[0]?.id ?? 0,
  };
  await app.services.db.$executeRaw`
    insert into webhook_messages (workspace_id, id, webhook_id, event, payload, status, created_at, updated_at)
    values (${id}, ${DELIVERED_MESSAGE}, ${webhook.id}, 'room.created', '{}', 'failed', now(), now())`;
  for (const table of Object.keys(inserts)) await insert(table as keyof typeof inserts, ROWS);
  return world;
}

let inserted = 0;

/** Inserts `count` rows. */
async function insert(table: keyof typeof inserts, count: number): Promise<void> {
  const { team, roomId, pageId, webhookId, connectionId, labelId } = world;
  const values: Record<string, string | number> = {
    $workspace: team.id,
    $owner: team.owner.id,
    $room: roomId,
    $page: pageId,
    $webhook: webhookId,
    $connection: connectionId,
    $label: labelId,
    $at: `'${app.clock.now().toISOString()}'`,
  };
  const text = inserts[table].replace(/\$[a-z]+/g, (name) => String(values[name]));
  const numbers = `n as (select generate_series(${inserted + 1}, ${inserted + count}) as n)`;
  inserted += count;
  const isWith = text.trimStart().startsWith('with ');
  await app.services.db.$executeRawUnsafe(`with ${numbers}${isWith ? `, ${text.trimStart().slice(5)}` : text}`);
}

async function remove(table: string, ids: (string | number)[]): Promise<void> {
  // Entries of the audit log are not deleted.
  if (table === 'audit_log') return;
  // The triggers of the sums refuse it.
  if (table === 'contact_events') return;
  if (table === 'joinable') return remove('workspaces', ids);
  if (table === 'meetings' || table === 'waiting') return remove('participants', ids);
  const id = table === 'members' ? 'workspace_id = $1 and user_id' : 'id';
  const list = ids.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(', ');
  await app.services.db.$executeRawUnsafe(
    `delete from ${table} where ${id.replace('$1', String(world.team.id))} in (${list})`,
  );
}

function find(name: string): List {
  const list = lists.find((one) => one.name === name);
  if (!list) throw new Error(`No list ${name}`);
  return list;
}

async function get(list: List, query: string): Promise<{ ids: (string | number)[]; next_cursor: string | undefined }> {
  const path = list.path(world);
  const { status, body } = await app.http.get(
    `${path}${path.includes('?') ? '&' : '?'}${query}`,
    world.team.owner.token,
  );
  expect([status, body.message]).toEqual([200, undefined]);
  const entries: Listed[] = list.field.split('.').reduce((value, name) => value[name], body);
  return { ids: entries.map(({ id }) => id), next_cursor: body.next_cursor };
}

async function refusalOf(list: List, query: string): Promise<[number, string | undefined]> {
  const path = list.path(world);
  const { status, body } = await app.http.get(
    `${path}${path.includes('?') ? '&' : '?'}${query}`,
    world.team.owner.token,
  );
  return [status, body.issues?.[0]?.path];
}

async function readAll(list: List): Promise<(string | number)[]> {
  const found = [];
  for (let offset = 0; ; offset += 100) {
    const { ids } = await get(list, `limit=100&offset=${offset}`);
    found.push(...ids);
    if (ids.length < 100) return found;
  }
}

/** Reads all pages. `between` is called with the number of pages read so far. */
async function readByCursor(list: List, between?: (page: number) => Promise<void>): Promise<(string | number)[]> {
  const found = [];
  let cursor: string | undefined = '';
  for (let page = 1; cursor !== undefined; page += 1) {
    const { ids, next_cursor }: Awaited<ReturnType<typeof get>> = await get(list, `limit=${PAGE}&cursor=${cursor}`);
    found.push(...ids);
    cursor = next_cursor;
    await between?.(page);
  }
  return found;
}
