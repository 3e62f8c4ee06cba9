/**
 * Accesses the table `ingest_events`, which stores verified callbacks with their events. Applied callbacks are deleted
 * a week after they arrived.
 */

import { notFound } from '../../../core/errors.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { DAY_MS } from '../../../core/time.ts';
import { type Prisma, runWrite, type Tx, transact } from '../../../db/client.ts';
import { DELETE_BATCH, inBatches } from '../../../db/in-batches.ts';
import { sqlIn } from '../../../db/sql.ts';
import { int, json, statement, text, time } from '../../../db/statements.ts';
import type { Services } from '../../../services.ts';
import type { ProviderEvent } from '../adapters/provider-event.ts';

/** Longer than providers retry a callback, and longer than a signature is valid. */
const RETENTION_MS = 7 * DAY_MS;

/** Identifies a callback. `dedupeKey` is the same each time the provider sends the callback. */
export type CallbackKey = { workspaceId: number; connectionId: number; dedupeKey: string };

/** Locks the connection first, so that a concurrent deletion waits instead of deadlocking with the transaction. */
const lockConnection = statement('lock-connection', {
  params: { workspaceId: int, connectionId: int },
  returns: { id: int },
  sql: 'select id from meeting_connections where workspace_id = $workspaceId and id = $connectionId for no key update',
});

const touchConnection = statement('touch-connection', {
  params: { workspaceId: int, connectionId: int, now: time },
  sql: `
    update meeting_connections set last_event_at = $now
    where workspace_id = $workspaceId and id = $connectionId`,
});

/**
 * Stores a callback. Changes nothing and returns false if the callback is already stored. Throws 404 "Connection not
 * found" if the connection has been deleted.
 */
export function storeCallback(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  { workspaceId, connectionId, dedupeKey }: CallbackKey,
  events: readonly ProviderEvent[],
): Promise<boolean> {
  return transact(db, async (tx) => {
    const sql = sqlIn(tx);
    const locked = await sql.run(lockConnection, { workspaceId, connectionId });
    if (locked.length === 0) throw notFound('Connection');
    const now = clock.now();
    const { count } = await tx.ingestEvent.createMany({
      data: [{ workspaceId, connectionId, dedupeKey, facts: sealEvents(sealer, workspaceId, events), receivedAt: now }],
      skipDuplicates: true,
    });
    if (count === 0) return false;
    await sql.run(touchConnection, { workspaceId, connectionId, now });
    return true;
  });
}

/** Converts the events to JSON, with their secrets sealed. */
function sealEvents(sealer: Sealer, workspaceId: number, events: readonly ProviderEvent[]): Prisma.InputJsonValue {
  const seal = (secret: string): string =>
    Buffer.from(sealer.seal(secret, { workspaceId, purpose: 'recording link' })).toString('base64');
  return JSON.parse(JSON.stringify(events.map((event) => mapSecrets(event, seal))));
}

/**
 * Participant tokens and file URLs grant access, so they are sealed before they are stored, both with the purpose
 * `recording link` (core/sealing.ts).
 */
function mapSecrets(event: ProviderEvent, map: (secret: string) => string): ProviderEvent {
  switch (event.kind) {
    case 'participant.joined':
      return { ...event, token: event.token && map(event.token) };
    case 'recording.uploaded':
      return { ...event, file: event.file && { url: map(event.file.url) } };
    case 'recording.available':
      return { ...event, file: { url: map(event.file.url) } };
    default:
      return event;
  }
}

const lockPending = statement('lock-pending-callback', {
  params: { workspaceId: int, connectionId: int, dedupeKey: text },
  returns: { facts: json<unknown>() },
  sql: `
    select facts from ingest_events
    where workspace_id = $workspaceId and connection_id = $connectionId and dedupe_key = $dedupeKey
      and applied_at is null
    for update skip locked`,
});

/**
 * Locks a pending callback until the transaction ends, and returns its events. Returns null if the callback has been
 * applied, is locked by another transaction, or does not exist.
 */
export async function lockPendingCallback(tx: Tx, sealer: Sealer, key: CallbackKey): Promise<ProviderEvent[] | null> {
  const [row] = await sqlIn(tx).run(lockPending, key);
  return row ? openEvents(sealer, key.workspaceId, row.facts) : null;
}

/** The inverse of `sealEvents`. */
function openEvents(sealer: Sealer, workspaceId: number, sealed: unknown): ProviderEvent[] {
  const open = (secret: string): string =>
    sealer.open(Buffer.from(secret, 'base64'), { workspaceId, purpose: 'recording link' });
  const revive = (name: string, value: unknown): unknown =>
    (name === 'at' || name === 'urlExpiresAt') && typeof value === 'string' ? new Date(value) : value;
  // `as` is safe: only sealEvents writes this column, and only the same or a later version of the service reads it.
  const events = JSON.parse(JSON.stringify(sealed), revive) as ProviderEvent[];
  return events.map((event) => mapSecrets(event, open));
}

export async function markApplied(tx: Tx, key: CallbackKey, at: Date): Promise<void> {
  await tx.ingestEvent.update({
    where: { workspaceId_connectionId_dedupeKey: key },
    data: { appliedAt: at },
    select: { dedupeKey: true },
  });
}

const takePending = statement('take-pending-callbacks', {
  params: { now: time, max: int },
  returns: { workspaceId: int, connectionId: int, dedupeKey: text },
  sql: `
    update ingest_events set tried_at = $now
    where (workspace_id, connection_id, dedupe_key) in
      (select workspace_id, connection_id, dedupe_key from ingest_events where applied_at is null
       order by tried_at nulls first, received_at limit $max for update skip locked)
    returning workspace_id as "workspaceId", connection_id as "connectionId", dedupe_key as "dedupeKey"`,
});

/**
 * Returns up to `max` pending callbacks, starting with the least recently tried, and records the current time as the
 * time of their last attempt. As a result, callbacks that fail repeatedly do not block the rest.
 */
export function takePendingCallbacks(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  max: number,
): Promise<CallbackKey[]> {
  return db.sql.run(takePending, { now: clock.now(), max });
}

const pruneBatch = statement('prune-callbacks', {
  params: { until: time },
  returns: { dedupeKey: text },
  sql: `
    delete from ingest_events where (workspace_id, connection_id, dedupe_key) in
      (select workspace_id, connection_id, dedupe_key from ingest_events
       where received_at < $until and applied_at is not null limit ${DELETE_BATCH})
    returning dedupe_key as "dedupeKey"`,
});

/** Deletes applied callbacks and stored meeting ends after a week. Keeps pending callbacks. */
export async function pruneCallbacks({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const until = new Date(clock.now().getTime() - RETENTION_MS);
  await inBatches(DELETE_BATCH, async () => (await db.sql.run(pruneBatch, { until })).length);
  const where = { endedAt: { lt: until } };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(db, (tx) => tx.meetingEnd.deleteMany({ where, limit }));
    return count;
  });
}
