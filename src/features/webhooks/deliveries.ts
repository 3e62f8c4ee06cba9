/** Deliveries: the recorded attempts to send messages to a webhook. */
import type { Actor } from '../../auth/identify.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { float, int, nullable, oneOf, statement, text } from '../../db/statements.ts';
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

/** The public fields of the attempt `d` to send the message `m`. */
export const deliveryColumns = `d.id::float8 as id, d.webhook_id, d.message_id as delivery_id, d.attempt, m.event,
      m.sequence::float8 as sequence, m.payload, d.response_status, d.response_body, ${flagOf('d.success')} as success,
      d.duration_ms, ${secondsOf('d.created_at')} as created_at`;

/**
 * A lateral join reads one message for each attempt. With a plain join the planner, which does not know the limit,
 * could read all messages.
 */
const deliveriesTo = statement('list-deliveries', {
  params: { workspaceId: int, webhookId: int, limit: int, offset: int },
  returns: deliveryFields,
  sql: `
    select ${deliveryColumns}
    from (
      select * from webhook_deliveries where workspace_id = $workspaceId and webhook_id = $webhookId
      order by created_at desc, id desc limit $limit offset $offset
    ) d
    cross join lateral (
      select event, sequence, payload from webhook_messages
      where workspace_id = d.workspace_id and id = d.message_id limit 1
    ) m
    order by d.created_at desc, d.id desc`,
});

/** Lists the attempts to send messages to a webhook, newest first. Throws 404. */
export async function listDeliveries(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, limit, offset }: ListDeliveriesInput,
): Promise<WebhookDelivery[]> {
  const deliveries = await db.sql.run(deliveriesTo, { workspaceId, webhookId, limit, offset });
  if (deliveries.length === 0) await requireWebhook(db.sql, workspaceId, webhookId);
  return deliveries;
}
