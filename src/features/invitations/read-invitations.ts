/** Reads the invitations of a workspace, or one invitation by the token of its link. */

import type { Actor } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { DAY_MS, toUnixSeconds } from '../../core/time.ts';
import { type Database, runWrite } from '../../db/client.ts';
import { creatorNameOf, flagOf, secondsOf } from '../../db/columns.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bytes, float, int, json, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type BrandingRow, brandingOf, toBranding } from '../branding/public-branding.ts';
import type {
  Invitation,
  InvitationInput,
  InvitationPreview,
  InvitationState,
  InvitationTokenInput,
  InvitedRole,
} from './schemas.ts';

const KEPT_MS = 30 * DAY_MS;

/** The types of the columns that `invitationFields` selects. */
export const invitationColumns = {
  id: int,
  email: text,
  role: oneOf<InvitedRole>(),
  state: oneOf<InvitationState>(),
  invited_by: nullable(int),
  invited_by_name: text,
  accepted_by: nullable(int),
  created_at: float,
  sent_at: float,
  scheduled_at: nullable(float),
  expires_at: float,
} as const;

/** Whether the mail of an invitation `i` that is pending was refused, or could not be delivered. */
const hasFailed = `exists (
        select from mail_messages m
        where m.to_address = i.email and m.kind = 'workspace-invitation' and m.created_at >= i.sent_at
          and m.workspace_id = i.workspace_id and m.state = 'failed')`;

/** SQL for the time at which the mail of the invitation `alias` is due. `scheduled_at` may be of an earlier link. */
function dueTimeOf(alias: string): string {
  return `greatest(${alias}.sent_at, ${alias}.scheduled_at)`;
}

/** SQL columns of an invitation `i` with its sender `u`, at the time `$now`. */
export const invitationFields = `i.id, i.email, i.role,
      case when i.state <> 'pending' then i.state when i.expires_at <= $now then 'expired'
        when ${hasFailed} then 'failed' else 'pending' end as state,
      i.invited_by, ${creatorNameOf('u.name')} as invited_by_name, i.accepted_by,
      ${secondsOf('i.created_at')} as created_at, ${secondsOf(dueTimeOf('i'))} as sent_at,
      case when i.state = 'pending' and i.scheduled_at > $now then ${secondsOf('i.scheduled_at')} end as scheduled_at,
      ${secondsOf('i.expires_at')} as expires_at`;

const invitationsOf = pagedList('list-invitations', {
  order: byTime('i.created_at', 'i.id', 'desc'),
  params: { workspaceId: int, now: time },
  returns: { ...invitationColumns, ...timeKey },
  sql: ({ after, window }) => `
    select ${invitationFields}, ${timeKeyOf('i.created_at')}
    from invitations i left join users u on u.id = i.invited_by
    where i.workspace_id = $workspaceId ${after}
    ${window}`,
});

/** Lists the invitations of a workspace, newest first. */
export async function listInvitations(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  page: ListPageInput,
): Promise<Page<Invitation>> {
  const params = { workspaceId, now: clock.now() };
  const { entries, next_cursor } = await readPage(db.sql, invitationsOf, params, page, [workspaceId]);
  return { entries: entries.map(({ page_key, ...invitation }) => invitation), next_cursor };
}

const findByToken = statement('find-invitation-by-token', {
  params: { tokenHash: bytes },
  returns: {
    id: int,
    workspace_id: int,
    workspace_name: text,
    is_personal: int,
    owner_name: text,
    email: text,
    role: oneOf<InvitedRole>(),
    invited_by_name: text,
    expires_at: time,
    branding: json<BrandingRow>('json'),
  },
  sql: `
    select i.id, i.workspace_id, w.name as workspace_name, ${flagOf('w.is_personal')} as is_personal,
      o.name as owner_name, i.email, i.role, ${creatorNameOf('u.name')} as invited_by_name, i.expires_at,
      ${brandingOf('w')} as branding
    from invitations i join workspaces w on w.id = i.workspace_id join users o on o.id = w.owner_id
      left join users u on u.id = i.invited_by
    where i.token_hash = $tokenHash`,
});

/**
 * Finds the pending invitation with this token, even if it has expired. Throws 404 "Invitation not found" if it was
 * accepted or revoked, because its token is then deleted.
 */
export async function findInvitation(sql: Sql, token: string) {
  const [found] = isToken('lnm_', token) ? await sql.run(findByToken, { tokenHash: hashToken(token) }) : [];
  if (!found) throw notFound('Invitation');
  return found;
}

/** Returns the invitation for anyone with its link. Throws 404 "Invitation not found". */
export async function lookUpInvitation(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { token }: InvitationTokenInput,
  origin: string,
): Promise<InvitationPreview> {
  const { id, workspace_id, expires_at, branding, ...shown } = await findInvitation(db.sql, token);
  return {
    ...shown,
    expires_at: toUnixSeconds(expires_at),
    is_expired: expires_at <= clock.now() ? 1 : 0,
    branding: toBranding(branding, origin),
  };
}

const findState = statement('find-invitation', {
  params: { workspaceId: int, invitationId: int },
  returns: { state: text },
  sql: 'select state from invitations where workspace_id = $workspaceId and id = $invitationId',
});

/** Throws 404 if the invitation does not exist. Otherwise throws 409: it was already accepted or revoked, or waits. */
export async function refuseChange(sql: Sql, workspaceId: number, { invitationId }: InvitationInput): Promise<never> {
  const [found] = await sql.run(findState, { workspaceId, invitationId });
  if (!found) throw notFound('Invitation');
  if (found.state === 'pending') throw conflict('The invitation has not been sent yet: it waits for its day');
  throw conflict(`The invitation was already ${found.state === 'accepted' ? 'accepted' : 'revoked'}`);
}

/** Deletes invitations in any state, a month after their expiry. */
export async function pruneInvitations({ db, clock }: { db: Database; clock: Services['clock'] }): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_MS);
  const where = { expiresAt: { lt: before } };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(db, (tx) => tx.invitation.deleteMany({ where, limit }));
    return count;
  });
}
