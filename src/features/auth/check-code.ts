/** The second factor of a sign-in: a code from an authenticator app, or a recovery code. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { hashToken } from '../../auth/tokens.ts';
import { findStep, isTotpCode } from '../../auth/totp.ts';
import { AppError, tooManyRequests } from '../../core/errors.ts';
import type { SealContext } from '../../core/sealing.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, nullable, type RowOf, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { Client } from './devices.ts';
import { reportMethodChange } from './sign-in-methods.ts';

/**
 * If the result is `refused`, the caller throws its error only after the commit, because a rollback would undo the
 * counting of the wrong code.
 */
export type CodeCheck =
  | { kind: 'not needed' }
  | { kind: 'accepted'; method: 'totp' | 'recovery_code' }
  | { kind: 'refused'; error: AppError };

const lockFactor = statement('lock-second-factor', {
  params: { userId: int },
  returns: {
    email: text,
    emailVerifiedAt: nullable(time),
    sealedSecret: bytes,
    lastStep: int,
    failures: int,
    blockedUntil: nullable(time),
  },
  sql: `
    select u.email, u.email_verified_at as "emailVerifiedAt", f.sealed_secret as "sealedSecret",
      f.last_step as "lastStep", f.failures, f.blocked_until as "blockedUntil"
    from users u join second_factors f on f.user_id = u.id
    where u.id = $userId and u.locked_at is null and f.confirmed_at is not null
    for share of u for update of f`,
});

type Factor = RowOf<typeof lockFactor>;

/**
 * Number of consecutive wrong codes that have no effect. Each further wrong code doubles the time during which codes
 * from the app are rejected, up to an hour. Three out of a million codes are valid at any time, so 24 guesses a day
 * have a 2.6% chance of success within a year.
 */
const FREE_FAILURES = 4;
const MAX_BLOCK_MINUTES = 60;

/**
 * Checks the second factor of a user whose password was correct. Locks the user, then the factor, so that a code is
 * accepted only once and every wrong code from the app counts. Strangers cannot lock a user out: this check requires
 * the password, and recovery codes work even while codes from the app are rejected.
 */
export async function checkCode(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  { userId, code, client }: { userId: number; code: string | undefined; client: Client },
): Promise<CodeCheck> {
  const [factor] = await sqlIn(tx).run(lockFactor, { userId });
  if (factor === undefined) return { kind: 'not needed' };
  if (code === undefined) return { kind: 'refused', error: codeRequired() };
  const entered = normalizeCode(code);
  if (!isTotpCode(entered)) return checkRecoveryCode(services, tx, { id: userId, ...factor }, entered, client);
  const now = services.clock.now();
  const blockedMs = (factor.blockedUntil?.getTime() ?? 0) - now.getTime();
  if (blockedMs > 0) return { kind: 'refused', error: tooManyCodes(Math.ceil(blockedMs / SECOND_MS)) };
  const secret = services.sealer.open(factor.sealedSecret, secondFactorSeal(userId));
  const lastStep = findStep(secret, entered, now, factor.lastStep);
  if (lastStep === null) return refuse(services, tx, { userId, failures: factor.failures + 1, client });
  await tx.secondFactor.update({ where: { userId }, data: { lastStep, failures: 0, blockedUntil: null } });
  return { kind: 'accepted', method: 'totp' };
}

/** The context for sealing the secret of a user's authenticator app. */
export function secondFactorSeal(userId: number): SealContext {
  return { owner: `user:${userId}`, purpose: 'second factor' };
}

/** Removes the spaces and hyphens that users copy along with a code. */
export function normalizeCode(code: string): string {
  return code.replace(/[\s-]/g, '').toUpperCase();
}

async function checkRecoveryCode(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  user: Factor & { id: number },
  entered: string,
  client: Client,
): Promise<CodeCheck> {
  const userId = user.id;
  const { count } = await tx.recoveryCode.deleteMany({ where: { userId, codeHash: hashToken(entered) } });
  // Wrong recovery codes do not count as failures: 80 random bits cannot be guessed.
  if (count === 0) {
    await recordWrongCode(tx, userId, client, 'recovery_code', services.clock.now());
    return { kind: 'refused', error: wrongCode() };
  }
  await tx.secondFactor.update({ where: { userId }, data: { failures: 0, blockedUntil: null } });
  await reportMethodChange(services, tx, user, { change: 'recovery-code-used', client });
  return { kind: 'accepted', method: 'recovery_code' };
}

async function refuse(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { userId, failures, client }: { userId: number; failures: number; client: Client },
): Promise<CodeCheck> {
  const at = clock.now();
  const minutes = failures > FREE_FAILURES ? Math.min(2 ** (failures - FREE_FAILURES - 1), MAX_BLOCK_MINUTES) : 0;
  const blockedUntil = minutes === 0 ? null : new Date(at.getTime() + minutes * MINUTE_MS);
  await tx.secondFactor.update({ where: { userId }, data: { failures, blockedUntil } });
  await recordWrongCode(tx, userId, client, 'totp', at);
  return { kind: 'refused', error: wrongCode() };
}

async function recordWrongCode(
  tx: Tx,
  userId: number,
  client: Client,
  method: 'totp' | 'recovery_code',
  at: Date,
): Promise<void> {
  await recordAccountEvent(tx, { userId, at, action: 'sign_in_failed', ...client, details: { method } });
}

function codeRequired(): AppError {
  return new AppError('SECOND_FACTOR_REQUIRED', 'code is required: send a code from your authenticator app');
}

function wrongCode(): AppError {
  return new AppError('SECOND_FACTOR_WRONG', 'code is wrong or was already used');
}

function tooManyCodes(seconds: number): AppError {
  return tooManyRequests(`Too many wrong codes: try again in ${seconds} s, or use a recovery code`, seconds);
}
