/** The invite link of a workspace: one token, the same until it is revoked. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { createLinkToken, isLinkToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { isForeignKeyViolation, retryDeadlocks, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { toWorkspace, workspaceColumns } from './present.ts';
import type { Invite, Workspace } from './schemas.ts';

/** The workspace's invite token, made now if there is none. `appUrl` is where the frontend lives. */
export async function getInvite({ db }: Pick<Services, 'db'>, actor: Actor, appUrl: string): Promise<Invite> {
  const { workspaceId } = actor;
  const workspace = await db.workspace.findUnique({ where: { id: workspaceId }, select: { inviteToken: true } });
  const token = workspace?.inviteToken ?? (await makeToken(db, workspaceId));
  if (token === undefined) throw notFound('Workspace');
  return { token, url: `${appUrl}/join/${token}` };
}

/** Gives the workspace a token unless it has one by now: two first calls at once get the same. */
async function makeToken(db: Services['db'], workspaceId: number): Promise<string | undefined> {
  const [row] = await retryDeadlocks(
    () => db.$queryRaw<{ token: string }[]>`
      update workspaces set invite_token = coalesce(invite_token, ${createLinkToken()})
      where id = ${workspaceId} returning invite_token as token`,
  );
  return row?.token;
}

/** Ends the invite link; the next `getInvite` makes another. */
export async function revokeInvite({ db }: Pick<Services, 'db'>, actor: Actor): Promise<{ ok: true }> {
  const where = { id: actor.workspaceId };
  await retryDeadlocks(() => db.workspace.updateMany({ where, data: { inviteToken: null } }));
  return { ok: true };
}

/**
 * Makes the caller a member of the workspace behind `token`, and emits `member.joined`; for who is a member already
 * nothing happens. Throws 404 "Invite not found".
 */
export async function joinWorkspace(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  token: string,
): Promise<Workspace> {
  if (!isLinkToken(token)) throw notFound('Invite');
  try {
    return await transact(db, async (tx) => {
      // Locked against being revoked or deleted before this commits.
      const [invited] = await tx.$queryRaw<{ id: number }[]>`
        select id from workspaces where invite_token = ${token} for share`;
      if (!invited) throw notFound('Invite');
      const workspace = await tx.workspace.findUniqueOrThrow({ where: { id: invited.id }, select: workspaceColumns });
      const key = { workspaceId: workspace.id, userId: caller.userId };
      const joinedAt = clock.now();
      const { count } = await tx.member.createMany({
        data: { ...key, role: 'member', joinedAt },
        skipDuplicates: true,
      });
      if (count === 1)
        await emit(tx, joinedAt, {
          type: 'member.joined',
          workspaceId: workspace.id,
          data: {
            workspace_id: workspace.id,
            workspace_name: workspace.name,
            user_id: caller.userId,
            user_name: caller.name,
            role: 'member',
            joined_at: toUnixSeconds(joinedAt),
          },
        });
      const member = await tx.member.findUniqueOrThrow({ where: { workspaceId_userId: key }, select: { role: true } });
      return toWorkspace(workspace, toRole(member.role));
    });
  } catch (error) {
    // The caller's account was deleted meanwhile: nothing can be joined.
    if (isForeignKeyViolation(error)) throw notFound('Invite');
    throw error;
  }
}
