/**
 * Enables and disables the second factor of an account. Each function that changes it throws 401 SIGN_IN_EXPIRED if the
 * caller's session has ended.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { createTotpSecret, findStep, toBase32, toOtpauthUri } from '../../auth/totp.ts';
import { type AppError, badField, conflictForNow } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { normalizeCode, secondFactorSeal } from './check-code.ts';
import type { SessionCall } from './own-sessions.ts';
import { removeFactor } from './proofs.ts';
import type {
  ConfirmSecondFactorInput,
  RecoveryCodes,
  SecondFactor,
  SecondFactorSetup,
} from './second-factor-schemas.ts';
import { lockSessionUser } from './session-user.ts';
import { reportMethodChange } from './sign-in-methods.ts';

type Dependencies = Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>;
type Call = Pick<SessionCall, 'sessionId' | 'client'>;

const ISSUER = 'Lynxroom';
const RECOVERY_CODES = 10;
/** 80 bits, which cannot be guessed. They are 16 characters in base32. */
const RECOVERY_CODE_BYTES = 10;

export async function readSecondFactor(
  { db }: Pick<Services, 'db'>,
  { userId }: Pick<Caller, 'userId'>,
): Promise<SecondFactor> {
  const factor = await db.secondFactor.findUnique({
    where: { userId },
    select: { confirmedAt: true, _count: { select: { recoveryCodes: true } } },
  });
  const confirmedAt = factor?.confirmedAt ?? null;
  return {
    enabled: confirmedAt !== null,
    enabled_at: confirmedAt && toUnixSeconds(confirmedAt),
    recovery_codes: factor?._count.recoveryCodes ?? 0,
  };
}

/**
 * Creates a secret for an authenticator app. The secret has no effect until `confirmSecondFactor`, and another call
 * replaces it. Throws 409 if the second factor is already enabled.
 */
export function setUpSecondFactor(
  services: Dependencies,
  { sessionId }: Pick<Call, 'sessionId'>,
): Promise<SecondFactorSetup> {
  const { db, clock, sealer } = services;
  const secret = createTotpSecret();
  return transact(db, async (tx) => {
    const { id: userId, email } = await lockSessionUser(services, tx, sessionId);
    if (await hasSecondFactor(tx, userId)) throw alreadyEnabled();
    const data = { sealedSecret: sealer.seal(secret, secondFactorSeal(userId)), createdAt: clock.now() };
    await tx.secondFactor.upsert({ where: { userId }, create: { userId, ...data }, update: data });
    return { secret, otpauth_uri: toOtpauthUri({ secret, issuer: ISSUER, account: email }) };
  });
}

/**
 * Enables the second factor with the first code from the app, and returns recovery codes. Throws 400 for a wrong code,
 * and 409 if the second factor is already enabled or was not set up.
 */
export function confirmSecondFactor(
  services: Dependencies,
  { sessionId, client }: Call,
  { code }: ConfirmSecondFactorInput,
): Promise<RecoveryCodes> {
  return transact(services.db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const userId = user.id;
    const factor = await tx.secondFactor.findUnique({ where: { userId } });
    if (factor === null) throw conflictForNow('Set up the second factor first: POST /api/auth/second-factor');
    if (factor.confirmedAt !== null) throw alreadyEnabled();
    const now = services.clock.now();
    const secret = services.sealer.open(factor.sealedSecret, secondFactorSeal(userId));
    const lastStep = findStep(secret, normalizeCode(code), now, 0);
    if (lastStep === null) throw badField('code', 'code is wrong');
    await tx.secondFactor.update({ where: { userId }, data: { confirmedAt: now, lastStep } });
    await tx.session.updateMany({ where: { id: sessionId }, data: { secondFactorAt: now } });
    await reportMethodChange(services, tx, user, { change: 'second-factor-on', client });
    return { recovery_codes: await replaceRecoveryCodes(tx, userId) };
  });
}

/** Replaces the recovery codes. Throws 409 if the second factor is not enabled. */
export function createRecoveryCodes(services: Dependencies, { sessionId, client }: Call): Promise<RecoveryCodes> {
  return transact(services.db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const userId = user.id;
    if (!(await hasSecondFactor(tx, userId))) throw conflictForNow('The second factor is not enabled');
    await reportMethodChange(services, tx, user, { change: 'recovery-codes-created', client });
    return { recovery_codes: await replaceRecoveryCodes(tx, userId) };
  });
}

/** Disables the second factor, or cancels its setup. Does nothing if there is none. */
export function removeSecondFactor(services: Dependencies, { sessionId, client }: Call): Promise<{ ok: true }> {
  return transact(services.db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const userId = user.id;
    const wasEnabled = await hasSecondFactor(tx, userId);
    await removeFactor(tx, userId);
    if (wasEnabled) await reportMethodChange(services, tx, user, { change: 'second-factor-off', client });
    return { ok: true };
  });
}

/** Whether the second factor of an account is enabled. */
export async function hasSecondFactor(tx: Tx, userId: number): Promise<boolean> {
  return (await tx.secondFactor.count({ where: { userId, NOT: { confirmedAt: null } } })) > 0;
}

/** Only the response contains the codes; the database stores their hashes. */
async function replaceRecoveryCodes(tx: Tx, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => toBase32(randomBytes(RECOVERY_CODE_BYTES)));
  await tx.recoveryCode.deleteMany({ where: { userId } });
  await tx.recoveryCode.createMany({ data: codes.map((code) => ({ userId, codeHash: hashToken(code) })) });
  return codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-'));
}

function alreadyEnabled(): AppError {
  return conflictForNow('The second factor is already enabled: switch it off first');
}
