/** Messages that wait: how they come to be sent, without a job until the relay has queued them, and how that is given up. */
import { Prisma, type Tx } from '../db/client.ts';

/** What wakes the relay; the trigger on `events` says it too. */
export const RELAY_CHANNEL = 'lynxroom_relay';

const MAX_CANCELLED = 1_000;

type Webhook = { workspaceId: number; webhookId: number };

/** Tells the relay, once the transaction is committed, that there are messages to queue. */
export async function wakeRelay(tx: Tx): Promise<void> {
  await tx.$executeRaw`select pg_notify(${RELAY_CHANNEL}, '')`;
}

/**
 * Begins a new round of attempts, the first of them at `at`, for the messages that `which` names: a condition on
 * `webhook_messages`. What they waited for before is given up. The caller holds their webhook's row, and has seen that it
 * is active. Resolves with their number.
 */
export async function startRounds(tx: Tx, at: Date, which: Prisma.Sql): Promise<number> {
  const count = await tx.$executeRaw(Prisma.sql`
    update webhook_messages
    set status = 'waiting', job_id = null, next_attempt_at = ${at}, round_attempts = 0, updated_at = ${at}
    where ${which}`);
  if (count > 0) await wakeRelay(tx);
  return count;
}

/**
 * Gives up what a webhook that is being deactivated waits for: nothing more is sent, but an attempt that is under way. Where
 * it is much, the relay cancels the rest, and nobody waits for that. The caller holds the webhook's row.
 */
export async function cancelWaiting(tx: Tx, at: Date, webhook: Webhook): Promise<void> {
  const isMore = (await cancelSome(tx, at, webhook)) === MAX_CANCELLED;
  if (!isMore) return;
  const { workspaceId, webhookId } = webhook;
  await tx.$executeRaw`
    update webhooks set is_cancelling = true where workspace_id = ${workspaceId} and id = ${webhookId}`;
  await wakeRelay(tx);
}

/** Cancels so many that wait, and says how many they were. */
async function cancelSome(tx: Tx, at: Date, { workspaceId, webhookId }: Webhook): Promise<number> {
  return tx.$executeRaw`
  update webhook_messages set status = 'cancelled', job_id = null, next_attempt_at = null, updated_at = ${at}
  where workspace_id = ${workspaceId} and id in
    (select id from webhook_messages
     where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and status = 'waiting' limit ${MAX_CANCELLED})`;
}

/** Cancels everything that is left from its deactivation. For one that is to be activated: nothing comes back by itself. */
export async function cancelRest(tx: Tx, at: Date, webhook: Webhook): Promise<void> {
  while ((await cancelSome(tx, at, webhook)) === MAX_CANCELLED);
  const { workspaceId, webhookId } = webhook;
  await tx.$executeRaw`
    update webhooks set is_cancelling = false where workspace_id = ${workspaceId} and id = ${webhookId}`;
}

/** Goes on with cancelling for one webhook. Resolves with whether there was one. */
export async function cancelMore(tx: Tx, at: Date): Promise<boolean> {
  const [webhook] = await tx.$queryRaw<Webhook[]>`
    select workspace_id as "workspaceId", id as "webhookId" from webhooks
    where is_cancelling order by workspace_id, id limit 1 for no key update skip locked`;
  if (!webhook) return false;
  if ((await cancelSome(tx, at, webhook)) < MAX_CANCELLED) await cancelRest(tx, at, webhook);
  return true;
}

/**
 * Gives up the messages that these jobs were for, where their webhook is inactive: as happens to an event that was being
 * relayed while its webhook was deactivated.
 */
export async function cancelOfInactive(
  tx: Tx,
  at: Date,
  jobs: readonly { id: string; workspaceId: number; messageId: string }[],
): Promise<number> {
  return tx.$executeRaw`
  update webhook_messages m set status = 'cancelled', job_id = null, next_attempt_at = null, updated_at = ${at}
  from json_to_recordset(${JSON.stringify(jobs)}::json) as j (id uuid, "workspaceId" int, "messageId" text), webhooks w
  where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id and m.status = 'waiting'
    and w.workspace_id = m.workspace_id and w.id = m.webhook_id and not w.is_active`;
}
