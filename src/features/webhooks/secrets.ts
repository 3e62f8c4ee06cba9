/** Creates, seals and rotates signing secrets. */
import { randomBytes } from 'node:crypto';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import type { Sealer } from '../../core/sealing.ts';
import { DAY_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { lockWebhook } from './lock-webhook.ts';
import { toWebhook, webhookColumns } from './present.ts';
import type { WebhookInput, WebhookWithSecret } from './schemas.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 24;
/** How long the previous secret also signs after a rotation, so that there is time to update every receiver. */
export const OVERLAP_MS = DAY_MS;

/** Returns a new secret in the format of Standard Webhooks: `whsec_` followed by base64. */
export function createSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function sealSecret(sealer: Sealer, workspaceId: number, secret: string): Uint8Array<ArrayBuffer> {
  return sealer.seal(secret, { workspaceId, purpose: 'webhook secret' });
}

/**
 * Replaces the webhook's secret with a new one, which is returned only here. The replaced secret continues to sign for
 * 24 hours; an older secret stops signing immediately. Throws 403 and 404.
 */
export async function rotateSecret(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { webhookId }: WebhookInput,
): Promise<WebhookWithSecret> {
  const { workspaceId } = actor;
  const secret = createSecret();
  return transact(db, async (tx) => {
    const { sealedSecret } = await lockWebhook(tx, actor, webhookId);
    const now = clock.now();
    const row = await tx.webhook.update({
      where: { workspaceId_id: { workspaceId, id: webhookId } },
      data: {
        sealedSecret: sealSecret(sealer, workspaceId, secret),
        previousSealedSecret: new Uint8Array(sealedSecret),
        previousSecretUntil: new Date(now.getTime() + OVERLAP_MS),
        updatedAt: now,
      },
      select: webhookColumns,
    });
    await recordAudit(tx, {
      workspaceId,
      at: now,
      actor: auditActorOf(actor),
      action: 'webhook.secret_rotated',
      target: { kind: 'webhook', id: webhookId, name: row.name },
    });
    return { ...toWebhook(row, now), secret };
  });
}
