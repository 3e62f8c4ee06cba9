/** Events that matched no room or participant. They are stored for a month so that the owner can see them. */

import type { Actor } from '../../../auth/identify.ts';
import { toEnum } from '../../../core/enums.ts';
import { notFound } from '../../../core/errors.ts';
import type { Page } from '../../../core/list-page.ts';
import { DAY_MS } from '../../../core/time.ts';
import { secondsOf } from '../../../db/columns.ts';
import { DELETE_BATCH, inBatches } from '../../../db/in-batches.ts';
import { pagedList, readPage } from '../../../db/pages.ts';
import { sqlIn } from '../../../db/sql.ts';
import { float, int, oneOf, statement, text, time } from '../../../db/statements.ts';
import type { Services } from '../../../services.ts';
import type { ProviderEvent } from '../adapters/provider-event.ts';
import { eventKinds } from '../adapters/provider-event.ts';
import type { UnmatchedCallback, UnmatchedInput, UnmatchedReason } from '../connections/schemas.ts';
import type { ApplyContext } from './apply-context.ts';
import { toMeeting } from './find-room.ts';

/** The limit per connection. Older entries are deleted. */
export const MAX_UNMATCHED = 1_000;
const RETENTION_MS = 30 * DAY_MS;

const unmatchedOf = pagedList('list-unmatched', {
  order: { key: 'u.id', keyType: 'number', direction: 'desc' },
  params: { workspaceId: int, connectionId: int },
  returns: {
    id: float,
    kind: text,
    meeting: text,
    reference: text,
    reason: oneOf<UnmatchedReason>(),
    occurred_at: float,
    received_at: float,
  },
  sql: ({ after, window }) => `
    select u.id::float8 as id, u.kind, u.meeting, u.reference, u.reason, ${secondsOf('u.occurred_at')} as occurred_at,
      ${secondsOf('u.received_at')} as received_at
    from unmatched_callbacks u
    where u.workspace_id = $workspaceId and u.connection_id = $connectionId ${after} ${window}`,
});

const addStatement = statement('add-unmatched-callback', {
  params: {
    workspaceId: int,
    connectionId: int,
    kind: text,
    meeting: text,
    reference: text,
    reason: oneOf<UnmatchedReason>(),
    at: time,
    now: time,
  },
  sql: `
    insert into unmatched_callbacks
      (workspace_id, connection_id, kind, meeting, reference, reason, occurred_at, received_at)
    values ($workspaceId, $connectionId, $kind, $meeting, $reference, $reason, $at, $now)
    on conflict (workspace_id, connection_id, kind, meeting, reference) do update
    set occurred_at = least(unmatched_callbacks.occurred_at, excluded.occurred_at)`,
});

const deleteOldest = statement('delete-oldest-unmatched-callbacks', {
  params: { workspaceId: int, connectionId: int },
  sql: `
    delete from unmatched_callbacks where workspace_id = $workspaceId and connection_id = $connectionId and id <=
      (select id from unmatched_callbacks where workspace_id = $workspaceId and connection_id = $connectionId
       order by id desc offset ${MAX_UNMATCHED} limit 1)`,
});

/**
 * Stores an event that matched nothing. A repeated event is stored once. When a join arrives, the entry of its earlier
 * leave is deleted.
 */
export async function addUnmatched(
  { tx, now, workspaceId, connectionId }: ApplyContext,
  event: ProviderEvent,
  reason: UnmatchedReason,
): Promise<void> {
  const sql = sqlIn(tx);
  await sql.run(addStatement, {
    workspaceId,
    connectionId,
    reason,
    now,
    kind: event.kind,
    meeting: toMeeting(event.room),
    reference: toReference(event),
    at: event.at,
  });
  await sql.run(deleteOldest, { workspaceId, connectionId });
}

/**
 * Returns the provider's id for the participant or recording, or an empty string for an event about the meeting itself.
 */
function toReference(event: ProviderEvent): string {
  if ('archiveId' in event) return event.archiveId;
  return 'participantReference' in event ? event.participantReference : '';
}

/** Lists a connection's events that matched nothing, newest first. Throws 404 "Connection not found". */
export async function listUnmatched(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { connectionId, ...page }: UnmatchedInput,
): Promise<Page<UnmatchedCallback>> {
  const key = { workspaceId, connectionId };
  const { entries, next_cursor } = await readPage(db.sql, unmatchedOf, key, page, [workspaceId, connectionId]);
  const connection = await db.meetingConnection.findUnique({
    where: { workspaceId_id: { workspaceId, id: connectionId } },
    select: { provider: true },
  });
  if (connection === null) throw notFound('Connection');
  const hasSessions = connection.provider === 'vonage';
  const callbacks = entries.map(({ kind, meeting, reference, ...callback }) => ({
    ...callback,
    event: toEnum(eventKinds, kind, 'kind of event'),
    room: hasSessions ? null : meeting,
    session_id: hasSessions ? meeting : null,
    participant_id: kind.startsWith('participant.') ? reference : null,
    archive_id: kind.startsWith('recording.') ? reference : null,
  }));
  return { entries: callbacks, next_cursor };
}

const pruneBatch = statement('prune-unmatched-callbacks', {
  params: { until: time },
  returns: { workspaceId: int },
  sql: `
    delete from unmatched_callbacks where (workspace_id, connection_id, id) in
      (select workspace_id, connection_id, id from unmatched_callbacks
       where received_at < $until limit ${DELETE_BATCH})
    returning workspace_id as "workspaceId"`,
});

/** Deletes entries that are older than a month. */
export async function pruneUnmatched({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const until = new Date(clock.now().getTime() - RETENTION_MS);
  await inBatches(DELETE_BATCH, async () => (await db.sql.run(pruneBatch, { until })).length);
}
