/** The rows of resumable uploads, and the lease of the request that appends bytes to one. */
import { SECOND_MS } from '../../core/time.ts';
import {
  bool,
  bytes,
  float,
  int,
  json,
  nullable,
  oneOf,
  type RowOf,
  statement,
  text,
  time,
} from '../../db/statements.ts';
import type { MediaType } from '../../media/file-type.ts';
import type { PartialObject } from '../../storage/object-store.ts';
import { isStarterRemoved } from '../recordings/upload.ts';

/** If a server is killed, another request can continue its upload after this time. */
export const LEASE_MS = 6 * SECOND_MS;
/** How often a request that appends bytes renews its lease. */
export const RENEWAL_MS = 2 * SECOND_MS;

const columns = {
  id: text,
  workspaceId: int,
  recordingId: nullable(int),
  createdBy: nullable(int),
  creatorName: nullable(text),
  labelId: nullable(int),
  metadata: text,
  mediaType: oneOf<MediaType>(),
  fileKey: text,
  length: nullable(float),
  received: float,
  requests: int,
  head: bytes,
  stored: nullable(json<PartialObject>()),
  result: nullable(text),
  expiresAt: time,
  defersLength: bool,
  isFinishing: bool,
  finishedKey: nullable(text),
  finishedBytes: float,
  finishedAt: nullable(time),
  activeAt: nullable(time),
};

const COLUMNS_SQL = `u.id, u.workspace_id as "workspaceId", u.recording_id as "recordingId",
  u.created_by as "createdBy", (select name from users where id = u.created_by) as "creatorName",
  u.label_id as "labelId", u.metadata, u.media_type as "mediaType", u.file_key as "fileKey", u.length::float8,
  u.received::float8, u.requests, u.head, u.stored, u.result, u.expires_at as "expiresAt",
  u.defers_length as "defersLength", u.is_finishing as "isFinishing", u.finished_key as "finishedKey",
  u.finished_bytes::float8 as "finishedBytes", u.finished_at as "finishedAt", u.active_at as "activeAt"`;

/** Finds an upload that has not expired. `isLeased` says that a request may be appending bytes. */
export const findUpload = statement('find-upload', {
  params: { id: text, now: time },
  returns: { ...columns, isLeased: bool },
  sql: `
    select ${COLUMNS_SQL}, u.lease is not null and u.leased_until > $now as "isLeased"
    from uploads u where u.id = $id and u.expires_at > $now`,
});

export type Upload = Omit<RowOf<typeof findUpload>, 'isLeased'>;

/**
 * Takes the lease of an upload that expires after `expiresAfter`, unless a request has it. `isTakenOver` says that a
 * request had it and did not release it, so its process may have been killed, or may still be writing.
 */
export const leaseUpload = statement('lease-upload', {
  params: { id: text, lease: text, now: time, leasedUntil: time, expiresAfter: time },
  returns: { ...columns, isTakenOver: bool },
  sql: `
    with free as
      (select id, lease from uploads
       where id = $id and (lease is null or leased_until <= $now) and expires_at > $expiresAfter for update)
    update uploads u set lease = $lease, leased_until = $leasedUntil, stop_requested = false
    from free where u.id = free.id
    returning ${COLUMNS_SQL}, free.lease is not null as "isTakenOver"`,
  hasChanged: (rows) => rows.length > 0,
});

/** An upload to which only the holder of `lease` appends bytes. */
export type LeasedUpload = Upload & { lease: string };

/**
 * Whether the recording has been finished with all bytes so far. Their object is complete: what follows is appended to
 * a copy of it.
 */
export function isFinishedSoFar({ fileKey, finishedKey }: Pick<Upload, 'fileKey' | 'finishedKey'>): boolean {
  return finishedKey === fileKey;
}

/**
 * Renews a lease. Returns no row if another request has it. A request of a recorder must also stop some time after a
 * host has removed its participant.
 */
export const renewUploadLease = statement('renew-upload-lease', {
  params: { id: text, lease: text, leasedUntil: time, removedBefore: time },
  returns: { stopRequested: bool },
  sql: `
    update uploads u set leased_until = $leasedUntil where u.id = $id and u.lease = $lease
    returning u.stop_requested or (u.created_by is null and exists (
      select from recordings c
      where c.workspace_id = u.workspace_id and c.id = u.recording_id and ${isStarterRemoved})) as "stopRequested"`,
});

export const requestStop = statement('request-stop-of-upload', {
  params: { id: text },
  sql: 'update uploads set stop_requested = true where id = $id and lease is not null',
});

