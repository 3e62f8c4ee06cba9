/**
 * Missed events: logged events for which a webhook has no message, because it was inactive, not subscribed or not
 * registered when they were relayed.
 */
import { DAY_MS, HOUR_MS } from '../core/time.ts';
import { onlyRow } from '../db/only-row.ts';
import { float, int, json, nullable, type Sql, statement, text, texts, time } from '../db/statements.ts';
import { toBody } from '../events/envelope.ts';
import { isErased } from '../events/erased-data.ts';
import { subjectOf } from '../events/subject.ts';
import { insertMessages } from './insert-messages.ts';
import { createMessageId } from './message-id.ts';
import type { WebhookRef } from './queue.ts';

export type MissedEvent = { eventId: string; sequence: number };

export type MissedRange = WebhookRef & {
  types: readonly string[];
  since: Date;
  /** Exclusive. */
  until: Date;
};

export type Retention = { webhookRetentionDays: number; visitRetentionDays: number };

/** How many events one statement reads. */
const PAGE_SIZE = 10_000;
/**
 * The log is in the order of commits, and the times are those at which events were emitted. No transaction takes this
 * long.
 */
const MAX_DISORDER_MS = HOUR_MS;

const findStart = statement('find-start-of-missed-events', {
  params: { workspaceId: int, before: time },
  returns: { sequence: float },
  // Reads the log backwards, because only its end matters.
  sql: `
    select coalesce((
      select sequence from events
      where workspace_id = $workspaceId and sequence is not null and created_at < $before
      order by sequence desc limit 1), 0)::float8 as sequence`,
});

const findPage = statement('find-missed-events', {
  params: {
    workspaceId: int,
    webhookId: int,
    types: texts,
    since: time,
    until: time,
    visitsSince: time,
    now: time,
    after: float,
  },
  returns: { scanned: int, last: nullable(float), missed: json<MissedEvent[]>('json') },
  sql: `
    select count(*)::int as scanned, max(e.sequence)::float8 as last,
      coalesce(json_agg(json_build_object('eventId', e.id::text, 'sequence', e.sequence) order by e.sequence) filter (
        where e.type = any($types) and e.created_at >= $since and e.created_at < $until
          and (e.type not in ('room.joined', 'room.left') or e.created_at >= $visitsSince)
          and (e.type <> 'library_item.uploaded' or w.media_retention_days is null
            or e.created_at >= $now - make_interval(days => w.media_retention_days))
          and not ${isErased('e.data')}
          and not exists (select from webhook_messages m
            where m.workspace_id = $workspaceId and m.webhook_id = $webhookId and m.event_id = e.id)), '[]') as missed
    from workspaces w cross join lateral (
      select * from events
      where workspace_id = $workspaceId and sequence > $after::bigint order by sequence limit ${PAGE_SIZE}) e
    where w.id = $workspaceId`,
});

/**
 * Returns up to `max` events that the webhook has missed in the range, oldest first. Leaves out what should no longer
 * be stored: events of people who were erased, events that are older than the messages of webhooks are kept (nothing
 * says whether the webhook has got them), visits that are older than visits are kept, and uploads of files that the
 * retention policy has deleted.
 */
export async function findMissed(
  sql: Sql,
  now: Date,
  { workspaceId, webhookId, types, since, until }: MissedRange,
  { webhookRetentionDays, visitRetentionDays }: Retention,
  max: number,
): Promise<MissedEvent[]> {
  const daysAgo = (days: number): number => now.getTime() - days * DAY_MS;
  const from = new Date(Math.max(since.getTime(), daysAgo(webhookRetentionDays)));
  const visitsSince = new Date(visitRetentionDays === 0 ? 0 : daysAgo(visitRetentionDays));
  const before = new Date(from.getTime() - MAX_DISORDER_MS);
  const missed: MissedEvent[] = [];
  let { sequence: after } = onlyRow(await sql.run(findStart, { workspaceId, before }));
  for (;;) {
    const params = { workspaceId, webhookId, types, since: from, until, visitsSince, now, after };
    const page = onlyRow(await sql.run(findPage, params));
    missed.push(...page.missed);
    if (page.scanned < PAGE_SIZE || page.last === null || missed.length >= max) return missed.slice(0, max);
    after = page.last;
  }
}

const lockEvents = statement('lock-missed-events', {
  params: { workspaceId: int, ids: texts },
  returns: {
    id: text,
    sequence: text,
    type: text,
    data: json<unknown>(),
    createdAt: time,
    traceparent: nullable(text),
  },
  // A person may be erased at the same time. The erasure waits for this lock, and then finds the new messages.
  sql: `
    select id::text, sequence::text, type, data, created_at as "createdAt", traceparent from events e
    where workspace_id = $workspaceId and id = any($ids::bigint[]) and sequence is not null
      and not ${isErased('e.data')}
    order by e.id for share`,
});

/**
 * Adds pending messages for events that the webhook has missed, unless another call has added them. They have no jobs,
 * are not in order yet, and date from their events. The caller has locked the webhook. Resolves with their IDs.
 */
export async function addMissed(
  sql: Sql,
  now: Date,
  { workspaceId, webhookId }: WebhookRef,
  eventIds: readonly string[],
): Promise<string[]> {
  const events = eventIds.length === 0 ? [] : await sql.run(lockEvents, { workspaceId, ids: eventIds });
  if (events.length === 0) return [];
  const messages = events.map(({ id: eventId, type, data, createdAt, traceparent, sequence }) => ({
    workspaceId,
    id: createMessageId(createdAt),
    webhookId,
    jobId: null,
    queueRank: null,
    afterId: null,
    eventId,
    sequence,
    subject: subjectOf(type, data),
    event: type,
    payload: toBody({ event: type, timestamp: createdAt, data }),
    traceparent: traceparent ?? undefined,
    createdAt,
  }));
  return (await sql.run(insertMessages, { now, messages })).map(({ id }) => id);
}
