/** The secrets that sign what a webhook is sent: how they are made, kept and replaced. */
import { randomBytes } from 'node:crypto';
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
/** How long the secret before the last rotation signs too: time enough to bring the new one to every receiver. */
export const OVERLAP_MS = DAY_MS;

/** A new secret, in the form of Standard Webhooks: `whsec_` and base64. */
export function createSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function sealSecret(sealer: Sealer, workspaceId: number, secret: string): Uint8Array<ArrayBuffer> {
  return sealer.seal(secret, { workspaceId, purpose: 'webhook secret' });
}

/**
 * Gives the webhook a new secret, which is known to the answer alone; the present one signs too for 24 hours, and one
 * that still did so before no longer. Throws 403 and 404.
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
        previousSealedSecret: sealedSecret,
        previousSecretUntil: new Date(now.getTime() + OVERLAP_MS),
        updatedAt: now,
      },
      select: webhookColumns,
    });
    return { ...toWebhook(row, now), secret };
  });
}
