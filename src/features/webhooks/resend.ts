/** Resends messages. */
import type { Actor } from '../../auth/identify.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import { notFound } from '../../core/errors.ts';
import { Prisma, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { startRounds } from '../../webhook-delivery/pending-messages.ts';
import { lockWebhook, requireActive, requireSubscribed } from './lock-webhook.ts';
import { messageColumns, toMessage } from './present.ts';
import type { MessageInput, ResendFailedInput, ResendInput, WebhookMessage } from './schemas.ts';

type ResendServices = Pick<Services, 'db' | 'clock'>;

/**
 * How many messages one transaction resends. The transaction locks the workspace, so other changes to the workspace
 * have to wait.
 */
const MAX_PER_BATCH = 1_000;

/** The last message of a batch: the next batch starts after it. */
type Cursor = { createdAt: Date; id: string };

/** `last` is the last message of the batch. It is undefined if there are no more messages. */
type ResentBatch = { count: number; last: Cursor | undefined };

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
    const condition = Prisma.sql`workspace_id = ${workspaceId} and id = ${messageId}`;
    // Pruning does not lock the webhook, so it may have deleted the message.
    if ((await startRounds(tx, clock.now(), condition)) === 0) throw notFound(thing);
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

/**
 * Starts a new round for every failed or cancelled message created since `since` (Unix seconds), oldest first. Skips
 * events that the webhook no longer subscribes to. Resolves with the number of messages. No message is resent twice,
 * even if it fails again during the call. Each batch is a separate transaction: if a later batch fails, for example
 * because the webhook was deactivated, the earlier batches remain committed. Throws 403 and 404, and 409 if the webhook
 * is inactive.
 */
export async function resendFailed(services: ResendServices, actor: Actor, input: ResendFailedInput): Promise<number> {
  let count = 0;
  let after: Cursor | undefined = { createdAt: new Date(0), id: '' };
  while (after !== undefined) {
    const batch: ResentBatch = await resendBatch(services, actor, input, after);
    count += batch.count;
    after = batch.last;
  }
  return count;
}

/** Resends the next messages after `after`. Throws the same errors as `resendFailed`. */
function resendBatch(
  { db, clock }: ResendServices,
  actor: Actor,
  { webhookId, since }: ResendFailedInput,
  after: Cursor,
): Promise<ResentBatch> {
  const resend = () =>
    transact(db, async (tx) => {
      const { workspaceId } = actor;
      const webhook = await lockWebhook(tx, actor, webhookId);
      requireActive(webhook);
      const messages = await tx.$queryRaw<Cursor[]>`
        select created_at as "createdAt", id from webhook_messages
        where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and status in ('failed', 'cancelled')
          and (event = any(${webhook.events}) or event = 'webhook.test')
          and created_at >= ${new Date(since * 1000)} and (created_at, id) > (${after.createdAt}, ${after.id})
        order by created_at, id limit ${MAX_PER_BATCH}`;
      const ids = messages.map(({ id }) => id);
      if (ids.length === 0) return { count: 0, last: undefined };
      const count = await startRounds(tx, clock.now(), Prisma.sql`workspace_id = ${workspaceId} and id = any(${ids})`);
      return { count, last: messages.length === MAX_PER_BATCH ? messages.at(-1) : undefined };
    });
  return runRepeatable(resend);
}
