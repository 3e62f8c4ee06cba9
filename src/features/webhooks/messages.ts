/** Reads the messages to one webhook, with their attempts. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { Page } from '../../core/list-page.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, type ListOrder, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, nullable, oneOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { deliveryColumns, deliveryFields } from './deliveries.ts';
import { requireWebhook } from './lock-webhook.ts';
import type {
  ListMessagesInput,
  MessageInput,
  MessageStatus,
  WebhookMessage,
  WebhookMessageWithAttempts,
} from './schemas.ts';

/**
 * The limit is necessary because a message that was resent many times has many attempts, each with a response of up to
 * 10 kB.
 */
const MAX_ATTEMPTS = 100;

const messageFields = {
  id: text,
  webhook_id: int,
  event: oneOf<WebhookMessage['event']>(),
  sequence: nullable(float),
  status: oneOf<MessageStatus>(),
  payload: text,
  attempt_count: int,
  created_at: float,
  next_attempt_at: nullable(float),
};

/** The public fields of the message `m`. */
const messageColumns = `m.id, m.webhook_id, m.event, m.sequence::float8 as sequence, m.status, m.payload,
      m.attempts as attempt_count, ${secondsOf('m.created_at')} as created_at,
      ${secondsOf('m.next_attempt_at')} as next_attempt_at`;

const messageById = statement('read-message', {
  params: { workspaceId: int, webhookId: int, messageId: text },
  returns: messageFields,
  sql: `
    select ${messageColumns} from webhook_messages m
    where m.workspace_id = $workspaceId and m.id = $messageId and m.webhook_id = $webhookId`,
});

const attemptsOf = statement('list-attempts', {
  params: { workspaceId: int, messageId: text },
  returns: deliveryFields,
  sql: `
    select ${deliveryColumns}
    from (
      select * from webhook_deliveries where workspace_id = $workspaceId and message_id = $messageId
      order by attempt desc limit ${MAX_ATTEMPTS}
    ) d
    join webhook_messages m on m.workspace_id = d.workspace_id and m.id = d.message_id
    order by d.attempt`,
});

const newestId: ListOrder = { key: 'm.id', keyType: 'text', direction: 'desc' };
const newestTime: ListOrder = { ...byTime('m.created_at', 'm.id', 'desc'), idType: 'text' };

/**
 * The statement that lists messages, for each status filter. Ids begin with the time, so sorting by id sorts by time.
 * Failed and cancelled messages are sorted by `created_at`, like their index. The indexes of waiting, failed and
 * cancelled messages are partial, and the planner uses them only if the status is a literal, not a parameter.
 */
const lists = {
  any: declareList('list-messages', '', newestId),
  waiting: declareList('list-waiting-messages', "and m.status = 'waiting'", newestId),
  delivered: declareList('list-delivered-messages', "and m.status = 'delivered'", newestId),
  failed: declareList('list-failed-messages', "and m.status = 'failed'", newestTime),
  cancelled: declareList('list-cancelled-messages', "and m.status = 'cancelled'", newestTime),
};

function declareList(name: string, condition: string, order: ListOrder) {
  return pagedList(name, {
    order,
    params: { workspaceId: int, webhookId: int, event: nullable(text) },
    returns: { ...messageFields, ...timeKey },
    sql: ({ after, window }) => `
    select ${messageColumns}, ${timeKeyOf('m.created_at')} from webhook_messages m
    where m.workspace_id = $workspaceId and m.webhook_id = $webhookId ${condition}
      and ($event is null or m.event = $event) ${after}
    ${window}`,
  });
}

/**
 * Returns a message with its latest 100 attempts, oldest first. Throws 404 if the webhook or the message does not
 * exist.
 */
export async function readMessage(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, messageId }: MessageInput,
): Promise<WebhookMessageWithAttempts> {
  const [message] = isMessageId(messageId) ? await db.sql.run(messageById, { workspaceId, webhookId, messageId }) : [];
  if (message) return { ...message, attempts: await db.sql.run(attemptsOf, { workspaceId, messageId }) };
  await requireWebhook(db.sql, workspaceId, webhookId);
  throw notFound('Message');
}

/** Lists the messages to a webhook, newest first. Throws 404. */
export async function listMessages(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, status, event, ...page }: ListMessagesInput,
): Promise<Page<WebhookMessage>> {
  const params = { workspaceId, webhookId, event: event ?? null };
  // A cursor contains the filters. Without filters nothing is added, so that cursors of earlier versions stay valid.
  const filters = [workspaceId, webhookId, ...(event === undefined ? [] : [event])];
  const messages = await readPage(db.sql, lists[status ?? 'any'], params, page, filters);
  if (messages.entries.length === 0) await requireWebhook(db.sql, workspaceId, webhookId);
  return messages;
}
