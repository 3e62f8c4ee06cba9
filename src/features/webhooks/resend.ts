/** Resends messages, and sends the events that a webhook has missed. */
import type { Actor } from '../../auth/identify.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import { notFound } from '../../core/errors.ts';
import { fromUnixSeconds } from '../../core/time.ts';
import { LAST_SECOND } from '../../core/validation.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, statement, text, texts, time } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { holdInOrder } from '../../webhook-delivery/held-messages.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { addMissed, findMissed, type MissedEvent } from '../../webhook-delivery/missed-events.ts';
import { startRound, startUnsentRounds, wakeRelay } from '../../webhook-delivery/pending-messages.ts';
import { type LockedWebhook, lockWebhook, requireActive, requireSubscribed } from './lock-webhook.ts';
import { messageColumns, toMessage } from './present.ts';
import type { MessageInput, ResendFailedInput, ResendFailedResponse, ResendInput, WebhookMessage } from './schemas.ts';

type ResendServices = Pick<Services, 'db' | 'clock'>;

/**
 * How many messages one transaction resends. The transaction locks the workspace, so other changes to the workspace
 * have to wait, and on a busy machine one with a thousand took longer than a change may wait.
 */
const MAX_PER_BATCH = 250;

/** How many messages one call sends. */
const MAX_PER_CALL = 10_000;

type RangeServices = ResendServices & Pick<Services, 'settings'>;

/** A failed or cancelled message, or an event without a message. */
type Unsent = { messageId: string; sequence: number } | MissedEvent;

/**
 * Starts a new round of attempts for a message in any state, with the same id and body. Replaces a pending retry. An
 * attempt in progress continues; if it succeeds, the message is delivered and the new round does not begin. Throws 403,
 * 404 if the webhook or the message does not exist, and 409 if the webhook is inactive or does not subscribe to the
 * event.
 */
export function resendMessage(
  services: ResendServices,
  actor: Actor,
  { webhookId, messageId }: MessageInput,
): Promise<WebhookMessage> {
  return resendOne(services, actor, webhookId, 'Message', async (tx) => {
    if (!isMessageId(messageId)) return null;
    const where = { workspaceId: actor.workspaceId, id: messageId, webhookId };
    const message = await tx.webhookMessage.findFirst({ where, select: { id: true } });
    return message?.id ?? null;
  });
}

/**
 * Starts a new round for the message whose id `find` returns. Throws 404 for `thing` if `find` returns null, and
 * otherwise the same errors as `resendMessage`.
 */
function resendOne(
  { db, clock }: ResendServices,
  actor: Actor,
  webhookId: number,
  thing: 'Delivery' | 'Message',
  find: (tx: Tx) => Promise<string | null>,
): Promise<WebhookMessage> {
  return transact(db, async (tx) => {
    const { workspaceId } = actor;
    const webhook = await lockWebhook(tx, actor, webhookId);
    const messageId = await find(tx);
    if (messageId === null) throw notFound(thing);
    requireActive(webhook);
    // Pruning does not lock the webhook, so it may have deleted the message.
    if (!(await startRound(sqlIn(tx), clock.now(), { workspaceId, id: messageId }))) throw notFound(thing);
    const where = { workspaceId_id: { workspaceId, id: messageId } };
    const message = toMessage(await tx.webhookMessage.findUniqueOrThrow({ where, select: messageColumns }));
    requireSubscribed(webhook, message.event);
    return message;
  });
}

/** Like `resendMessage`, for the message of a delivery. Throws 404 if the delivery does not exist. */
export function resendDelivery(
  services: ResendServices,
  actor: Actor,
  { webhookId, deliveryId }: ResendInput,
): Promise<WebhookMessage> {
  return resendOne(services, actor, webhookId, 'Delivery', async (tx) => {
    const where = { workspaceId: actor.workspaceId, id: deliveryId, webhookId };
    const delivery = await tx.webhookDelivery.findFirst({ where, select: { messageId: true } });
    return delivery?.messageId ?? null;
  });
}

