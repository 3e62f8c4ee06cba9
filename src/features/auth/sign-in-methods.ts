/** The sign-in methods of a user: a password, accounts at OpenID providers, and passkeys. */
import { type AccountAction, recordAccountEvent } from '../../audit/account-events.ts';
import type { OpenidProviders } from '../../auth/openid-providers.ts';
import { conflict, unauthorized } from '../../core/errors.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, nullable, type RowOf, statement, text, texts, time } from '../../db/statements.ts';
import type { SignInChange } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import type { Client } from './devices.ts';
import { removeFactor, removeIdentities } from './proofs.ts';

const lockStatement = statement('lock-user', {
  params: { userId: int },
  returns: {
    id: int,
    name: text,
    email: text,
    createdAt: time,
    passwordHash: nullable(text),
    emailVerifiedAt: nullable(time),
    recordingMail: bool,
    lockedAt: nullable(time),
  },
  sql: `
    select id, name, email, created_at as "createdAt", password_hash as "passwordHash",
      email_verified_at as "emailVerifiedAt", recording_mail as "recordingMail", locked_at as "lockedAt"
    from users where id = $userId for no key update`,
});

export type LockedUser = RowOf<typeof lockStatement>;

/**
 * Locks the row of a user before their sign-in methods change. These changes run one at a time, and wait for sessions
 * that are being started. Throws 401 if the account has been deleted.
 */
export async function lockUser(tx: Tx, userId: number): Promise<LockedUser> {
  const [user] = await sqlIn(tx).run(lockStatement, { userId });
  if (user === undefined) throw unauthorized();
  return user;
}

const findLeft = statement('find-sign-in-methods', {
  params: { userId: int },
  returns: { isSignInPossible: bool, issuers: texts },
  sql: `
    select password_hash is not null or exists (select from passkeys where user_id = $userId) as "isSignInPossible",
      array(select issuer from openid_identities where user_id = $userId) as issuers
    from users where id = $userId`,
});

/**
 * Throws 409 if no sign-in method is left. Call it after removing a method, with the user locked. Accounts at providers
 * that are no longer in the settings do not count.
 */
export async function requireSignInMethod(
  tx: Tx,
  userId: number,
  openid: Pick<OpenidProviders, 'findByIssuer'>,
): Promise<void> {
  const [left] = await sqlIn(tx).run(findLeft, { userId });
  const { isSignInPossible = false, issuers = [] } = left ?? {};
  if (!isSignInPossible && !issuers.some((issuer) => openid.findByIssuer(issuer) !== null))
    throw conflict('This is the last sign-in method of the account: add another one first');
}

/** The sign-in methods that were removed from an account. */
export type RemovedMethods = { passkeys: number; identities: number; second_factor: boolean };

/** Removes every sign-in method except the password. Call it with the user locked. */
export async function removeSignInMethods(tx: Tx, userId: number): Promise<RemovedMethods> {
  const { count: passkeys } = await tx.passkey.deleteMany({ where: { userId } });
  return { passkeys, identities: await removeIdentities(tx, userId), second_factor: await removeFactor(tx, userId) };
}

const actions = {
  'second-factor-on': 'second_factor_enabled',
  'second-factor-off': 'second_factor_disabled',
  'recovery-codes-created': 'recovery_codes_created',
  'recovery-code-used': 'recovery_code_used',
  'passkey-added': 'passkey_added',
  'passkey-removed': 'passkey_removed',
  'provider-linked': 'identity_linked',
  'provider-unlinked': 'identity_unlinked',
} as const satisfies Record<SignInChange, AccountAction>;

/**
 * Records a change to the sign-in methods in the account log, and notifies the user by mail. `name` is the name of the
 * passkey or provider.
 */
export async function reportMethodChange(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  user: { id: number; email: string; emailVerifiedAt: Date | null },
  { change, name, client }: { change: SignInChange; name?: string; client: Client },
): Promise<void> {
  const at = services.clock.now();
  await recordAccountEvent(tx, {
    userId: user.id,
    at,
    action: actions[change],
    ...client,
    details: name === undefined ? {} : { name },
  });
  // Mail to an unverified address must not contain text that the user has chosen: a stranger may own the address.
  const data = user.emailVerifiedAt === null || name === undefined ? { change } : { change, name };
  await queueMail(services, sqlIn(tx), { kind: 'sign-in-methods-changed', to: user.email, data });
}
