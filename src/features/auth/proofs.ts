/** What the sessions and connected apps of a user have proven, for workspaces that require it. */
import type { Tx } from '../../db/client.ts';

/**
 * The second factor of the user is gone: sessions and apps that have proven it no longer satisfy a workspace that
 * requires one. Sessions that a passkey started still do.
 */
export async function forgetSecondFactor(tx: Tx, userId: number): Promise<void> {
  const data = { secondFactorAt: null };
  await tx.session.updateMany({ where: { userId, NOT: { method: 'passkey' } }, data });
  await tx.oauthGrant.updateMany({ where: { userId }, data });
}

/** The user has unlinked an account at this provider: signing in there no longer counts as a proof. */
export async function forgetProvider(tx: Tx, userId: number, openidIssuer: string): Promise<void> {
  const change = { where: { userId, openidIssuer }, data: { openidIssuer: null } };
  await tx.session.updateMany(change);
  await tx.oauthGrant.updateMany(change);
}
