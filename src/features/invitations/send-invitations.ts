/** Invites people by mail. Only the mail contains the link, so a person with the link can read mail at that address. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { type LockedWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import type { Language } from '../../languages/languages.ts';
import { linkTo } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { invitationColumns, invitationFields, refuseChange } from './read-invitations.ts';
import type { CreateInvitationInput, Invitation, InvitationInput } from './schemas.ts';

type Dependencies = Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>;

const LIFETIME_MS = 7 * DAY_MS;
/** The maximum number of messages per day, for a workspace and for a user across all workspaces. */
const MAX_SENT_PER_DAY = 200;
const RETRY_SECONDS = HOUR_MS / SECOND_MS;

const findLimits = statement('find-invitation-limits', {
  params: { workspaceId: int, userId: int, email: text, since: time },
  returns: { isMember: bool, ofWorkspace: int, ofUser: int, language: nullable(oneOf<Language>()) },
  sql: `
    select (select language from workspaces where id = $workspaceId) as language, exists (
        select from users u join members m on m.user_id = u.id
        where u.email = $email and m.workspace_id = $workspaceId) as "isMember",
      (select coalesce(sum(sends), 0)::int from invitations
        where workspace_id = $workspaceId and sent_at > $since) as "ofWorkspace",
      (select coalesce(sum(sends), 0)::int from invitations
        where invited_by = $userId and sent_at > $since) as "ofUser"`,
});

const sentParams = { workspaceId: int, userId: int, tokenHash: bytes, now: time, expiresAt: time } as const;

/** Replaces an expired invitation. Returns no row if the address has a pending invitation. */
const insertInvitation = statement('insert-invitation', {
  params: { ...sentParams, email: text, role: text },
  returns: invitationColumns,
  sql: `
    with i as (
      insert into invitations as old (workspace_id, email, role, token_hash, invited_by, created_at, sent_at,
        expires_at)
      values ($workspaceId, $email, $role, $tokenHash, $userId, $now, $now, $expiresAt)
      on conflict (workspace_id, email) where state = 'pending' do update
      set role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
        sent_at = excluded.sent_at, sends = old.sends + 1, expires_at = excluded.expires_at, admitted_at = null
      where old.expires_at <= $now
      returning *)
    select ${invitationFields} from i left join users u on u.id = i.invited_by`,
});

const renewInvitation = statement('renew-invitation', {
  params: { ...sentParams, invitationId: int },
  returns: invitationColumns,
  sql: `
    with i as (
      update invitations
      set token_hash = $tokenHash, invited_by = $userId, sent_at = $now, sends = sends + 1, expires_at = $expiresAt,
        admitted_at = null
      where workspace_id = $workspaceId and id = $invitationId and state = 'pending'
      returning *)
    select ${invitationFields} from i left join users u on u.id = i.invited_by`,
});

/**
 * Sends an invitation to an address. Throws 403 if the actor is no longer owner or admin. Throws 409 if a member has
 * the address, if the address is already invited, or if the workspace has reached its quota of members. Throws 429
 * after too many messages.
 */
export function createInvitation(
  services: Dependencies,
  actor: Actor,
  { email, role }: CreateInvitationInput,
): Promise<Invitation> {
  return transact(services.db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const { isMember, language } = await requireWithinLimits(services, tx, actor, email);
    if (isMember) throw conflict('A member of the workspace has this email address');
    await requireFreeRow(tx, services.settings.quotas, 'members', workspace.id);
    const { token, params } = newLink(services, actor);
    const [invitation] = await sqlIn(tx).run(insertInvitation, { ...params, email, role });
    if (!invitation) throw conflict('This address is already invited: send the invitation again, or revoke it');
    await deliver(services, tx, { workspace, language, actor, invitation, token, action: 'invitation.created' });
    return invitation;
  });
}

/**
 * Resends a pending or expired invitation with a new link. The old link stops working. Throws 403, 404 "Invitation not
 * found", 409 if the invitation was already accepted or revoked, and 429 after too many messages.
 */
export function resendInvitation(
  services: Dependencies,
  actor: Actor,
  { invitationId }: InvitationInput,
): Promise<Invitation> {
  return transact(services.db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const { language } = await requireWithinLimits(services, tx, actor, '');
    const { token, params } = newLink(services, actor);
    const [invitation] = await sqlIn(tx).run(renewInvitation, { ...params, invitationId });
    if (!invitation) return refuseChange(sqlIn(tx), workspace.id, { invitationId });
    await deliver(services, tx, { workspace, language, actor, invitation, token, action: 'invitation.resent' });
    return invitation;
  });
}

async function requireWithinLimits(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { workspaceId, userId }: Actor,
  email: string,
): Promise<{ isMember: boolean; language: Language | null }> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const [found] = await sqlIn(tx).run(findLimits, { workspaceId, userId, email, since });
  if (found && Math.max(found.ofWorkspace, found.ofUser) >= MAX_SENT_PER_DAY)
    throw tooManyRequests(`At most ${MAX_SENT_PER_DAY} invitations can be sent in a day`, RETRY_SECONDS);
  return { isMember: found?.isMember ?? false, language: found?.language ?? null };
}

function newLink({ clock }: Pick<Services, 'clock'>, { workspaceId, userId }: Actor) {
  const token = createToken('lnm_');
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  return { token, params: { workspaceId, userId, tokenHash: hashToken(token), now, expiresAt } };
}

type Delivery = {
  workspace: LockedWorkspace;
  /** That of the workspace. The invited person has not chosen one yet. */
  language: Language | null;
  actor: Actor;
  invitation: Invitation;
  token: string;
  action: 'invitation.created' | 'invitation.resent';
};

/**
 * Queues the mail and adds an entry to the audit log. The entry does not contain the address, because it could not be
 * erased from the log later.
 */
async function deliver(
  services: Dependencies,
  tx: Tx,
  { workspace, language, actor, invitation: { id, email, role }, token, action }: Delivery,
): Promise<void> {
  const isQueued = await queueMail(services, sqlIn(tx), {
    kind: 'workspace-invitation',
    to: email,
    workspaceId: workspace.id,
    data: {
      workspaceName: workspace.name,
      inviterName: actor.name,
      role,
      link: linkTo('/invitation', token),
      ...(language !== null && { language }),
    },
  });
  if (!isQueued)
    throw tooManyRequests('Too many invitations were sent to this address: try again later', RETRY_SECONDS);
  await recordAudit(tx, {
    workspaceId: workspace.id,
    at: services.clock.now(),
    actor: auditActorOf(actor),
    action,
    target: { kind: 'invitation', id },
    after: { role },
  });
}
