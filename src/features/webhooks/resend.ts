/** Sending again what was sent, or should have been. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { Prisma, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { startRounds } from '../../webhook-delivery/pending-messages.ts';
import { lockWebhook, requireActive } from './lock-webhook.ts';
import { messageColumns, toMessage } from './present.ts';
import type { MessageInput, ResendFailedInput, ResendInput, WebhookMessage } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

/** How many messages one transaction begins to send again; it holds up every other change of the workspace. */
const CHUNK = 1_000;

/** Where the next chunk goes on: behind the last message of this one. */
type Place = { createdAt: Date; id: string };

/**
 * Begins a new round for a message, whatever became of it: the same message, under the same id. One that waits for a retry
 * is sent now instead; an attempt that is under way is recorded all the same. Throws 403, 404 for the webhook and then for
 * the message, and 409 while the webhook is inactive.
 */
export function resendMessage(
  services: Needs,
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
 * Begins a new round for the message that `find` names in the transaction; null: there is no such `thing`. The rules of
 * sending one message again, whichever way it is named.
 */
function resendOne(
  { db, clock }: Needs,
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
    const which = Prisma.sql`workspace_id = ${workspaceId} and id = ${messageId}`;
    // Old messages are deleted by the clock, whoever holds the webhook.
    if ((await startRounds(tx, clock.now(), which)) === 0) throw notFound(thing);
    const where = { workspaceId_id: { workspaceId, id: messageId } };
    return toMessage(await tx.webhookMessage.findUniqueOrThrow({ where, select: messageColumns }));
  });
}

/** The same for the message of an attempt. Throws as `resendMessage`, with 404 for the attempt. */
export function resend(services: Needs, actor: Actor, { webhookId, deliveryId }: ResendInput): Promise<WebhookMessage> {
  return resendOne(services, actor, webhookId, 'Delivery', async (tx) => {
    const where = { workspaceId: actor.workspaceId, id: deliveryId, webhookId };
    const delivery = await tx.webhookDelivery.findFirst({ where, select: { messageId: true } });
    return delivery?.messageId ?? null;
  });
}

/**
 * Begins a new round for every message since then (Unix seconds) that failed or was cancelled, oldest first; resolves with
 * their number. What fails again meanwhile is not taken twice. Each chunk is a transaction of its own: what stops it, such
 * as somebody who deactivates the webhook, stops it there. Throws 403 and 404, and 409 while the webhook is inactive.
 */
export async function resendFailed(services: Needs, actor: Actor, input: ResendFailedInput): Promise<number> {
  let count = 0;
  let after: Place | undefined = { createdAt: new Date(0), id: '' };
  while (after !== undefined) {
    const chunk: Awaited<ReturnType<typeof resendChunk>> = await resendChunk(services, actor, input, after);
    count += chunk.count;
    after = chunk.last;
  }
  return count;
}

/** The number of messages, and the last of them where there may be more. Throws 403, 404 and 409 as `resendFailed`. */
function resendChunk(
  { db, clock }: Needs,
  actor: Actor,
  { webhookId, since }: ResendFailedInput,
  after: Place,
): Promise<{ count: number; last: Place | undefined }> {
  return transact(db, async (tx) => {
    const { workspaceId } = actor;
    requireActive(await lockWebhook(tx, actor, webhookId));
    const messages = await tx.$queryRaw<Place[]>`
      select created_at as "createdAt", id from webhook_messages
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and status in ('failed', 'cancelled')
        and created_at >= ${new Date(since * 1000)} and (created_at, id) > (${after.createdAt}, ${after.id})
      order by created_at, id limit ${CHUNK}`;
    const ids = messages.map(({ id }) => id);
    if (ids.length === 0) return { count: 0, last: undefined };
    const count = await startRounds(tx, clock.now(), Prisma.sql`workspace_id = ${workspaceId} and id = any(${ids})`);
    return { count, last: messages.length === CHUNK ? messages.at(-1) : undefined };
  });
}