const findFailed = statement('find-failed-messages', {
  params: { workspaceId: int, webhookId: int, types: texts, since: time, until: time, max: int },
  returns: { messageId: text, sequence: float },
  sql: `
    select m.id as "messageId", coalesce(m.sequence, 0)::float8 as sequence from webhook_messages m
    where m.workspace_id = $workspaceId and m.webhook_id = $webhookId and m.status in ('failed', 'cancelled')
      and (m.event = any($types) or m.event = 'webhook.test') and m.created_at >= $since and m.created_at < $until
    order by m.sequence nulls first, m.id limit $max`,
});

/**
 * Sends, oldest first, everything from the time range that the webhook has not got: starts a new round for every failed
 * or cancelled message, and adds a message for every event that it has missed (`findMissed`), by default since it was
 * registered. Skips events that the webhook does not subscribe to, and people who were erased.
 *
 * A call sends at most `MAX_PER_CALL` messages, and says whether there are more. A message that is waiting or delivered
 * is never sent again, so another call with the same range continues, and concurrent calls share the work. Each batch
 * is a separate transaction: if a later batch fails, for example because the webhook was deactivated, the earlier
 * batches remain committed. Throws 403 and 404, and 409 if the webhook is inactive.
 */
export function resendFailed(
  services: RangeServices,
  actor: Actor,
  input: ResendFailedInput,
): Promise<ResendFailedResponse> {
  return runRepeatable(() => allowManyStatements(() => resendRange(services, actor, input)));
}

async function resendRange(
  services: RangeServices,
  actor: Actor,
  input: ResendFailedInput,
): Promise<ResendFailedResponse> {
  const { db } = services;
  const webhook = await transact(db, (tx) => lockActive(tx, actor, input.webhookId));
  const found = await findUnsent(services, actor, input, webhook);
  const unsent = found.slice(0, MAX_PER_CALL);
  let count = 0;
  for (let start = 0; start < unsent.length; start += MAX_PER_BATCH)
    count += await resendBatch(services, actor, input, unsent.slice(start, start + MAX_PER_BATCH));
  return { count, has_more: found.length > unsent.length ? 1 : 0 };
}

async function lockActive(tx: Tx, actor: Actor, webhookId: number): Promise<LockedWebhook> {
  const webhook = await lockWebhook(tx, actor, webhookId);
  requireActive(webhook);
  return webhook;
}

/** Returns what is to be sent, oldest first. If it is more than `MAX_PER_CALL`, the end is missing. */
async function findUnsent(
  { db, clock, settings }: RangeServices,
  { workspaceId }: Actor,
  { webhookId, since: from, until = LAST_SECOND, include_earlier = false }: ResendFailedInput,
  { events: types, createdAt }: LockedWebhook,
): Promise<Unsent[]> {
  const since = fromUnixSeconds(from);
  const range = { workspaceId, webhookId, types, since, until: fromUnixSeconds(until) };
  const max = MAX_PER_CALL + 1;
  const failed = await db.sql.run(findFailed, { ...range, max });
  const eventRange = include_earlier || since > createdAt ? range : { ...range, since: createdAt };
  const missed = await findMissed(db.sql, clock.now(), eventRange, settings, max);
  return [...failed, ...missed].toSorted((a, b) => a.sequence - b.sequence);
}

/** Resolves with the number of messages that are sent. The others were sent or erased in the meantime. */
function resendBatch(
  { db, clock }: RangeServices,
  actor: Actor,
  { webhookId }: ResendFailedInput,
  unsent: readonly Unsent[],
): Promise<number> {
  const messageIds = unsent.flatMap((one) => ('messageId' in one ? [one.messageId] : []));
  const eventIds = unsent.flatMap((one) => ('eventId' in one ? [one.eventId] : []));
  return transact(db, async (tx) => {
    const { events } = await lockActive(tx, actor, webhookId);
    const { workspaceId } = actor;
    const now = clock.now();
    const sql = sqlIn(tx);
    const restarted = await startUnsentRounds(sql, now, { workspaceId, ids: messageIds, events });
    const added = await addMissed(sql, now, { workspaceId, webhookId }, eventIds);
    if (added.length > 0) await wakeRelay(sql);
    await holdInOrder(sql, { workspaceId, webhookId }, [...messageIds, ...added]);
    return restarted + added.length;
  });
}
