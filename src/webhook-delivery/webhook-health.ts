/** What attempts say of the webhook that they were made at: whether it fails, dawdles, or gets nothing more. */
import { DAY_MS } from '../core/time.ts';
import type { Tx } from '../db/client.ts';
import type { Attempt } from './send-message.ts';

/** A webhook whose answers take longer waits in the slow lane. */
const SLOW_MS = 2_000;
/** So long every attempt may fail before the webhook is deactivated. */
export const MAX_FAILING_MS = 5 * DAY_MS;
const GONE = 410;

type WebhookState = {
  workspaceId: number;
  webhookId: number;
  url: string;
  isActive: boolean;
  failureCount: number;
  failingSince: Date | null;
  lastDeliveryAt: Date | null;
  isSlow: boolean;
};

export type WebhookChange = WebhookState & { disabledReason: string | null };

export function isSuccess({ outcome: { status } }: Attempt): boolean {
  return status >= 200 && status < 300;
}

/** Held in the order of their ids, so that two workers that record attempts at the same webhooks do not meet head on. */
export function holdWebhooks(tx: Tx, attempts: readonly Attempt[]): Promise<WebhookState[]> {
  const keys = attempts.map(({ message: { workspaceId, webhookId } }) => ({ workspaceId, webhookId }));
  return tx.$queryRaw`
    select w.workspace_id as "workspaceId", w.id as "webhookId", w.url, w.is_active as "isActive", w.failure_count as "failureCount",
      w.failing_since as "failingSince", w.last_delivery_at as "lastDeliveryAt", w.is_slow as "isSlow"
    from webhooks w
    where (w.workspace_id, w.id) in
      (select "workspaceId", "webhookId" from json_to_recordset(${JSON.stringify(keys)}::json) as k ("workspaceId" int, "webhookId" int))
    order by w.workspace_id, w.id for no key update`;
}

/**
 * A webhook after attempts, in the order in which they ended. Those at a URL that it has no more say nothing of the one that
 * it has now, and those that we could not make nothing of the receiver.
 */
export function settleWebhook(before: WebhookState, all: readonly Attempt[]): WebhookChange {
  const attempts = all.filter(({ message, isMade }) => isMade && message.url === before.url);
  let { failureCount, failingSince, lastDeliveryAt } = before;
  for (const attempt of attempts) {
    failureCount = isSuccess(attempt) ? 0 : failureCount + 1;
    failingSince = isSuccess(attempt) ? null : (failingSince ?? attempt.at);
    if (lastDeliveryAt === null || attempt.at > lastDeliveryAt) lastDeliveryAt = attempt.at;
  }
  const last = attempts.at(-1);
  const disabledReason = before.isActive && last ? deactivationOf(failingSince, last, attempts) : null;
  return {
    ...before,
    isActive: before.isActive && disabledReason === null,
    failureCount,
    failingSince,
    lastDeliveryAt,
    isSlow: last === undefined ? before.isSlow : !isSuccess(last) || last.outcome.durationMs > SLOW_MS,
    disabledReason,
  };
}

/** Why the service stops sending to a webhook; null: it does not. */
function deactivationOf(failingSince: Date | null, last: Attempt, attempts: readonly Attempt[]): string | null {
  if (attempts.some(({ outcome }) => outcome.status === GONE)) return 'The receiver answered 410 Gone';
  if (failingSince === null || last.at.getTime() - failingSince.getTime() < MAX_FAILING_MS) return null;
  return 'Every attempt failed for 5 days';
}

export function writeWebhooks(tx: Tx, now: Date, changes: readonly WebhookChange[]) {
  return tx.$executeRaw`
  update webhooks w set failure_count = c."failureCount", failing_since = c."failingSince",
    last_delivery_at = c."lastDeliveryAt", is_slow = c."isSlow", is_active = c."isActive",
    disabled_reason = coalesce(c."disabledReason", w.disabled_reason),
    updated_at = case when c."disabledReason" is null then w.updated_at else ${now} end
  from json_to_recordset(${JSON.stringify(changes)}::json) as c ("workspaceId" int, "webhookId" int, "failureCount" int,
    "failingSince" timestamptz, "lastDeliveryAt" timestamptz, "isSlow" boolean, "isActive" boolean, "disabledReason" text)
  where w.workspace_id = c."workspaceId" and w.id = c."webhookId"`;
}
