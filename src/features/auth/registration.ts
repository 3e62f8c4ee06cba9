/** Decides who may create an account, by the setting of the operator (`REGISTRATION`). */
import { timingSafeEqual } from 'node:crypto';
import { hashToken, isLinkToken, isToken } from '../../auth/tokens.ts';
import { forbidden } from '../../core/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, bytes, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** What a person shows who wants an account. */
export type Admission = {
  /** The token of an invitation by mail or of an invite link. */
  invitation?: string | undefined;
  /** An address that is known to be the person's own. */
  provenAddress?: string | undefined;
  setupToken?: string | undefined;
  /** Whether the request comes from the machine that runs the service. */
  isLocal?: boolean;
};

const findInvitation = statement('find-admission', {
  params: { inviteHash: nullable(bytes), mailHash: nullable(bytes), address: nullable(text), now: time },
  returns: { isInvited: bool },
  sql: `
    select exists (select from workspaces w where w.invite_hash = $inviteHash)
      or exists (select from invitations i where i.token_hash = $mailHash and i.expires_at > $now)
      or exists (
        select from invitations i where i.email = $address and i.state = 'pending' and i.expires_at > $now
      ) as "isInvited"`,
});

// A deleted account leaves the sequence behind, so nobody gets in by waiting until the last one is gone.
const findFirst = statement('find-whether-accounts-existed', {
  params: {},
  returns: { isFirst: bool },
  sql: `
    select not exists (select from users) and not (select s.is_called from users_id_seq s) as "isFirst"
    from pg_advisory_xact_lock(hashtext('first account'))`,
});

/**
 * Throws 403 unless the operator lets this person create an account. Call it in the transaction that creates it: of
 * several first accounts at once, one is created.
 */
export async function requireAdmission(
  { settings, clock }: Pick<Services, 'settings' | 'clock'>,
  sql: Sql,
  { invitation, provenAddress, setupToken, isLocal = false }: Admission,
): Promise<void> {
  const { registration, setupToken: expected } = settings;
  if (registration === 'open') return;
  const isOperator = isLocal || (expected !== null && setupToken !== undefined && isSame(expected, setupToken));
  if (isOperator && onlyRow(await sql.run(findFirst, {})).isFirst) return;
  if (registration === 'closed') throw forbidden('This service takes no new accounts');
  const inviteHash = invitation !== undefined && isLinkToken(invitation) ? hashToken(invitation) : null;
  const mailHash = invitation !== undefined && isToken('lnm_', invitation) ? hashToken(invitation) : null;
  const params = { inviteHash, mailHash, address: provenAddress ?? null, now: clock.now() };
  if (!onlyRow(await sql.run(findInvitation, params)).isInvited)
    throw forbidden('This service takes new accounts by invitation only: open the link of your invitation');
}

function isSame(expected: string, given: string): boolean {
  return timingSafeEqual(hashToken(expected), hashToken(given));
}
