/** docs/privacy.md names every column that can hold data about a person. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/**
 * Columns of text, JSON or bytes that hold no data about a person: identifiers, states and settings of the service,
 * hashes of files and of rows, and secrets of the service.
 */
const notPersonal: Readonly<Record<string, string>> = {
  invitations: 'state',
  sessions: 'openid_issuer',
  calendar_feeds: 'openid_issuer',
  openid_requests: 'state_hash purpose provider issuer nonce code_verifier redirect_uri return_to',
  passkey_challenges: 'challenge_hash purpose',
  idempotency_keys: 'key fingerprint body_hash lease roles',
  account_tokens: 'purpose',
  mail_messages: 'message_id kind state',
  workspaces:
    'slug invite_hash sealed_invite invite_token media embed_origins required_sign_in required_issuer join_domain ' +
    'brand_color logo_key imprint_url privacy_url language',
  labels: 'color',
  library_items: 'file_key poster_key mime_type sha256',
  trash_entries: 'kind file_key poster_key',
  uploads: 'id media_type file_key finished_key stored lease result',
  events: 'type traceparent',
  scheduled_tasks: 'name cron',
  discarded_objects: 'key stored',
  object_store_id: 'store',
  created_store_ids: 'store',
  slug_suffixes: 'slug',
  rooms: 'name accent_color waiting_room_message session_id media recordings_visible_to who_may_record',
  recordings: 'archive_id file_key poster_key status upload_token_hash sha256 media_type',
  recording_deletions: 'archive_id room_name',
  recording_copies: 'sealed_url last_error',
  livekit_egresses: 'room_name archive_id egress_id step',
  livekit_rooms: 'origin room_name sealed_credentials',
  media_jobs: 'output_key',
  participants: 'status end_reason',
  meeting_pages: 'connection_id',
  meeting_signals: 'connection_id kind from_connection_id',
  meeting_connections: 'ingest_id provider sealed_credentials media_origin',
  unmatched_callbacks: 'kind reason',
  ingest_events: 'dedupe_key',
  oauth_clients: 'id name redirect_uris',
  oauth_grants: 'client_id resource code_hash code_challenge redirect_uri openid_issuer',
  oauth_tokens: 'refresh_hash access_hash',
  embed_tokens: 'kind access token_hash',
  api_keys: 'key_prefix key_hash scopes previous_key_prefix previous_key_hash',
  webhooks: 'host sealed_secret events disabled_reason previous_sealed_secret',
  webhook_messages: 'id subject after_id event status job_id queued_job_id traceparent',
  webhook_leases: 'job_id',
  webhook_deliveries: 'message_id',
  booking_pages: 'slug time_zone hours days_off',
  counter_changes: 'counter type',
  contact_event_days: 'type',
  contact_event_subjects: 'type',
  audit_log: 'hash actor_kind action target_kind actor_salt actor_hash details_salt details_hash',
  audit_chains: 'last_hash cut_hash sealed',
};

const MODEL = /^model \w+ \{\n(.*?)^\}/gms;
const TEXT_FIELD = /^ {2}(\w+) +(?:String|Json|Bytes)(?:\[\])?\??(?: +(.*))?$/gm;

/** The columns that can hold any text or bytes, as `table.column`. */
function readColumns(): string[] {
  const schema = read('prisma/schema.prisma');
  return [...schema.matchAll(MODEL)].flatMap(([, body = '']) => {
    const table = mapOf(/@@map\("(\w+)"\)/, body) ?? '';
    return [...body.matchAll(TEXT_FIELD)].map(
      ([, field = '', rest = '']) => `${table}.${mapOf(/@map\("(\w+)"\)/, rest) ?? field}`,
    );
  });
}

function mapOf(pattern: RegExp, text: string): string | undefined {
  return pattern.exec(text)?.[1];
}

/** The columns that the page names, as `table` (`column`, `column`). */
function readNamed(): string[] {
  const groups = read('docs/privacy.md').matchAll(/`(\w+)`\s\((`\w+`(?:,\s+`\w+`)*)\)/g);
  return [...groups].flatMap(([, table, columns = '']) =>
    [...columns.matchAll(/`(\w+)`/g)].map(([, column]) => `${table}.${column}`),
  );
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

const columns = readColumns();
const personal = readNamed();
const others = Object.entries(notPersonal).flatMap(([table, names]) =>
  names.split(' ').map((name) => `${table}.${name}`),
);

test('docs/privacy.md names every column that can hold data about a person', () => {
  const missing = columns.filter((column) => ![...personal, ...others].includes(column));
  const remedy = 'Name these columns in docs/privacy.md or, if they never hold data about a person, in this test';
  expect(missing, remedy).toEqual([]);
});

test('every column that is named exists, and is named once', () => {
  const named = [...personal, ...others];
  expect(named.filter((column) => !columns.includes(column))).toEqual([]);
  expect(named.filter((column, index) => named.indexOf(column) !== index)).toEqual([]);
});
