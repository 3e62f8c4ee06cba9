/** Decides who may create an account, by the settings of the operator (`REGISTRATION`, `REGISTRATION_DOMAINS`). */
import { timingSafeEqual } from 'node:crypto';
import { hashToken, isLinkToken, isToken } from '../../auth/tokens.ts';
import { forbidden } from '../../core/errors.ts';
import { mailDomainOf } from '../../core/mail-domains.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, bytes, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** What a person shows who wants an account. */
export type Admission = {
  /** The token of an invitation by mail or of an invite link. */
  invitation?: string | undefined;
  /** The address of the account. */
  address: string;
  /** Whether the address is known to be the person's own. */
  isProven?: boolean;
  setupToken?: string | undefined;
  /** Whether the request comes from the machine that runs the service. */
  isLocal?: boolean;
};

/** Whether only the domain of the address admits the person. The account then works once that is confirmed. */
export type Admitted = { admittedByDomain: boolean };

type Dependencies = Pick<Services, 'settings' | 'clock'>;

const admissionParams = { inviteHash: nullable(bytes), mailHash: nullable(bytes), address: nullable(text), now: time };

const unspent = "i.state = 'pending' and i.expires_at > $now and i.admitted_at is null";
const unspentInvitations = `
  select i.workspace_id, i.id from invitations i where i.token_hash = $mailHash and ${unspent}
  union all
  select i.workspace_id, i.id from invitations i where i.email = $address and ${unspent}`;

const findInvitation = statement('find-admission', {
  params: admissionParams,
  returns: { isInvited: bool },
  sql: `
    select exists (select from workspaces w where w.invite_hash = $inviteHash)
      or exists (${unspentInvitations}) as "isInvited"`,
});

/** An invite link admits any number of people, so with one no invitation is spent. */
const spendInvitation = statement('spend-admission', {
  params: admissionParams,
  returns: { isInvited: bool },
  sql: `
    with link as (select from workspaces w where w.invite_hash = $inviteHash),
    spent as (
      update invitations i set admitted_at = $now
      where (i.workspace_id, i.id) = (select workspace_id, id from (${unspentInvitations}) found limit 1)
        and ${unspent} and not exists (select from link)
      returning i.id)
    select exists (select from link) or exists (select from spent) as "isInvited"`,
});

const findSpent = statement('find-spent-admission', {
  params: { mailHash: nullable(bytes) },
  returns: { isSpent: bool },
  sql: `
    select exists (
      select from invitations where token_hash = $mailHash and admitted_at is not null) as "isSpent"`,
});

/** Held until the first account is created or refused. */
const lockFirst = statement('lock-first-account', {
  params: {},
  returns: { isLocked: bool },
  sql: `select true as "isLocked" from pg_advisory_xact_lock(hashtext('first account'))`,
});

/** The row of `account_history` stays when accounts are deleted: nobody gets in once the last one is gone. */
const readFirst = statement('read-whether-accounts-existed', {
  params: {},
  returns: { isFirst: bool },
  sql: `select not exists (select from account_history) as "isFirst"`,
});

/**
 * Whether no account has ever existed, so that this person may create the first one. Only the machine that runs the
 * service learns it: from elsewhere, nobody can ask whether a service is still without an owner.
 */
export async function awaitsFirstAccount(
  { db, settings }: Pick<Services, 'db' | 'settings'>,
  { isLocal }: Required<Pick<Admission, 'isLocal'>>,
): Promise<boolean> {
  return isLocal && settings.startsLocally && onlyRow(await db.sql.run(readFirst, {})).isFirst;
}

/** Throws 403 unless the operator lets this person create an account. Changes nothing. */
export function checkAdmission(services: Dependencies, sql: Sql, admission: Admission): Promise<Admitted> {
  return requireAdmission(services, sql, admission, findInvitation);
}

/**
 * As `checkAdmission`, in the transaction that creates the account. An invitation by mail admits one account: it is
 * spent with the commit. Of several first accounts at once, one is created.
 */
export function spendAdmission(services: Dependencies, sql: Sql, admission: Admission): Promise<Admitted> {
  return requireAdmission(services, sql, admission, spendInvitation);
}

async function requireAdmission(
  { settings, clock }: Dependencies,
  sql: Sql,
  { invitation, address, isProven = false, setupToken, isLocal = false }: Admission,
  admit: typeof findInvitation,
): Promise<Admitted> {
  const { registration, registrationDomains, setupToken: expected, startsLocally } = settings;
  const admitted = { admittedByDomain: false };
  if (registration === 'open') return admitted;
  const hasToken = expected !== null && setupToken !== undefined && isSame(expected, setupToken);
  if ((hasToken || (isLocal && startsLocally)) && (await isFirstAccount(sql))) return admitted;
  if (registration === 'closed') throw forbidden('This service takes no new accounts');
  const inviteHash = invitation !== undefined && isLinkToken(invitation) ? hashToken(invitation) : null;
  const mailHash = invitation !== undefined && isToken('lnm_', invitation) ? hashToken(invitation) : null;
  const params = { inviteHash, mailHash, address: isProven ? address : null, now: clock.now() };
  if (onlyRow(await sql.run(admit, params)).isInvited) return admitted;
  if (registrationDomains.includes(mailDomainOf(address))) return { admittedByDomain: true };
  if (onlyRow(await sql.run(findSpent, { mailHash })).isSpent)
    throw forbidden('An account was already created with this invitation: sign in, or ask for another invitation');
  throw forbidden('This service takes new accounts by invitation only: open the link of your invitation');
}

/** Reads after the lock: a statement that waited for it would not see the account that was created meanwhile. */
async function isFirstAccount(sql: Sql): Promise<boolean> {
  await sql.run(lockFirst, {});
  return onlyRow(await sql.run(readFirst, {})).isFirst;
}

function isSame(expected: string, given: string): boolean {
  return timingSafeEqual(hashToken(expected), hashToken(given));
}