/**
 * Records what a request has stored so far. Returns no row if another request has the lease. Once the recording has
 * been finished without the rest, more bytes no longer extend the time.
 */
export const recordStored = statement('record-stored-upload', {
  params: {
    id: text,
    lease: text,
    fileKey: text,
    stored: nullable(json<PartialObject>()),
    received: float,
    head: bytes,
    now: time,
    leasedUntil: time,
    expiresAt: time,
  },
  returns: { expiresAt: time },
  sql: `
    update uploads set file_key = $fileKey, stored = $stored, received = $received::int8, head = $head,
      active_at = $now, leased_until = $leasedUntil,
      expires_at = case when finished_at is null then greatest(expires_at, $expiresAt) else expires_at end
    where id = $id and lease = $lease returning expires_at as "expiresAt"`,
});

/** Records that a client is still there, although it has sent no bytes. */
export const touchUpload = statement('touch-upload', {
  params: { id: text, now: time },
  sql: 'update uploads set active_at = $now where id = $id and result is null and defers_length',
});

/**
 * Counts the unfinished uploads of a workspace, and what they will store: their length, or what has arrived if that is
 * not known, without what is the file of a recording already. `id` is an upload that does not count.
 */
export const countUnfinished = statement('count-unfinished-uploads', {
  params: { workspaceId: int, createdBy: nullable(int), id: nullable(text), now: time },
  returns: { ofWorkspace: int, ofUser: int, bytes: float },
  sql: `
    select count(*)::int as "ofWorkspace", (count(*) filter (where created_by = $createdBy))::int as "ofUser",
      coalesce(sum(coalesce(length, received) - finished_bytes), 0)::float8 as bytes
    from uploads where workspace_id = $workspaceId and result is null and expires_at > $now
      and id is distinct from $id`,
});

/** Records the length that the client has named. */
export const recordLength = statement('record-length-of-upload', {
  params: { id: text, lease: text, length: float },
  sql: 'update uploads set length = $length::int8 where id = $id and lease = $lease and length is null',
});

/**
 * Ends a lease, and counts the request. This need not be durable, which saves a wait for the disk with each request: if
 * PostgreSQL crashes and forgets it, the lease expires, and another request takes the upload over.
 */
export const releaseUpload = statement('release-upload', {
  params: { id: text, lease: text },
  sql: `
    with settings as materialized (select set_config('synchronous_commit', 'off', true) as value)
    update uploads set lease = null, leased_until = null, stop_requested = false, requests = requests + 1
    from settings where id = $id and lease = $lease and settings.value is not null`,
});

/** Records the result of a complete upload. Returns no row if another request has recorded it, or has the lease. */
export const recordResult = statement('record-result-of-upload', {
  params: { id: text, lease: text, result: text },
  returns: { id: text },
  sql: `
    update uploads set result = $result, stored = null, head = '', lease = null, leased_until = null,
      is_finishing = false, finished_key = null
    where id = $id and lease = $lease and result is null returning id`,
});

/** Records that the recording is about to be finished without the rest. Returns no row if another has the lease. */
export const beginFinishing = statement('begin-finishing-upload', {
  params: { id: text, lease: text },
  returns: { id: text },
  sql: 'update uploads set is_finishing = true where id = $id and lease = $lease and result is null returning id',
});

/** Records that the recording has the bytes so far. Returns no row if another request has the lease. */
export const recordFinished = statement('record-finished-upload', {
  params: { id: text, lease: text, now: time, expiresAt: time },
  returns: { expiresAt: time },
  sql: `
    update uploads set is_finishing = false, finished_key = file_key, finished_bytes = received,
      finished_at = coalesce(finished_at, $now),
      expires_at = case when finished_at is null then $expiresAt else expires_at end
    where id = $id and lease = $lease and result is null returning expires_at as "expiresAt"`,
});

/** What the store has of a deleted upload beyond the file of its recording; null if nothing. */
export const discardedBytes = `case when finished_key is distinct from file_key then stored end as stored`;

/** Deletes an upload. Returns no row if it was deleted before. */
export const deleteUpload = statement('delete-upload', {
  params: { id: text },
  returns: { fileKey: text, stored: nullable(json<PartialObject>()) },
  sql: `delete from uploads where id = $id returning file_key as "fileKey", ${discardedBytes}`,
});

/** Deletes an upload. Returns no row if another request has the lease. */
export const deleteLeasedUpload = statement('delete-leased-upload', {
  params: { id: text, lease: text },
  returns: { id: text },
  sql: 'delete from uploads where id = $id and lease = $lease returning id',
});
