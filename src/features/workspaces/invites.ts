/**
 * The invite link of a workspace. Its token stays the same until the link is revoked or a member is removed by another
 * member.
 */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor, Caller } from '../../auth/identify.ts';
import { inviteSeal, markOf, openInvite } from '../../auth/invite-token.ts';
import { createLinkToken, hashToken, isLinkToken } from '../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { notFound, unauthorized } from '../../core/errors.ts';
import { toRole } from '../../core/roles.ts';
import { transact } from '../../db/client.ts';
import { flagOf } from '../../db/columns.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, json, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type BrandingRow, brandingOf, toBranding } from '../branding/public-branding.ts';
import { addMember } from '../members/add-member.ts';
import { toWorkspace, workspaceColumns } from './present.ts';
import type { Invite, InvitePreview, JoinInput, Workspace } from './schemas.ts';

const storedFields = { sealed: nullable(bytes), plain: nullable(text) };

/**
 * Reads the role together with the token. Otherwise an admin who is removed between the two reads would get the token
 * that was created after their removal.
 */
const readInvite = statement('read-invite-as-admin', {
  params: { workspaceId: int, userId: int },
  returns: storedFields,
  sql: `
    select w.sealed_invite as sealed, w.invite_token as plain from workspaces w join members m on m.workspace_id = w.id
    where w.id = $workspaceId and m.user_id = $userId and m.role in ('owner', 'admin')`,
});

const readLocked = statement('read-invite', {
  params: { workspaceId: int },
  returns: storedFields,
  sql: 'select sealed_invite as sealed, invite_token as plain from workspaces where id = $workspaceId',
});

/**
 * Returns the invite link, creating it if there is none. `appUrl` is the URL of the frontend. Throws 404, and 403 if
 * the actor is no longer the owner or an admin.
 */
export async function getInvite(
  services: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  appUrl: string,
): Promise<Invite> {
  const { workspaceId } = actor;
  const [row] = await services.db.sql.run(readInvite, { workspaceId, userId: actor.userId });
  const token = (row && openInvite(services, workspaceId, row)) ?? (await createInviteToken(services, actor));
  return { token, url: `${appUrl}/join/${token}` };
}

/**
 * Stores a token if the workspace has none, and returns the workspace's token. Concurrent first calls get the same
 * token.
 */
function createInviteToken(services: Pick<Services, 'db' | 'clock' | 'sealer'>, actor: Actor): Promise<string> {
  const { workspaceId } = actor;
  return transact(services.db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const rows = await sqlIn(tx).run(readLocked, { workspaceId });
    const existing = openInvite(services, workspaceId, onlyRow(rows));
    if (existing !== null) return existing;
    const token = createLinkToken();
    const sealedInvite = services.sealer.seal(token, inviteSeal(workspaceId));
    await tx.workspace.update({
      where: { id: workspaceId },
      data: {
        inviteHash: hashToken(token),
        sealedInvite,
        inviteToken: markOf(workspaceId),
        inviteCreatedBy: actor.userId,
      },
    });
    await recordAudit(tx, {
      workspaceId,
      at: services.clock.now(),
      actor: auditActorOf(actor),
      action: 'invite_link.created',
      target: { kind: 'invite_link', id: null },
    });
    return token;
  });
}

const revokeToken = statement('revoke-invite', {
  params: { workspaceId: int, ...auditParams },
  sql: `
    with revoked as (
      update workspaces set invite_hash = null, sealed_invite = null, invite_token = null, invite_created_by = null
      where id = $workspaceId and invite_hash is not null returning id)
    ${insertAuditFrom('revoked', {
      target: 'invite_link',
      action: 'invite_link.revoked',
      targetId: 'null::int',
      details: "'{}'::json",
    })}`,
});

/** Revokes the invite link. The next `getInvite` creates a new one. */
export async function revokeInvite({ db, clock }: Pick<Services, 'db' | 'clock'>, actor: Actor): Promise<{ ok: true }> {
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  await db.sql.run(revokeToken, { workspaceId: actor.workspaceId, ...audit });
  return { ok: true };
}

/** Whoever created the link may have left or lost the role. The owner then answers for it. */
const findInvite = statement('find-invite-by-token', {
  params: { inviteHash: bytes },
  returns: {
    workspace_name: text,
    is_personal: int,
    owner_name: text,
    invited_by_name: text,
    branding: json<BrandingRow>('json'),
  },
  sql: `
    select w.name as workspace_name, ${flagOf('w.is_personal')} as is_personal, o.name as owner_name,
      coalesce(u.name, o.name) as invited_by_name, ${brandingOf('w')} as branding
    from workspaces w join users o on o.id = w.owner_id
      left join members m on m.workspace_id = w.id and m.user_id = w.invite_created_by and m.role <> 'member'
      left join users u on u.id = m.user_id
    where w.invite_hash = $inviteHash`,
});

/** Returns where an invite link leads, for anyone who has it. Throws 404 "Invite not found". */
export async function lookUpInvite(
  { db }: Pick<Services, 'db'>,
  { token }: JoinInput,
  origin: string,
): Promise<InvitePreview> {
  const [found] = isLinkToken(token) ? await db.sql.run(findInvite, { inviteHash: hashToken(token) }) : [];
  if (!found) throw notFound('Invite');
  return { ...found, branding: toBranding(found.branding, origin) };
}

/** Keeps the invite from being revoked, and the workspace from being deleted, before the commit. */
const lockInvited = statement('lock-workspace-of-invite', {
  params: { inviteHash: bytes },
  returns: { id: int },
  sql: 'select id from workspaces where invite_hash = $inviteHash for share',
});

/**
 * Adds the caller to the workspace with this invite token and emits `member.joined`. Changes nothing if they are
 * already a member. Throws 404 "Invite not found", and 409 if the workspace has reached its quota.
 */
export async function joinWorkspace(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  token: string,
): Promise<Workspace> {
  if (!isLinkToken(token)) throw notFound('Invite');
  try {
    return await transact(services.db, async (tx) => {
      const [invited] = await sqlIn(tx).run(lockInvited, { inviteHash: hashToken(token) });
      if (!invited) throw notFound('Invite');
      const workspace = await tx.workspace.findUniqueOrThrow({ where: { id: invited.id }, select: workspaceColumns });
      await addMember(services, tx, workspace, caller, { role: 'member', by: 'invite_link' });
      const key = { workspaceId: workspace.id, userId: caller.userId };
      const member = await tx.member.findUniqueOrThrow({ where: { workspaceId_userId: key }, select: { role: true } });
      return toWorkspace(workspace, toRole(member.role));
    });
  } catch (error) {
    // The caller's account has been deleted.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}
