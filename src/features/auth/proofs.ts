/** What the sessions, connected apps and the calendar feed of a user have proven, for workspaces that require it. */
import type { Tx } from '../../db/client.ts';

/**
 * Removes the second factor with its recovery codes. What has proven it no longer satisfies a workspace that requires
 * one. Sessions that a passkey started still do. Returns whether there was one. Call it with the user locked.
 */
export async function removeFactor(tx: Tx, userId: number): Promise<boolean> {
  const { count } = await tx.secondFactor.deleteMany({ where: { userId } });
  if (count === 0) return false;
  const data = { secondFactorAt: null };
  await tx.session.updateMany({ where: { userId, NOT: { method: 'passkey' } }, data });
  await tx.oauthGrant.updateMany({ where: { userId }, data });
  await tx.calendarFeed.updateMany({ where: { userId }, data });
  return true;
}

/** Unlinks the accounts at all providers. Returns how many there were. Call it with the user locked. */
export async function removeIdentities(tx: Tx, userId: number): Promise<number> {
  const { count } = await tx.openidIdentity.deleteMany({ where: { userId } });
  if (count > 0) await forgetProofs(tx, { userId });
  return count;
}

/** The user has unlinked an account at this provider: signing in there no longer counts as a proof. */
export function forgetProvider(tx: Tx, userId: number, openidIssuer: string): Promise<void> {
  return forgetProofs(tx, { userId, openidIssuer });
}

async function forgetProofs(tx: Tx, where: { userId: number; openidIssuer?: string }): Promise<void> {
  const change = { where, data: { openidIssuer: null } };
  await tx.session.updateMany(change);
  await tx.oauthGrant.updateMany(change);
  await tx.calendarFeed.updateMany(change);
}
