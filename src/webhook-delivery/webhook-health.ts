/**
 * The health of a webhook, derived from its attempts: whether it is failing, responds slowly, or must be deactivated.
 */
import { recordAudits } from '../audit/record-audit.ts';
import { DAY_MS, SECOND_MS } from '../core/time.ts';
import { json, type Sql, statement, time } from '../db/statements.ts';
import type { WebhookRef } from './queue.ts';
import type { Attempt } from './send-message.ts';

/** A webhook whose responses take longer goes to the slow lane. */
const SLOW_MS = 2 * SECOND_MS;
/** A webhook is deactivated once every attempt has failed for this long. */
export const MAX_FAILING_MS = 5 * DAY_MS;
const GONE = 410;

export type WebhookHealth = WebhookRef & {
  url: string;
  isActive: boolean;
  failureCount: number;
  failingSince: Date | null;
  lastDeliveryAt: Date | null;
  isSlow: boolean;
};

export type WebhookUpdate = WebhookHealth & {
  /** Why the service deactivates the webhook now; null if it does not. */
  disabledReason: string | null;
};

export function isSuccess({ outcome: { status } }: Attempt): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns the health of a webhook after the given attempts, which are in the order in which they finished. Attempts to
 * a previous URL of the webhook and attempts that were not sent are ignored, because they say nothing about its
 * receiver.
 */
export function applyAttempts(before: WebhookHealth, all: readonly Attempt[]): WebhookUpdate {
  const attempts = all.filter(({ message, wasSent }) => wasSent && message.url === before.url);
  let { failureCount, failingSince, lastDeliveryAt } = before;
  for (const attempt of attempts) {
    failureCount = isSuccess(attempt) ? 0 : failureCount + 1;
    failingSince = isSuccess(attempt) ? null : (failingSince ?? attempt.at);
    if (lastDeliveryAt === null || attempt.at > lastDeliveryAt) lastDeliveryAt = attempt.at;
  }
  const last = attempts.at(-1);
  const disabledReason = before.isActive && last ? findDisabledReason(failingSince, last, attempts) : null;
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

function findDisabledReason(failingSince: Date | null, last: Attempt, attempts: readonly Attempt[]): string | null {
  if (attempts.some(({ outcome }) => outcome.status === GONE)) return 'The receiver responded with 410 Gone';
  if (failingSince === null || last.at.getTime() - failingSince.getTime() < MAX_FAILING_MS) return null;
  return 'All attempts of the last 5 days failed';
}

const updateStatement = statement('update-webhook-health', {
  plansAnew: true,
  params: { now: time, updates: json<WebhookUpdate[]>() },
  sql: `
    update webhooks w set failure_count = u."failureCount", failing_since = u."failingSince",
      last_delivery_at = u."lastDeliveryAt", is_slow = u."isSlow", is_active = u."isActive",
      disabled_reason = coalesce(u."disabledReason", w.disabled_reason),
      updated_at = case when u."disabledReason" is null then w.updated_at else $now end
    from jsonb_to_recordset($updates) as u ("workspaceId" int, "webhookId" int, "failureCount" int,
      "failingSince" timestamptz, "lastDeliveryAt" timestamptz, "isSlow" boolean, "isActive" boolean,
      "disabledReason" text)
    where w.workspace_id = u."workspaceId" and w.id = u."webhookId"`,
});

/** Stores the health of webhooks. The audit log records those that the service deactivates. */
export async function updateWebhooks(sql: Sql, now: Date, updates: WebhookUpdate[]): Promise<void> {
  await sql.run(updateStatement, { now, updates });
  const entry = { at: now, actor: { kind: 'system' }, action: 'webhook.deactivated' } as const;
  await recordAudits(
    sql,
    updates
      .filter(({ disabledReason }) => disabledReason !== null)
      .map(({ workspaceId, webhookId, disabledReason }) => ({
        ...entry,
        workspaceId,
        target: { kind: 'webhook', id: webhookId },
        before: { is_active: true },
        after: { is_active: false, reason: disabledReason },
      })),
  );
}
