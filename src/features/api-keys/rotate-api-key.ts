/** Replaces an API key with a new one. The old one works for a limited time longer. */
import { recordAudit } from '../../audit/record-audit.ts';
import { generateApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, conflict, forbidden, notFound } from '../../core/errors.ts';
import { HOUR_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { lockSession, recordForAccount, toEntry, toExpiry } from './api-keys.ts';
import { keyColumns, toApiKey } from './present.ts';
import type { CreatedApiKey, RotateApiKeyInput } from './schemas.ts';

type LockedKey = {
  created_by: number;
  is_of_workspace: boolean;
  revoked_at: Date | null;
  expires_at: Date | null;
  key_hash: Uint8Array<ArrayBuffer>;
  key_prefix: string;
};

/**
 * Gives a key a new secret. The API key keeps its id, scopes and networks; only the response contains `full_key`. The
 * previous secret works for `overlap_hours`, but not longer than it would have without the rotation, and the one before
 * it ends at once. Concurrent calls each rotate once.
 *
 * Throws 400 if the new key would have expired, 401 if the session has ended, 403 if the actor is no longer owner or
 * admin, or if the key acts for somebody else, 404 if it does not exist, and 409 if it was revoked.
 */
export async function rotateApiKey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { keyId, overlap_hours: overlapHours, expires_at }: RotateApiKeyInput,
  sessionId: number,
): Promise<CreatedApiKey> {
  const key = generateApiKey();
  const newExpiry = toExpiry(expires_at, clock.now());
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    await lockSession(tx, sessionId);
    const [old] = await tx.$queryRaw<LockedKey[]>`
      select created_by, is_of_workspace, revoked_at, expires_at, key_hash, key_prefix from api_keys
      where workspace_id = ${actor.workspaceId} and id = ${keyId} for update`;
    if (!old) throw notFound('API key');
    // A person with the new key acts as its creator.
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
        // These show whether the new key is in use.
        lastUsedAt: null,
        lastUsedAddress: null,
        ...toPrevious(old, now, overlapHours),
      },
      select: keyColumns,
    });
    await recordAudit(tx, toEntry(actor, 'api_key.rotated', row, now));
    await recordForAccount(tx, actor, 'api_key_rotated', row, now);
    return { ...toApiKey(row), full_key: key };
  });
}

/** The columns of the previous key. Without an overlap, or if it has already expired, there is none. */
function toPrevious({ key_hash, key_prefix, expires_at }: LockedKey, now: Date, overlapHours: number) {
  const overlapEnd = new Date(now.getTime() + overlapHours * HOUR_MS);
  const endsAt = expires_at !== null && expires_at < overlapEnd ? expires_at : overlapEnd;
  const isKept = endsAt > now;
  return {
    previousKeyHash: isKept ? key_hash : null,
    previousKeyPrefix: isKept ? key_prefix : null,
    previousExpiresAt: isKept ? endsAt : null,
    previousLastUsedAt: null,
    previousLastUsedAddress: null,
  };
}
