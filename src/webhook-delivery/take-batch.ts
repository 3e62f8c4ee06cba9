/** Takes the next events of the log, with the webhooks that get them. */
import {
  bool,
  int,
  ints,
  json,
  nullable,
  type RowOf,
  type Sql,
  statement,
  text,
  texts,
  time,
} from '../db/statements.ts';
import { subjectOf } from '../events/subject.ts';

/** Per transaction of the relay. */
export const MAX_MESSAGES = 1_000;

const takeStatement = statement('take-events', {
  params: { max: int, skippedWorkspaceIds: ints },
  returns: {
    workspaceId: int,
    id: text,
    type: text,
    data: json<unknown>(),
    createdAt: time,
    traceparent: nullable(text),
    sequence: text,
  },
  sql: `
    select e.*, nextval('event_sequence')::text as sequence from (
      select workspace_id as "workspaceId", id::text, type, data, created_at as "createdAt", traceparent
      from events
      where relayed_at is null and workspace_id <> all($skippedWorkspaceIds)
      order by events.id limit $max for update skip locked) e`,
});

const lockStatement = statement('lock-subscribers', {
  params: { workspaceIds: ints },
  returns: {
    workspaceId: int,
    id: int,
    events: nullable(texts),
    isSlow: nullable(bool),
    failureCount: nullable(int),
    skippedEventIds: nullable(texts),
  },
  sql: `
    with subscribers as (
      select workspace_id, id, events, is_slow, failure_count, skipped_event_ids from webhooks
      where workspace_id = any($workspaceIds) and is_active
      order by workspace_id, id for key share skip locked)
    select w.workspace_id as "workspaceId", w.id, s.events, s.is_slow as "isSlow", s.failure_count as "failureCount",
      s.skipped_event_ids::text[] as "skippedEventIds"
    from webhooks w left join subscribers s on s.workspace_id = w.workspace_id and s.id = w.id
    where w.workspace_id = any($workspaceIds) and w.is_active order by w.workspace_id, w.id`,
});

export type EventRow = RowOf<typeof takeStatement> & { subject: string | null };

type Subscriber = {
  workspaceId: number;
  id: number;
  events: readonly string[];
  isSlow: boolean;
  failureCount: number;
  skippedEventIds: readonly string[];
};

export type AddressedEvent = { event: EventRow; subscribers: Subscriber[] };

type Batch = {
  batch: AddressedEvent[];
  /** Whether there may be more events to take now. */
  isMore: boolean;
};

/**
 * Takes up to `max` events. Locks and numbers them, and locks their webhooks, so that none is deleted before its
 * messages are inserted. The events of a workspace whose webhooks are being deleted are left for later: the deletion
 * can take minutes, and may be rolled back, and the other workspaces must not wait for it.
 */
export async function takeBatch(sql: Sql, max: number): Promise<Batch> {
  const skipped: number[] = [];
  for (;;) {
    const events = await takeEvents(sql, max, skipped);
    if (events.length === 0) return { batch: [], isMore: false };
    const rows = await sql.run(lockStatement, {
      workspaceIds: [...new Set(events.map(({ workspaceId }) => workspaceId))],
    });
    // If another transaction has locked a webhook, `events` is null in its row.
    const locked = rows.filter(({ events }) => events === null);
    if (locked.length === 0) {
      const batch = cutBatch(addressEvents(events, rows.filter(isSubscriber)));
      return { batch, isMore: events.length === max || batch.length < events.length };
    }
    skipped.push(...new Set(locked.map(({ workspaceId }) => workspaceId)));
  }
}

/** Events that are taken but not relayed, because of `cutBatch` or a locked webhook, get new numbers later. */
async function takeEvents(sql: Sql, max: number, skippedWorkspaceIds: readonly number[]): Promise<EventRow[]> {
  const rows = await sql.run(takeStatement, { max, skippedWorkspaceIds });
  return rows.map((row) => ({ ...row, subject: subjectOf(row.type, row.data) }));
}

function isSubscriber(row: RowOf<typeof lockStatement>): row is Subscriber {
  return row.events !== null;
}

/** Pairs each event with the webhooks that subscribe to it and were registered before it was committed. */
function addressEvents(events: readonly EventRow[], subscribers: readonly Subscriber[]): AddressedEvent[] {
  const byWorkspace = Map.groupBy(subscribers, ({ workspaceId }) => workspaceId);
  return events.map((event) => ({
    event,
    subscribers: (byWorkspace.get(event.workspaceId) ?? []).filter(
      ({ events: subscribed, skippedEventIds }) =>
        subscribed.includes(event.type) && !skippedEventIds.includes(event.id),
    ),
  }));
}

/** Returns the first events whose messages together fit into one transaction, but at least one event. */
function cutBatch(addressed: readonly AddressedEvent[]): AddressedEvent[] {
  let messages = 0;
  const end = addressed.findIndex(({ subscribers }, index) => {
    messages += subscribers.length;
    return index > 0 && messages > MAX_MESSAGES;
  });
  return end === -1 ? [...addressed] : addressed.slice(0, end);
}
