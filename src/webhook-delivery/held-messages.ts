/**
 * The order of messages: a message is held while an earlier one for the same webhook and subject has not been attempted
 * yet. It has no job meanwhile. After that attempt it is queued, whatever the result.
 *
 * Messages are held and released only while the row of their webhook is locked. Otherwise a message could be held
 * behind one whose attempt is being recorded, and nothing would release it.
 */
import type { Tx } from '../db/client.ts';
import type { NewJob } from './queue.ts';
import { countPending, findPosition, toWeight } from './queue-position.ts';

export type SubjectRef = { workspaceId: number; webhookId: number; subject: string };
export type MessageRef = { workspaceId: number; id: string };

type ReleasedMessage = MessageRef & { webhookId: number; jobId: string; isSlow: boolean; failureCount: number };

/** Usually only one message is held behind another. After messages are resent, it can be a few. */
const MAX_HELD_BEHIND_ONE = 10;

/**
 * Returns, by `toSubjectKey`, the message that the next one for each webhook and subject must wait for. Locks the
 * webhooks of those messages, in the order of their ids.
 */
export async function findPredecessors(tx: Tx, subjects: readonly SubjectRef[]): Promise<Map<string, string>> {
  if (subjects.length === 0) return new Map();
  const candidates = await findUnattempted(tx, subjects);
  if (candidates.length === 0) return new Map();
  await tx.$queryRaw`
    select id from webhooks where (workspace_id, id) in
      (select "workspaceId", "webhookId"
       from json_to_recordset(${JSON.stringify(candidates)}::json) as k ("workspaceId" int, "webhookId" int))
    order by workspace_id, id for no key update`;
  // Read again: some may have been attempted before the webhooks were locked.
  const predecessors = await findUnattempted(tx, candidates);
  return new Map(predecessors.map((predecessor) => [toSubjectKey(predecessor), predecessor.id]));
}

/** Returns a string that identifies a webhook and a subject, for use as a key. */
export function toSubjectKey({ workspaceId, webhookId, subject }: SubjectRef): string {
  return `${workspaceId}:${webhookId}:${subject}`;
}

/** Returns the last pending message of each webhook and subject that has not been attempted. */
function findUnattempted(tx: Tx, subjects: readonly SubjectRef[]): Promise<(SubjectRef & { id: string })[]> {
  return tx.$queryRaw`
    select s."workspaceId", s."webhookId", s.subject, m.id
    from json_to_recordset(${JSON.stringify(subjects)}::json) as s ("workspaceId" int, "webhookId" int, subject text)
    cross join lateral (
      select id from webhook_messages
      where workspace_id = s."workspaceId" and webhook_id = s."webhookId" and subject = s.subject
        and status = 'waiting' and attempts = 0
      order by sequence desc limit 1) m`;
}

/**
 * Releases the messages that are held behind these, which have been attempted. Returns their jobs, which the caller
 * queues.
 */
export async function releaseHeld(tx: Tx, attempted: readonly MessageRef[]): Promise<NewJob[]> {
  const held = await findHeld(tx, attempted);
  if (held.length === 0) return [];
  const released = await tx.$queryRaw<ReleasedMessage[]>`
    update webhook_messages m set after_id = null, job_id = gen_random_uuid()
    from webhooks w
    where m.workspace_id = any(${[...new Set(held.map(({ workspaceId }) => workspaceId))]})
      and m.id = any(${held.map(({ id }) => id)}) and m.after_id is not null
      and w.workspace_id = m.workspace_id and w.id = m.webhook_id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id::text as "jobId",
      w.is_slow as "isSlow", w.failure_count as "failureCount"`;
  const pending = await countPending(tx, [...new Set(released.map(({ workspaceId }) => workspaceId))]);
  return released.map(({ workspaceId, id: messageId, webhookId, jobId: id, ...webhook }) => {
    const position = findPosition(webhook, toWeight(pending.get(workspaceId) ?? 0));
    return { id, workspaceId, webhookId, messageId, ...position, delayMs: 0 };
  });
}

/**
 * Returns the messages that are held behind these. The limit makes PostgreSQL look up each of them in the index: for a
 * table without statistics it would otherwise choose a plan that reads all messages, and keep it as the table grows.
 */
function findHeld(tx: Tx, messages: readonly MessageRef[]): Promise<MessageRef[]> {
  const keys = JSON.stringify(messages.map(({ workspaceId, id }) => ({ workspaceId, id })));
  return tx.$queryRaw`
    select h.workspace_id as "workspaceId", h.id
    from json_to_recordset(${keys}::json) as a ("workspaceId" int, id text)
    cross join lateral (
      select workspace_id, id from webhook_messages
      where workspace_id = a."workspaceId" and after_id = a.id and after_id is not null
      limit ${MAX_HELD_BEHIND_ONE}) h`;
}

/**
 * Releases the messages that are held behind one that is no longer pending, or has been attempted. The relay queues
 * them. Resolves with their number.
 */
export function releaseOrphans(tx: Tx): Promise<number> {
  return tx.$executeRaw`
    update webhook_messages m set after_id = null
    where m.after_id is not null and not exists
      (select from webhook_messages p
       where p.workspace_id = m.workspace_id and p.id = m.after_id and p.status = 'waiting' and p.attempts = 0)`;
}
