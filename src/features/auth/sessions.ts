/** Signing in and out. */
import type { Requester } from '../../auth/passwords.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { DAY_MS, toUnixSeconds } from '../../core/time.ts';
import { runWrite, type Tx } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { LoginInput, SignedIn, User } from './schemas.ts';

type UserRow = { id: number; name: string; email: string; createdAt: Date };

export type SignInMethod = 'password' | 'totp' | 'recovery_code' | 'passkey' | 'oidc' | 'registration';

/** The address and the header User-Agent of a caller. Null if they are not known. */
export type Client = { address: string | null; userAgent: string | null };

/** The service itself, which creates the demo account. */
export const noClient: Client = { address: null, userAgent: null };

/** How somebody signs in, and from where. */
export type SignIn = Client & { method: SignInMethod };

/** Longer texts of User-Agent are truncated. */
const MAX_USER_AGENT_LENGTH = 300;

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    created_at: toUnixSeconds(row.createdAt),
  };
}

/**
 * Starts a session for a user who has proved who they are, in the transaction `tx`. Only the response contains the
 * token. Throws 401 if the account is locked, or if the password was changed or the account deleted in the meantime, so
 * that no session survives a password change or a lock.
 */
export async function startSession(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  tx: Tx,
  user: UserRow & { passwordHash: string | null },
  { method, address, userAgent }: SignIn,
): Promise<SignedIn> {
  const token = createToken('lns_');
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + settings.sessionDays * DAY_MS);
  const started = await tx.$executeRaw`
    insert into sessions (
      user_id, token_hash, created_at, expires_at, method, authenticated_at, last_used_at, address, user_agent)
    select id, ${hashToken(token)}::bytea, ${createdAt}::timestamptz, ${expiresAt}::timestamptz, ${method},
      ${createdAt}::timestamptz, ${createdAt}::timestamptz, ${address},
      ${userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null}
    from users
    where id = ${user.id} and password_hash is not distinct from ${user.passwordHash}::text and locked_at is null
    for share`;
  if (started === 0) throw wrongCredentials();
  return { user: toUser(user), token, expires_at: toUnixSeconds(expiresAt) };
}

function wrongCredentials(): AppError {
  return new AppError('UNAUTHORIZED', 'Wrong email or password');
}

/**
 * Verifies the password and starts a session. Throws 401 "Wrong email or password", with the same response and timing
 * for an unknown email address and a wrong password. A locked account gets the same response, so that only its operator
 * and its owner know of the lock.
 */
export async function login(
  services: Services,
  input: LoginInput,
  requester: Requester,
  client: Client,
): Promise<SignedIn> {
  const user = await services.db.user.findUnique({ where: { email: input.email } });
  const isCorrect = await services.passwords.isCorrect(input.password, user?.passwordHash ?? null, requester);
  if (user === null || !isCorrect) throw wrongCredentials();
  return startSession(services, services.db, user, { ...client, method: 'password' });
}

/** Ends a session. */
export async function logout({ db }: Pick<Services, 'db'>, sessionId: number): Promise<{ ok: true }> {
  await runWrite(db, (tx) => tx.session.deleteMany({ where: { id: sessionId } }));
  return { ok: true };
}

/** Deletes sessions that have expired, or were not used for too long. */
export async function deleteExpiredSessions({
  db,
  clock,
  settings,
}: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const now = clock.now();
  const idleSince = new Date(now.getTime() - settings.sessionIdleDays * DAY_MS);
  await db.session.deleteMany({ where: { OR: [{ expiresAt: { lte: now } }, { lastUsedAt: { lte: idleSince } }] } });
}
