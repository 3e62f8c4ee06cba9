import type { Caller } from '../../auth/identify.ts';
import type { Requester } from '../../auth/passwords.ts';
import { badField, unauthorized } from '../../core/errors.ts';
import { runWrite } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { ReauthenticateInput } from './schemas.ts';

/**
 * Verifies the password, and records that the user has just proved who they are in this session. Throws 400 if the
 * password is missing or wrong, and 401 if the session has ended in the meantime.
 */
export async function reauthenticate(
  services: Pick<Services, 'db' | 'clock' | 'passwords'>,
  { caller, sessionId, requester }: { caller: Caller; sessionId: number; requester: Requester },
  { password }: ReauthenticateInput,
): Promise<{ ok: true }> {
  const user = await services.db.user.findUnique({ where: { id: caller.userId }, select: { passwordHash: true } });
  if (user === null) throw unauthorized();
  if (password === undefined) throw badField('password', 'password is required');
  if (!(await services.passwords.isCorrect(password, user.passwordHash, requester)))
    throw badField('password', 'password is wrong');
  await renewSignIn(services, sessionId);
  return { ok: true };
}

/** Records that the user of the session has just proved who they are. Throws 401 if the session has ended. */
export async function renewSignIn({ db, clock }: Pick<Services, 'db' | 'clock'>, sessionId: number): Promise<void> {
  const renewed = await runWrite(db, (tx) =>
    tx.session.updateMany({ where: { id: sessionId }, data: { authenticatedAt: clock.now() } }),
  );
  if (renewed.count === 0) throw unauthorized();
}
