/** Deliveries: the recorded attempts to send messages to a webhook. */
import type { Actor } from '../../auth/identify.ts';
import type { Page } from '../../core/list-page.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bool, float, int, nullable, oneOf, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { requireWebhook } from './lock-webhook.ts';
import type { ListDeliveriesInput, WebhookDelivery } from './schemas.ts';

export const deliveryFields = {
  id: float,
  webhook_id: int,
  delivery_id: text,
  attempt: int,
  event: oneOf<WebhookDelivery['event']>(),
  sequence: nullable(float),
  payload: text,
  response_status: int,
  response_body: text,
  success: int,
  duration_ms: int,
  created_at: float,
};

/** The public fields of an attempt `d` to send the message `m`. */
export const deliveryColumns = `d.id::float8 as id, d.webhook_id, d.message_id as delivery_id, d.attempt, m.event,
      m.sequence::float8 as sequence, m.payload, d.response_status, d.response_body, ${flagOf('d.success')} as success,
      d.duration_ms, ${secondsOf('d.created_at')} as created_at`;

/**
 * The lateral join reads one message for each attempt. With a plain join, the planner could choose a plan that reads
 * all messages, because it does not know the limit.
 */
const deliveriesTo = pagedList('list-deliveries', {
  order: { key: 'created_at', keyType: 'time', id: 'id', idType: 'number', direction: 'desc' },
  params: { workspaceId: int, webhookId: int, event: nullable(text), success: nullable(bool) },
  returns: { ...deliveryFields, ...timeKey },
  sql: ({ after, window }) => `
    select ${deliveryColumns}, ${timeKeyOf('d.created_at')}
    from (
      select * from webhook_deliveries a
      where workspace_id = $workspaceId and webhook_id = $webhookId and ($success is null or success = $success)
        and ($event is null or exists (
          select from webhook_messages m
          where m.workspace_id = a.workspace_id and m.id = a.message_id and m.event = $event)) ${after}
      ${window}
    ) d
    cross join lateral (
      select event, sequence, payload from webhook_messages
      where workspace_id = d.workspace_id and id = d.message_id limit 1
    ) m
    order by d.created_at desc, d.id desc`,
});

/** Lists the attempts to send messages to a webhook, newest first. Throws 404 if the webhook does not exist. */
export async function listDeliveries(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, event, outcome, ...page }: ListDeliveriesInput,
): Promise<Page<WebhookDelivery>> {
  const success = outcome === undefined ? null : outcome === 'succeeded';
  const params = { workspaceId, webhookId, event: event ?? null, success };
  // A cursor contains the filters. Without filters nothing is added, so that cursors of earlier versions stay valid.
  const filters = event === undefined && success === null ? [] : [event, success];
  const deliveries = await readPage(db.sql, deliveriesTo, params, page, [workspaceId, webhookId, ...filters]);
  if (deliveries.entries.length === 0) await requireWebhook(db.sql, workspaceId, webhookId);
  return deliveries;
}
