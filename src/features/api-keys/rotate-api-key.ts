/** Replaces the secret of an API key. The previous secret keeps working for a limited time. */
import { recordAudit } from '../../audit/record-audit.ts';
import { generateApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, conflict, forbidden, notFound } from '../../core/errors.ts';
import { HOUR_MS, toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, type RowOf, statement, text, time } from '../../db/statements.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { recordForAccount, toEntry, toExpiry } from './api-keys.ts';
import { type KeyRow, keyColumns, toApiKey } from './present.ts';
import type { CreatedApiKey, RotateApiKeyInput } from './schemas.ts';

const lockKey = statement('lock-api-key-to-rotate', {
  params: { workspaceId: int, keyId: int },
  returns: {
    created_by: int,
    creator_email: text,
    is_of_workspace: bool,
    revoked_at: nullable(time),
    expires_at: nullable(time),
    key_hash: bytes,
    key_prefix: text,
  },
  sql: `
    select k.created_by, u.email as creator_email, k.is_of_workspace, k.revoked_at, k.expires_at, k.key_hash,
      k.key_prefix
    from api_keys k join users u on u.id = k.created_by
    where k.workspace_id = $workspaceId and k.id = $keyId for update of k`,
});

type LockedKey = RowOf<typeof lockKey>;

/**
 * Gives a key a new secret. The API key keeps its ID, scopes and networks; only the response contains `full_key`. The
 * previous secret keeps working for `overlap_hours`, but never beyond its own expiry. Any older secret stops working
 * immediately. Concurrent calls each rotate the key once.
 *
 * Throws 400 if the new expiry is not in the future, 401 if the session has ended, 403 if the actor is no longer owner
 * or admin or if the key acts for another user, 404 if the key does not exist, and 409 if it was revoked.
 */
export async function rotateApiKey(
  services: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { keyId, overlap_hours: overlapHours, expires_at }: RotateApiKeyInput,
): Promise<CreatedApiKey> {
  const { db, clock } = services;
  const key = generateApiKey();
  const newExpiry = toExpiry(expires_at, clock.now());
  return transact(db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const [old] = await sqlIn(tx).run(lockKey, { workspaceId: actor.workspaceId, keyId });
    if (!old) throw notFound('API key');
    // Anyone who has the new secret can act as the creator of the key.
    if (!old.is_of_workspace && old.created_by !== actor.userId)
      throw forbidden('Only the user for whom the API key acts can rotate it');
    if (old.revoked_at !== null) throw conflict('This API key was revoked: create a new one');
    const now = clock.now();
    const expiresAt = newExpiry ?? old.expires_at;
    if (expiresAt !== null && expiresAt <= now)
      throw badField('expires_at', 'The API key has expired: send expires_at, a time in the future');
    const row = await tx.apiKey.update({
      where: { workspaceId_id: { workspaceId: actor.workspaceId, id: keyId } },
      data: {
        keyPrefix: keyPrefixOf(key),
        keyHash: hashToken(key),
        expiresAt,
        rotatedAt: now,
        // Reset, so that they show whether the new secret is in use.
        lastUsedAt: null,
        lastUsedAddress: null,
        ...toPrevious(old, now, overlapHours),
      },
      select: keyColumns,
    });
    await recordAudit(tx, toEntry(actor, 'api_key.rotated', row, now));
    await recordForAccount(tx, actor, 'api_key_rotated', row, now);
    const names = { workspaceName: workspace.name, rotatedBy: actor.name };
    await reportRotation(services, tx, row, { to: old.creator_email, ...names });
    return { ...toApiKey(row), full_key: key };
  });
}

/** Notifies the creator of the key by mail. */
async function reportRotation(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  { name: keyName, keyPrefix, previousExpiresAt }: KeyRow,
  { to, ...names }: { to: string; workspaceName: string; rotatedBy: string },
): Promise<void> {
  const previousEndsAt = previousExpiresAt && toUnixSeconds(previousExpiresAt);
  const data = { keyName, keyPrefix, previousEndsAt, ...names };
  await queueMail(services, sqlIn(tx), { kind: 'api-key-rotated', to, data });
}

/** Returns the columns of the previous key. They are null if there is no overlap or the key has already expired. */
function toPrevious({ key_hash, key_prefix, expires_at }: LockedKey, now: Date, overlapHours: number) {
  const overlapEnd = new Date(now.getTime() + overlapHours * HOUR_MS);
  const endsAt = expires_at !== null && expires_at < overlapEnd ? expires_at : overlapEnd;
  const isKept = endsAt > now;
  return {
    previousKeyHash: isKept ? new Uint8Array(key_hash) : null,
    previousKeyPrefix: isKept ? key_prefix : null,
    previousExpiresAt: isKept ? endsAt : null,
    previousLastUsedAt: null,
    previousLastUsedAddress: null,
  };
}
