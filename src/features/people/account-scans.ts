/** The records that the export of an account contains. Secrets and hashes are left out. */
import { flagOf, secondsOf } from '../../db/columns.ts';
import { int } from '../../db/statements.ts';
import { declareScan } from './scan.ts';

const params = { userId: int };

/** Reads the rows that refer to the user in the given column of a table with an integer `id`. */
function scanOf(table: string, column: string, fields: string, where = 'true') {
  return declareScan(`export-account-${table.replaceAll('_', '-')}`, {
    params,
    from: `
      select o.*, o.id::text as key from ${table} o
      where o.${column} = $userId and o.id > $after::bigint and ${where} order by o.id`,
    record: `json_build_object(${fields})`,
  });
}

/** Fields that have the same name as their column. */
function own(...columns: readonly string[]): string {
  return columns.map((column) => `'${column}', t.${column}`).join(', ');
}

function seconds(...columns: readonly string[]): string {
  return columns.map((column) => `'${column}', ${secondsOf(`t.${column}`)}`).join(', ');
}

export const account = scanOf(
  'users',
  'id',
  `${own('id', 'name', 'email')}, 'has_password', ${flagOf('(t.password_hash is not null)')},
    ${seconds('created_at', 'email_verified_at', 'locked_at')}`,
);

export const sessions = scanOf(
  'sessions',
  'user_id',
  `${own('id', 'method', 'address', 'user_agent')},
    ${seconds('created_at', 'authenticated_at', 'last_used_at', 'expires_at')}`,
);

export const knownDevices = declareScan('export-account-known-devices', {
  params,
  from: `
    select d.*, encode(d.device_hash, 'hex') as key from known_devices d
    where d.user_id = $userId and d.device_hash > case when $after <> '0' then decode($after, 'hex') else '' end
    order by d.device_hash`,
  record: `json_build_object(${seconds('last_seen_at')})`,
});

export const secondFactor = declareScan('export-account-second-factor', {
  params,
  from: `
    select f.*, f.user_id::text as key from second_factors f
    where f.user_id = $userId and f.user_id > $after::int`,
  record: `json_build_object(${seconds('created_at', 'confirmed_at')},
    'recovery_codes', (select count(*) from recovery_codes c where c.user_id = t.user_id))`,
});

export const openidIdentities = scanOf(
  'openid_identities',
  'user_id',
  `${own('id', 'issuer', 'subject', 'email')}, ${seconds('created_at', 'last_used_at')}`,
);

export const passkeys = scanOf(
  'passkeys',
  'user_id',
  `${own('id', 'name', 'credential_id', 'transports', 'aaguid')}, ${seconds('created_at', 'last_used_at')}`,
);

export const memberships = declareScan('export-account-memberships', {
  params,
  from: `
    select m.*, m.workspace_id::text as key, w.name from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = $userId and m.workspace_id > $after::int order by m.workspace_id`,
  record: `json_build_object(${own('workspace_id', 'name', 'role')}, ${seconds('joined_at')})`,
});

/** Only a confirmed address counts: anybody can register with somebody else's address. */
const confirmedAddress = 'select u.email from users u where u.id = $userId and u.email_verified_at is not null';

export const invitations = declareScan('export-account-invitations', {
  params,
  from: `
    select i.*, i.id::text as key from invitations i
    where (i.accepted_by = $userId or i.email = (${confirmedAddress})) and i.id > $after::int order by i.id`,
  record: `json_build_object(${own('workspace_id', 'email', 'role', 'state')}, ${seconds('created_at', 'sent_at')})`,
});

export const apiKeys = scanOf(
  'api_keys',
  'created_by',
  `${own('workspace_id', 'id', 'name', 'key_prefix', 'scopes', 'allowed_networks', 'last_used_address')},
    ${own('previous_last_used_address')}, ${seconds('created_at', 'last_used_at', 'expires_at', 'revoked_at')}`,
);

export const connectedApps = declareScan('export-account-connected-apps', {
  params,
  from: `
    select g.*, g.id::text as key, c.name from oauth_grants g join oauth_clients c on c.id = g.client_id
    where g.user_id = $userId and g.id > $after::int order by g.id`,
  record: `json_build_object(${own('workspace_id', 'id', 'name', 'redirect_uri', 'scopes', 'last_used_address')},
    ${seconds('created_at', 'expires_at', 'last_used_at')})`,
});

export const rooms = scanOf(
  'rooms',
  'user_id',
  `${own('workspace_id', 'id', 'name', 'display_name', 'waiting_room_message')}, ${seconds('created_at')}`,
);

export const bookingPages = scanOf(
  'booking_pages',
  'user_id',
  `${own('workspace_id', 'id', 'title', 'slug', 'time_zone', 'hours')}, ${seconds('created_at')}`,
);

export const labels = scanOf('labels', 'created_by', `${own('workspace_id', 'id', 'name')}, ${seconds('created_at')}`);

export const libraryItems = scanOf(
  'library_items',
  'uploaded_by',
  `${own('workspace_id', 'id', 'name', 'description', 'mime_type', 'size')}, ${seconds('created_at')}`,
);

export const trashEntries = scanOf(
  'trash_entries',
  'created_by',
  `${own('workspace_id', 'id', 'kind', 'name', 'size')}, ${seconds('created_at', 'trashed_at')}`,
);

export const webhooks = scanOf(
  'webhooks',
  'created_by',
  `${own('workspace_id', 'id', 'name', 'url')}, ${seconds('created_at')}`,
);

export const connections = scanOf(
  'meeting_connections',
  'created_by',
  `${own('workspace_id', 'id', 'name', 'provider')}, ${seconds('created_at')}`,
);

export const visits = scanOf(
  'participants',
  'user_id',
  `${own('workspace_id', 'id', 'room_id', 'name', 'email', 'status')},
    ${seconds('created_at', 'joined_at', 'left_at')}`,
);

export const mail = declareScan('export-account-mail', {
  params,
  from: `
    select m.*, m.id::text as key from mail_messages m
    where m.to_address = (${confirmedAddress}) and m.id > $after::int order by m.id`,
  record: `json_build_object(${own('id', 'kind', 'state')}, 'to', t.to_address, ${seconds('created_at', 'ended_at')})`,
});

export const log = scanOf(
  'account_events',
  'user_id',
  `${own('id', 'action', 'address', 'user_agent', 'details', 'count')}, ${seconds('created_at', 'last_at')}`,
);

export const auditEntries = scanOf(
  'audit_log',
  'actor_user_id',
  `${own('workspace_id', 'id', 'action', 'target_kind', 'target_id')}, ${seconds('created_at')},
    'actor', t.actor_details::json`,
  'o.actor_details is not null',
);
