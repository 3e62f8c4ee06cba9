/**
 * The order of messages: a message is held while an earlier one for the same webhook and subject has not been attempted
 * in its current round. Meanwhile, it has no job. After that attempt, it is queued, whatever the result.
 *
 * Messages are held and released only while the row of their webhook is locked. Otherwise a message could be held
 * behind one whose attempt is being recorded, and nothing would release it.
 */
import { onlyRow } from '../db/only-row.ts';
import { bool, int, json, type Sql, statement, text, texts } from '../db/statements.ts';
import type { NewJob, WebhookRef } from './queue.ts';
import { countPending, findPosition, toWeight } from './queue-position.ts';

export type SubjectRef = { workspaceId: number; webhookId: number; subject: string };
export type MessageRef = { workspaceId: number; id: string };

/** Usually at most one message is held behind any given message. After messages are resent, there can be a few. */
const MAX_HELD_BEHIND_ONE = 10;

/** A part of a condition. Resending a message starts a new round, so the message counts as unattempted again. */
const isUnattempted = "status = 'waiting' and round_attempts = 0";

const findUnattempted = statement('find-unattempted-messages', {
  params: { subjects: json<readonly SubjectRef[]>() },
  returns: { workspaceId: int, webhookId: int, subject: text, id: text },
  sql: `
    select s."workspaceId", s."webhookId", s.subject, m.id
    from jsonb_to_recordset($subjects) as s ("workspaceId" int, "webhookId" int, subject text)
    cross join lateral (
      select id from webhook_messages
      where workspace_id = s."workspaceId" and webhook_id = s."webhookId" and subject = s.subject
        and ${isUnattempted}
      order by sequence desc limit 1) m`,
});

const lockStatement = statement('lock-webhooks-of-subjects', {
  plansAnew: true,
  params: { subjects: json<readonly SubjectRef[]>() },
  sql: `
    select from webhooks where (workspace_id, id) in
      (select "workspaceId", "webhookId" from jsonb_to_recordset($subjects) as k ("workspaceId" int, "webhookId" int))
    order by workspace_id, id for no key update`,
});

/**
 * Returns, for each webhook and subject, the message that a new message must wait for. The keys of the map are made by
 * `toSubjectKey`. Locks the webhooks of those messages, in the order of their ids.
 */
export async function findPredecessors(sql: Sql, subjects: readonly SubjectRef[]): Promise<Map<string, string>> {
  if (subjects.length === 0) return new Map();
  const candidates = await sql.run(findUnattempted, { subjects });
  if (candidates.length === 0) return new Map();
  await sql.run(lockStatement, { subjects: candidates });
  // Read again: some may have been attempted before the webhooks were locked.
  const predecessors = await sql.run(findUnattempted, { subjects: candidates });
  return new Map(predecessors.map((predecessor) => [toSubjectKey(predecessor), predecessor.id]));
}

/** Returns a string that identifies a webhook and a subject, for use as a key. */
export function toSubjectKey({ workspaceId, webhookId, subject }: SubjectRef): string {
  return `${workspaceId}:${webhookId}:${subject}`;
}

/** A part of a SELECT: the ids of the messages that are held behind the message `m`, as an array `held`. */
export const heldBehind = `array(
  select h.id from webhook_messages h
  where h.workspace_id = m.workspace_id and h.after_id = m.id and h.after_id is not null
  limit ${MAX_HELD_BEHIND_ONE})`;

const release = statement('release-held-messages', {
  plansAnew: true,
  params: { held: json<readonly MessageRef[]>() },
  returns: { workspaceId: int, id: text, webhookId: int, jobId: text, isSlow: bool, failureCount: int },
  sql: `
    update webhook_messages m set after_id = null, job_id = gen_random_uuid()
    from jsonb_to_recordset($held) as h ("workspaceId" int, id text)
    join webhooks w on w.workspace_id = h."workspaceId"
    where m.workspace_id = h."workspaceId" and m.id = h.id and m.after_id is not null and w.id = m.webhook_id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id::text as "jobId",
      w.is_slow as "isSlow", w.failure_count as "failureCount"`,
});

/**
 * Releases messages that are held behind others that have been attempted. Returns their jobs, which the caller queues.
 */
export async function releaseHeld(sql: Sql, held: readonly MessageRef[]): Promise<NewJob[]> {
  if (held.length === 0) return [];
  const released = await sql.run(release, { held });
  const pending = await countPending(sql, [...new Set(released.map(({ workspaceId }) => workspaceId))]);
  return released.map(({ workspaceId, id: messageId, webhookId, jobId: id, ...webhook }) => {
    const position = findPosition(webhook, toWeight(pending.get(workspaceId) ?? 0));
    return { id, workspaceId, webhookId, messageId, ...position, delayMs: 0 };
  });
}

const holdStatement = statement('hold-messages-in-order', {
  plansAnew: true,
  params: { workspaceId: int, webhookId: int, ids: texts },
  sql: `
    with subjects as materialized (
      select distinct subject from webhook_messages
      where workspace_id = $workspaceId and id = any($ids) and subject is not null),
    ordered as (
      select m.id, m.job_id, lag(m.id) over (partition by m.subject order by m.sequence) as previous
      from subjects s cross join lateral (
        select id, job_id, subject, sequence from webhook_messages
        where workspace_id = $workspaceId and webhook_id = $webhookId and subject = s.subject and ${isUnattempted}) m)
    update webhook_messages m set after_id = o.previous from ordered o
    where m.workspace_id = $workspaceId and m.id = o.id and m.job_id is null and o.job_id is null
      and m.after_id is distinct from o.previous`,
});

/**
 * Puts these messages, which have no jobs yet, in order: each is held behind the unattempted message about its subject
 * that has the next lower sequence, and later ones that are held move behind it. The caller has locked the webhook.
 */
export async function holdInOrder(sql: Sql, webhook: WebhookRef, ids: readonly string[]): Promise<void> {
  const { workspaceId, webhookId } = webhook;
  await sql.run(holdStatement, { workspaceId, webhookId, ids });
}

const releaseOrphanStatement = statement('release-orphaned-messages', {
  params: {},
  returns: { count: int },
  sql: `
    with released as (
      update webhook_messages m set after_id = null
      where m.after_id is not null and not exists
        (select from webhook_messages p
         where p.workspace_id = m.workspace_id and p.id = m.after_id and p.status = 'waiting' and p.round_attempts = 0)
      returning true)
    select count(*)::int as count from released`,
});

/**
 * Releases the messages that are held behind one that is no longer pending, or has been attempted. The relay queues
 * them. Resolves with their number.
 */
export async function releaseOrphans(sql: Sql): Promise<number> {
  return onlyRow(await sql.run(releaseOrphanStatement, {})).count;
}
