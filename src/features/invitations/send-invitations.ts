/** Invites people by mail. Only the mail contains the link, so a person with the link can read mail at that address. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { type LockedWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { type AppError, conflict, tooManyRequests } from '../../core/errors.ts';
import { toMailbox } from '../../core/mailbox.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import type { Language } from '../../languages/languages.ts';
import { linkTo } from '../../mail/kinds.ts';
import { isInvited } from '../../mail/outbox.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { invitationColumns, invitationFields, refuseChange } from './read-invitations.ts';
import type { CreateInvitationInput, Invitation, InvitationInput } from './schemas.ts';

type Dependencies = Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>;

const LIFETIME_MS = 7 * DAY_MS;
/** How long an invitation may wait for its day. */
const MAX_WAIT_DAYS = 10;
/** How many invitations to one mailbox may wait: they are sent together. */
const MAX_WAITING = 10;
const RETRY_SECONDS = HOUR_MS / SECOND_MS;

/** SQL for when the earliest of the latest `$perDay` messages of `sent` that fulfill `condition` was or is sent. */
function sinceOf(condition: string): string {
  return `(select at from sent where ${condition} order by at desc offset $perDay - 1 limit 1)`;
}

/** The limit of a user is counted over all workspaces, and the lock on one of them does not keep out the others. */
const lockInviter = statement('lock-inviter', {
  params: { userId: int },
  returns: { locked: text },
  sql: "select pg_advisory_xact_lock(hashtext('invitations of a user'), $userId)::text as locked",
});

const findLimits = statement('find-invitation-limits', {
  params: {
    workspaceId: int,
    userId: int,
    email: text,
    mailbox: text,
    perDay: int,
    now: time,
    since: time,
  },
  returns: {
    language: nullable(oneOf<Language>()),
    personalOwner: nullable(text),
    isMember: bool,
    fullSince: nullable(time),
    waiting: int,
  },
  // The messages are counted, because invitations go with their workspace. What was revoked, or went, while it waited
  // is not sent.
  sql: `
    with sent as (
      select m.workspace_id, m.sender_id, coalesce(m.ended_at, m.due_at) as at from mail_messages m
      where m.kind = 'workspace-invitation' and (m.workspace_id = $workspaceId or m.sender_id = $userId)
        and coalesce(m.ended_at, m.due_at) > $since and m.state <> 'dropped'
        and (m.ended_at is not null or ${isInvited}))
    select w.language, case when w.is_personal then o.name end as "personalOwner", exists (
        select from users u join members m on m.user_id = u.id
        where u.email = $email and m.workspace_id = $workspaceId) as "isMember",
      greatest(${sinceOf('workspace_id = $workspaceId')}, ${sinceOf('sender_id = $userId')}) as "fullSince",
      (select count(*)::int from mail_messages
        where mailbox = $mailbox and kind = 'workspace-invitation' and state = 'queued' and due_at > $now) as waiting
    from workspaces w join users o on o.id = w.owner_id where w.id = $workspaceId`,
});

const sentParams = {
  workspaceId: int,
  userId: int,
  tokenHash: bytes,
  now: time,
  scheduledAt: nullable(time),
  expiresAt: time,
} as const;

/** Replaces an expired invitation. Returns no row if the address has a pending invitation. */
const insertInvitation = statement('insert-invitation', {
  params: { ...sentParams, email: text, role: text },
  returns: invitationColumns,
  sql: `
    with i as (
      insert into invitations as old (workspace_id, email, role, token_hash, invited_by, created_at, sent_at,
        scheduled_at, expires_at)
      values ($workspaceId, $email, $role, $tokenHash, $userId, $now, $now, $scheduledAt, $expiresAt)
      on conflict (workspace_id, email) where state = 'pending' do update
      set role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
        sent_at = excluded.sent_at, scheduled_at = excluded.scheduled_at, sends = old.sends + 1,
        expires_at = excluded.expires_at, admitted_at = null
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
      set token_hash = $tokenHash, invited_by = $userId, sent_at = $now, scheduled_at = $scheduledAt,
        sends = sends + 1, expires_at = $expiresAt, admitted_at = null
      where workspace_id = $workspaceId and id = $invitationId and state = 'pending'
        and (scheduled_at is null or scheduled_at <= $now)
      returning *)
    select ${invitationFields} from i left join users u on u.id = i.invited_by`,
});

/** What the mail says of the workspace besides its name. */
type About = {
  /** The invited person has not chosen one yet. */
  language: Language | null;
  /** The name of the owner, if it is the workspace that was created with their account. */
  personalOwner: string | null;
};

/**
 * Sends an invitation to an address, on a later day if the workspace or the actor has sent too many. Throws 403 if the
 * actor is no longer owner or admin. Throws 409 if a member has the address, if the address is already invited, or if
 * the workspace has reached its quota of members. Throws 429 if too many wait, or too many were sent to the mailbox.
 */
