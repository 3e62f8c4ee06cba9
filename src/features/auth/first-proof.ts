/** What happens when the owner of an address shows for the first time that it is theirs, other than by the account. */
import { endAccountTokens } from '../../auth/account-tokens.ts';
import { lockWorkspacesOf } from '../../auth/workspace-lock.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { endMembership } from '../members/end-membership.ts';
import type { EndedAccess } from './access-schemas.ts';
import { revokeKeysOf } from './account.ts';
import type { Client } from './devices.ts';
import { endAccess } from './end-access.ts';
import { removeFactor } from './proofs.ts';
import { lockUser } from './sign-in-methods.ts';

type Proof = { userId: number; at: Date; client: Client };

/**
 * Ends everything that was made with an account whose address was never confirmed, because a stranger may have
 * registered it: its sessions, password and other ways to sign in, its second factor and known devices, its lasting
 * access, and in the workspaces that it owns the membership of everybody else and what they created. The address then
 * counts as confirmed. The content of the workspaces remains.
 *
 * Call it when somebody has shown by a link for a new password, or at a provider, that they own the address. Confirming
 * it with a session or the password of the account ends nothing: that is the same person. Returns null and does nothing
 * if the address has just been confirmed. Locks the workspaces before the user.
 */
export async function endBeforeFirstProof(
  services: Pick<Services, 'sealer' | 'clock'>,
  tx: Tx,
  { userId, at, client }: Proof,
): Promise<EndedAccess | null> {
  const workspaces = await lockWorkspacesOf(tx, userId);
  const { emailVerifiedAt, email } = await lockUser(tx, userId);
  if (emailVerifiedAt !== null) return null;
  const actor = { kind: 'system' } as const;
  await tx.user.update({ where: { id: userId }, data: { passwordHash: null, emailVerifiedAt: at } });
  await tx.session.deleteMany({ where: { userId } });
  const links = ['verify_email', 'change_email', 'reset_password'] as const;
  await endAccountTokens(sqlIn(tx), { userId, address: email }, links);
  for (const workspace of workspaces) {
    if (workspace.owner_id !== userId) continue;
    const others = await tx.member.findMany({
      where: { workspaceId: workspace.id, NOT: { userId } },
      select: { userId: true },
    });
    for (const other of others)
      await endMembership(services, tx, workspace, { userId: other.userId, reason: 'removed', at, actor });
  }
  const ended = await endAccess(tx, { userId, at, actor, client, scope: 'everything' });
  // Also those in workspaces that the user has left.
  await revokeKeysOf(tx, userId, at, actor);
  await removeFactor(tx, userId);
  await tx.knownDevice.deleteMany({ where: { userId } });
  return ended;
}
