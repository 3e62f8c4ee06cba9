/** Events that matched no room or participant. They are stored for a month so that the owner can see them. */

import type { Actor } from '../../../auth/identify.ts';
import { toEnum } from '../../../core/enums.ts';
import { notFound } from '../../../core/errors.ts';
import type { Page } from '../../../core/list-page.ts';
import { DAY_MS, toUnixSeconds } from '../../../core/time.ts';
import { DELETE_BATCH, inBatches } from '../../../db/in-batches.ts';
import { requireCursor, toPage } from '../../../db/pages.ts';
import { sqlIn } from '../../../db/sql.ts';
import { int, oneOf, statement, text, time } from '../../../db/statements.ts';
import type { Services } from '../../../services.ts';
import type { ProviderEvent } from '../adapters/provider-event.ts';
import { eventKinds } from '../adapters/provider-event.ts';
import {
  type UnmatchedCallback,
  type UnmatchedInput,
  type UnmatchedReason,
  unmatchedReasons,
} from '../connections/schemas.ts';
import type { ApplyContext } from './apply-context.ts';
import { toMeeting } from './find-room.ts';

/** The limit per connection. Older entries are deleted. */
export const MAX_UNMATCHED = 1_000;
const RETENTION_MS = 30 * DAY_MS;

/** Sorts the list by id, newest first. */
const unmatchedOf = { name: 'list-unmatched', order: { key: 'id', keyType: 'number', direction: 'desc' } } as const;

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
  const { limit, offset, cursor } = page;
  const filters = [workspaceId, connectionId];
  const after = cursor && requireCursor(unmatchedOf, cursor, offset, filters);
  const connection = await db.meetingConnection.findUnique({
    where: { workspaceId_id: { workspaceId, id: connectionId } },
    select: { provider: true },
  });
  if (connection === null) throw notFound('Connection');
  const rows = await db.unmatchedCallback.findMany({
    where: { workspaceId, connectionId, ...(after && { id: { lt: Number(after.id) } }) },
    orderBy: { id: 'desc' },
    take: limit + 1,
    skip: offset,
  });
  const hasSessions = connection.provider === 'vonage';
  const callbacks = rows.map((row) => ({
    id: Number(row.id),
    event: toEnum(eventKinds, row.kind, 'kind of event'),
    room: hasSessions ? null : row.meeting,
    session_id: hasSessions ? row.meeting : null,
    participant_id: row.kind.startsWith('participant.') ? row.reference : null,
    archive_id: row.kind.startsWith('recording.') ? row.reference : null,
    reason: toEnum(unmatchedReasons, row.reason, 'reason'),
    occurred_at: toUnixSeconds(row.occurredAt),
    received_at: toUnixSeconds(row.receivedAt),
  }));
  return toPage(unmatchedOf, callbacks, page, filters);
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