export function createInvitation(
  services: Dependencies,
  actor: Actor,
  { email, role }: CreateInvitationInput,
): Promise<Invitation> {
  return transact(services.db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const { isMember, about, scheduledAt } = await findSlot(services, tx, actor, email);
    if (isMember) throw conflict('A member of the workspace has this email address');
    await requireFreeRow(tx, services.settings.quotas, 'members', workspace.id);
    const { token, params } = newLink(services, actor, scheduledAt);
    const [invitation] = await sqlIn(tx).run(insertInvitation, { ...params, email, role });
    if (!invitation) throw conflict('This address is already invited: send the invitation again, or revoke it');
    const link = { token, scheduledAt };
    await deliver(services, tx, { workspace, about, actor, invitation, link, action: 'invitation.created' });
    return invitation;
  });
}

/**
 * Resends a pending or expired invitation with a new link, on a later day as `createInvitation` does. The old link
 * stops working at once. Throws 403, 404 "Invitation not found", 409 if the invitation was already accepted or revoked
 * or still waits, and 429.
 */
export function resendInvitation(
  services: Dependencies,
  actor: Actor,
  { invitationId }: InvitationInput,
): Promise<Invitation> {
  return transact(services.db, async (tx) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const { workspaceId } = actor;
    const found = await tx.invitation.findUnique({
      where: { workspaceId_id: { workspaceId, id: invitationId } },
      select: { email: true },
    });
    const { about, scheduledAt } = await findSlot(services, tx, actor, found?.email ?? '');
    const { token, params } = newLink(services, actor, scheduledAt);
    const [invitation] = await sqlIn(tx).run(renewInvitation, { ...params, invitationId });
    if (!invitation) return refuseChange(sqlIn(tx), workspace.id, { invitationId });
    const link = { token, scheduledAt };
    await deliver(services, tx, { workspace, about, actor, invitation, link, action: 'invitation.resent' });
    return invitation;
  });
}

/**
 * Finds when the next message may be sent: null for now, or a day after as many as the limit allows were sent or will
 * be. So no 24 hours have more, also with concurrent calls: until the transaction ends, other invitations of the user
 * wait, as those of the locked workspace do. Throws 429 if that is too far away.
 */
async function findSlot(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  tx: Tx,
  { workspaceId, userId }: Actor,
  email: string,
): Promise<{ isMember: boolean; about: About; scheduledAt: Date | null }> {
  await sqlIn(tx).run(lockInviter, { userId });
  const now = clock.now();
  const { invitationsPerDay: perDay } = settings;
  const { fullSince, waiting, isMember, ...about } = onlyRow(
    await sqlIn(tx).run(findLimits, {
      workspaceId,
      userId,
      email,
      mailbox: toMailbox(email),
      perDay,
      now,
      since: new Date(now.getTime() - DAY_MS),
    }),
  );
  const found = { isMember, about };
  if (fullSince === null) return { ...found, scheduledAt: null };
  const scheduledAt = new Date(fullSince.getTime() + DAY_MS);
  if (scheduledAt.getTime() > now.getTime() + MAX_WAIT_DAYS * DAY_MS)
    throw tooManyRequests(
      `${perDay} invitations are sent in a day, and those of the next ${MAX_WAIT_DAYS} days already wait`,
      RETRY_SECONDS,
    );
  if (waiting >= MAX_WAITING) throw tooManyToMailbox();
  return { ...found, scheduledAt };
}

function tooManyToMailbox(): AppError {
  return tooManyRequests('Too many invitations were sent to this address: try again later', RETRY_SECONDS);
}

function newLink({ clock }: Pick<Services, 'clock'>, { workspaceId, userId }: Actor, scheduledAt: Date | null) {
  const token = createToken('lnm_');
  const now = clock.now();
  const expiresAt = new Date((scheduledAt ?? now).getTime() + LIFETIME_MS);
  return { token, params: { workspaceId, userId, tokenHash: hashToken(token), now, scheduledAt, expiresAt } };
}

type Delivery = {
  workspace: LockedWorkspace;
  about: About;
  actor: Actor;
  invitation: Invitation;
  link: { token: string; scheduledAt: Date | null };
  action: 'invitation.created' | 'invitation.resent';
};

/**
 * Queues the mail and adds an entry to the audit log. The entry does not contain the address, because it could not be
 * erased from the log later.
 */
async function deliver(
  services: Dependencies,
  tx: Tx,
  { workspace, about: { language, personalOwner }, actor, invitation: { id, email, role }, link, action }: Delivery,
): Promise<void> {
  const isQueued = await queueMail(services, sqlIn(tx), {
    kind: 'workspace-invitation',
    to: email,
    workspaceId: workspace.id,
    senderId: actor.userId,
    ...(link.scheduledAt && {
      dueAt: link.scheduledAt,
      expiresAt: new Date(link.scheduledAt.getTime() + LIFETIME_MS),
    }),
    data: {
      workspaceName: workspace.name,
      inviterName: actor.name,
      role,
      link: linkTo('/invitation', link.token),
      ...(language !== null && { language }),
      ...(personalOwner !== null && { personalOwner }),
    },
  });
  if (!isQueued) throw tooManyToMailbox();
  await recordAudit(tx, {
    workspaceId: workspace.id,
    at: services.clock.now(),
    actor: auditActorOf(actor),
    action,
    target: { kind: 'invitation', id },
    after: { role },
  });
}
