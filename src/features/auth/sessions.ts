/** Signs users in. */

import { recordAccountEvent } from '../../audit/account-events.ts';
import { idleSince } from '../../auth/identify.ts';
import type { Requester } from '../../auth/passwords.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { DAY_MS, toUnixSeconds } from '../../core/time.ts';
import { runWrite, type Tx, transact } from '../../db/client.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { recordFailedSignIn } from './account-log.ts';
import { checkCode } from './check-code.ts';
import { type Client, describeDevice, forgetDevices, recordDevice } from './devices.ts';
import type { LoginInput, SignedIn, SignInMethod, User } from './schemas.ts';

type UserRow = {
  id: number;
  name: string;
  email: string;
  emailVerifiedAt: Date | null;
  recordingMail: boolean;
  createdAt: Date;
};

export type { Client, SignInMethod };

/** The client when the service itself creates the demo account. */
export const noClient: Client = { address: null, userAgent: null };

/** The method of a sign-in, the client that it comes from, and whether it created the account (`isRegistration`). */
export type SignIn = Client & {
  method: SignInMethod;
  /** The OpenID provider at which the person signed in. */
  issuer?: string;
  isRegistration?: boolean;
};

/** Proves two factors: something that the person has, and something that they know or are. */
export function isSecondFactor(method: SignInMethod): boolean {
  return method === 'totp' || method === 'recovery_code' || method === 'passkey';
}

/** The names of the sign-in methods, as used in mail. */
const methodNames: Record<SignInMethod, string> = {
  password: 'password',
  totp: 'password and authenticator app',
  recovery_code: 'password and recovery code',
  passkey: 'passkey',
  oidc: 'another provider',
  registration: 'registration',
  local_link: 'link of this machine',
};

/**
 * A sign-in beyond this limit ends the oldest sessions. Concurrent sign-ins can exceed the limit until the next
 * sign-in.
 */
export const MAX_SESSIONS = 100;

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    email_verified: row.emailVerifiedAt !== null,
    recording_mail: row.recordingMail,
    created_at: toUnixSeconds(row.createdAt),
  };
}

/** The insert waits for a password change in progress. The delete runs after it, but does not see the new session. */
const insertSession = statement('start-session', {
  params: {
    userId: int,
    tokenHash: bytes,
    createdAt: time,
    expiresAt: time,
    method: oneOf<SignInMethod>(),
    address: nullable(text),
    userAgent: nullable(text),
    secondFactorAt: nullable(time),
    issuer: nullable(text),
    passwordHash: nullable(text),
  },
  returns: { id: int },
  sql: `
    with ended as (
      delete from sessions where user_id = $userId and id in (
        select id from sessions where user_id = $userId
        order by created_at desc, id desc offset ${MAX_SESSIONS - 1}))
    insert into sessions (
      user_id, token_hash, created_at, expires_at, method, authenticated_at, last_used_at, address, user_agent,
      second_factor_at, openid_issuer)
    select id, $tokenHash, $createdAt, $expiresAt, $method, $createdAt, $createdAt, $address, $userAgent,
      $secondFactorAt, $issuer
    from users
    where id = $userId and password_hash is not distinct from $passwordHash and locked_at is null
    for share
    returning id`,
});

/**
 * Starts a session for a user whose identity is verified, in the transaction `tx`. Only the response contains the
 * token. If the user has too many sessions, the oldest ones end. Throws 401 if the account was locked or deleted, or
 * its password changed, in the meantime, so that no session survives a password change or a lock. For passkeys and
 * providers, this is SIGN_IN_REFUSED; for passwords, it is the error for a wrong password.
 */
export async function startSession(
  services: Pick<Services, 'clock' | 'sealer' | 'settings'>,
  tx: Tx,
  user: UserRow & { passwordHash: string | null },
  signIn: SignIn,
): Promise<SignedIn> {
  const { method, address, userAgent, issuer = null } = signIn;
  const token = createToken('lns_');
  const createdAt = services.clock.now();
  const expiresAt = new Date(createdAt.getTime() + services.settings.sessionDays * DAY_MS);
  const { id: userId, passwordHash } = user;
  const session = { userId, tokenHash: hashToken(token), createdAt, expiresAt, method, address, userAgent };
  const proof = { secondFactorAt: isSecondFactor(method) ? createdAt : null, issuer };
  const [started] = await sqlIn(tx).run(insertSession, { ...session, ...proof, passwordHash });
  if (started === undefined)
    throw ['passkey', 'oidc', 'local_link'].includes(method) ? accountChanged() : wrongCredentials();
  await reportSignIn(services, tx, user, signIn, createdAt);
  return { user: toUser(user), token, expires_at: toUnixSeconds(expiresAt) };
}

/** Adds a sign-in to the account log, and notifies the user if it is the first from this device. */
async function reportSignIn(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  user: UserRow,
  { method, address, userAgent, isRegistration = false }: SignIn,
  at: Date,
): Promise<void> {
  const action = isRegistration ? 'registered' : 'signed_in';
  await recordAccountEvent(tx, { userId: user.id, at, action, address, userAgent, details: { method } });
  const isNew = await recordDevice(services, tx, user.id, { address, userAgent });
  if (!isNew || isRegistration) return;
  const data = { method: methodNames[method], address, userAgent: describeDevice(userAgent), at: toUnixSeconds(at) };
  await queueMail(services, sqlIn(tx), { kind: 'new-sign-in', to: user.email, data });
}

function accountChanged(): AppError {
  return new AppError('SIGN_IN_REFUSED', 'The account has just been changed: sign in again');
}

function wrongCredentials(): AppError {
  return new AppError('UNAUTHORIZED', 'Wrong email or password');
}

/**
 * Verifies the password, and the code if the account has a second factor, then starts a session. Throws 401 "Wrong
 * email or password", with the same response and timing for an unknown email address and a wrong password. A locked
 * account gets the same response, so that a lock is not visible to strangers. If the password is correct, but the code
 * is missing or wrong, throws 401 SECOND_FACTOR_REQUIRED or SECOND_FACTOR_WRONG, and 429 after many wrong codes.
 */
export async function login(
  services: Services,
  input: LoginInput,
  requester: Requester,
  client: Client,
): Promise<SignedIn> {
  const user = await services.db.user.findUnique({ where: { email: input.email } });
  const isCorrect = await services.passwords.isCorrect(input.password, user?.passwordHash ?? null, requester);
  if (user !== null && !isCorrect) recordFailedSignIn(services, user.id, client);
  if (user === null || !isCorrect) throw wrongCredentials();
  const result = await transact(services.db, async (tx) => {
    const check = await checkCode(services, tx, { userId: user.id, code: input.code, client });
    if (check.kind === 'refused') return check.error;
    return startSession(services, tx, user, {
      ...client,
      method: check.kind === 'accepted' ? check.method : 'password',
    });
  });
  if (result instanceof AppError) throw result;
  return result;
}

/**
 * Deletes sessions that have expired or have been idle for too long, and forgets devices that have not been used for a
 * long time.
 */
export async function deleteExpiredSessions(services: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const now = services.clock.now();
  const where = { OR: [{ expiresAt: { lte: now } }, { lastUsedAt: { lte: idleSince(services.settings, now) } }] };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(services.db, (tx) => tx.session.deleteMany({ where, limit }));
    return count;
  });
  await forgetDevices(services);
}
