import { recordAccountEvent } from '../../audit/account-events.ts';
import type { Requester } from '../../auth/passwords.ts';
import { AppError, badField, unauthorized } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { recordFailedSignIn } from './account-log.ts';
import { checkCode } from './check-code.ts';
import type { SessionCall } from './own-sessions.ts';
import type { ReauthenticateInput } from './schemas.ts';
import { isSecondFactor, type SignIn } from './sessions.ts';

/**
 * Verifies the password, and the code if the account has a second factor. Then records the confirmed identity in the
 * session. Throws 400 if the password is missing or wrong or the account has none, 401 if the code is missing or wrong
 * or the session has ended in the meantime, and 429 after many wrong codes.
 */
export async function reauthenticate(
  services: Pick<Services, 'db' | 'clock' | 'log' | 'passwords' | 'sealer'>,
  { caller: { userId }, sessionId, requester, client }: SessionCall & { requester: Requester },
  { password, code }: ReauthenticateInput,
): Promise<{ ok: true }> {
  const user = await services.db.user.findUnique({ where: { id: userId }, select: { passwordHash: true } });
  if (user === null) throw unauthorized();
  if (password === undefined) throw badField('password', 'password is required');
  if (user.passwordHash === null)
    throw badField('password', 'The account has no password: confirm who you are with a passkey or a provider');
  if (!(await services.passwords.isCorrect(password, user.passwordHash, requester))) {
    recordFailedSignIn(services, userId, client);
    throw badField('password', 'password is wrong');
  }
  const refusal = await transact(services.db, async (tx) => {
    const check = await checkCode(services, tx, { userId, code, client });
    if (check.kind === 'refused') return check.error;
    const method = check.kind === 'accepted' ? check.method : 'password';
    await renewSignIn(services, tx, { userId, sessionId }, { ...client, method });
    return null;
  });
  if (refusal instanceof AppError) throw refusal;
  return { ok: true };
}

/**
 * Records in the session and in the account log that the user has just confirmed their identity. Throws 401 if the
 * session has ended.
 */
export async function renewSignIn(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { userId, sessionId }: { userId: number; sessionId: number },
  { method, address, userAgent, issuer }: SignIn,
): Promise<void> {
  const now = clock.now();
  const proof = { ...(isSecondFactor(method) && { secondFactorAt: now }), ...(issuer && { openidIssuer: issuer }) };
  const data = { authenticatedAt: now, ...proof };
  const renewed = await tx.session.updateMany({ where: { id: sessionId, userId }, data });
  if (renewed.count === 0) throw unauthorized();
  const event = { userId, at: now, action: 'reauthenticated', address, userAgent, details: { method } } as const;
  await recordAccountEvent(tx, event);
}
