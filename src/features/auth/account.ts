/** Creates, changes and deletes accounts. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { erasePerson } from '../../audit/erase-person.ts';
import { type AuditActor, recordAudits } from '../../audit/record-audit.ts';
import { accountTokenPurposes, endAccountTokens } from '../../auth/account-tokens.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import type { Requester } from '../../auth/passwords.ts';
import { lockWorkspacesOf } from '../../auth/workspace-lock.ts';
import { type AppError, badField, conflict, conflictForNow, tooManyTries, unauthorized } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, text } from '../../db/statements.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import { eraseMailsTo } from '../../mail/drop-mails.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { mailEndOfWorkspace } from '../booking-mails/end-bookings.ts';
import { endMembership } from '../members/end-membership.ts';
import { recordFailedSignIn } from './account-log.ts';
import { createUser } from './create-user.ts';
import { endAppsOf } from './end-apps.ts';
import { listAccess } from './lasting-access.ts';
import type { SessionCall } from './own-sessions.ts';
import { checkAdmission, spendAdmission } from './registration.ts';
import type { RegisterInput, SignedIn, UpdatedUser, UpdateMeInput } from './schemas.ts';
import { type Client, startSession, toUser } from './sessions.ts';
import { sendVerification } from './verify-email.ts';

/** The maximum number of attempts to delete an account. */
const MAX_TRIES = 3;

/** The service itself creates the account. */
type Admitted = 'by the service' | { isLocal: boolean };

/**
 * Creates a user with their Personal workspace, sends them a link to confirm their address, and signs them in. Throws
 * 403 if the operator does not let this person create an account, and 409 if the email address already has one.
 */
export async function register(
  services: Services,
  { name, email, password, invitation, setup_token: setupToken }: RegisterInput,
  requester: Requester,
  client: Client,
  admitted: Admitted,
): Promise<SignedIn> {
  const admission = admitted === 'by the service' ? null : { invitation, address: email, setupToken, ...admitted };
  // Hashing is expensive, so check first.
  if (admission !== null) await checkAdmission(services, services.db.sql, admission);
  const passwordHash = await services.passwords.hash(password, requester);
  try {
    return await transact(services.db, async (tx) => {
      const { admittedByDomain } =
        admission === null ? { admittedByDomain: false } : await spendAdmission(services, sqlIn(tx), admission);
      const newUser = { name, email, passwordHash, emailVerifiedAt: null, admittedByDomain };
      const user = await createUser(services, tx, newUser);
      await sendVerification(services, sqlIn(tx), { purpose: 'verify_email', userId: user.id, email });
      return startSession(services, tx, user, { ...client, method: 'registration', isRegistration: true });
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict('An account with this email address already exists');
    throw error;
  }
}

/**
 * Changes only the fields that are sent. A new password requires the current one. It ends all other sessions, all
 * connected apps and all outstanding links, and the user gets a notice. The result then lists the lasting access of the
 * account that remains. With `end_api_keys`, it also revokes the user's API keys. Throws 400 if the current password is
 * missing or wrong. Throws 401 if the account was deleted or locked, or its password changed, in the meantime, so that
 * somebody who knows only the old password cannot replace a password that an operator has just set.
 */
export async function updateMe(
  { db, clock, log, passwords, sealer }: Pick<Services, 'db' | 'clock' | 'log' | 'passwords' | 'sealer'>,
  { caller, sessionId, requester, client }: SessionCall & { requester: Requester },
  input: UpdateMeInput,
): Promise<UpdatedUser> {
  const data: { name?: string; passwordHash?: string; recordingMail?: boolean } = {};
  const expected: { passwordHash?: string } = {};
  if (input.name !== undefined) data.name = input.name;
  if (input.recording_mail !== undefined) data.recordingMail = input.recording_mail;
  if (input.password !== undefined) {
    const current = await db.user.findUnique({ where: { id: caller.userId }, select: { passwordHash: true } });
    if (current === null) throw unauthorized();
    if (current.passwordHash === null)
      throw badField('password', 'The account has no password: reset the password by email to set one');
    if (input.current_password === undefined)
      throw badField('current_password', 'current_password is required to set a new password');
    if (!(await passwords.isCorrect(input.current_password, current.passwordHash, requester))) {
      recordFailedSignIn({ db, clock, log }, caller.userId, client);
      throw badField('current_password', 'current_password is wrong');
    }
    expected.passwordHash = current.passwordHash;
    data.passwordHash = await passwords.hash(input.password, requester);
  }
  return transact(db, async (tx) => {
    // Like other changes to API keys, this change locks the workspaces first. If a key is created after this, its
    // workspace may not be locked, but `revokeKeysOf` revokes the key too.
    if (input.end_api_keys) await lockWorkspacesWithKeysOf(tx, caller.userId);
    const [updated] = await tx.user.updateManyAndReturn({
      where: { id: caller.userId, lockedAt: null, ...expected },
      data,
    });
    if (updated === undefined) throw unauthorized();
    // Must follow the update, which waits for transactions that are starting a session with the old password.
    if (data.passwordHash !== undefined) {
      const { count } = await tx.session.deleteMany({ where: { userId: caller.userId, NOT: { id: sessionId } } });
      const event = { userId: caller.userId, at: clock.now(), ...client, details: { ended_sessions: count } };
      await recordAccountEvent(tx, { ...event, action: 'password_changed' });
      const sql = sqlIn(tx);
      await endAccountTokens(sql, { userId: caller.userId, address: updated.email });
      await endAppsOf(tx, caller.userId, clock.now(), auditActorOf(caller));
      const notice = { kind: 'password-changed', to: updated.email, data: { by: 'owner', keepsAccess: true } } as const;
      await queueMail({ sealer, clock }, sql, notice);
    }
    if (input.end_api_keys) await revokeKeysOf(tx, caller.userId, clock.now(), auditActorOf(caller));
    const user = toUser(updated);
    if (data.passwordHash === undefined) return { user };
    return { user, ...(await listAccess(sqlIn(tx), caller.userId, clock.now())) };
  });
}

const lockWithKeys = statement('lock-workspaces-with-keys', {
  params: { userId: int },
  returns: { id: int },
  sql: `
    select id from workspaces where id in (select workspace_id from api_keys where created_by = $userId)
    order by id for no key update`,
});

/**
 * Locks the workspaces in which the user has API keys, in order of their IDs. Call it before taking other locks,
 * because every change to API keys locks the workspace first.
 */
export async function lockWorkspacesWithKeysOf(tx: Tx, userId: number): Promise<void> {
  await sqlIn(tx).run(lockWithKeys, { userId });
}

/** Permanently revokes all API keys that a user created. */
export async function revokeKeysOf(tx: Tx, userId: number, revokedAt: Date, actor: AuditActor): Promise<void> {
  const keys = await tx.apiKey.updateManyAndReturn({
    where: { createdBy: userId, revokedAt: null },
    data: { isActive: false, revokedAt },
    select: { workspaceId: true, id: true, name: true },
  });
  if (keys.length === 0) return;
  const address = 'address' in actor ? actor.address : null;
  const event = {
    userId,
    at: revokedAt,
    action: 'api_keys_revoked',
    address,
    details: { count: keys.length },
  } as const;
  await recordAccountEvent(tx, event);
  const entry = { at: revokedAt, actor, action: 'api_key.revoked' } as const;
  await recordAudits(
    sqlIn(tx),
    keys.map(({ workspaceId, id, name }) => ({ ...entry, workspaceId, target: { kind: 'api_key', id, name } })),
  );
}

/**
 * Deletes the user, their Personal workspace, and every workspace that has no other members. In other workspaces, the
 * API keys of the user are deleted, their rooms and booking pages pass to the owner, and everything else they created
 * remains without an author. The audit logs keep the user's actions, but not their name and addresses. Throws 409 if
 * the user owns a workspace that has other members, and 503 if the user got another workspace during every attempt.
 */
export async function deleteMe(services: Services, caller: Caller): Promise<{ ok: true }> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      await allowLongStatements(() => deleteUser(services, caller));
      return { ok: true };
    } catch (error) {
      // A workspace was created by the user or transferred to them after the list was read.
      if (!isForeignKeyViolation(error)) throw error;
    }
  }
  throw tooManyTries();
}

const lockDeleted = statement('lock-user-to-delete', {
  params: { userId: int },
  returns: { email: text },
  sql: 'select email from users where id = $userId for no key update',
});

function deleteUser({ db, clock, sealer }: Services, caller: Caller): Promise<void> {
  return transact(db, async (tx) => {
    // Every change to the membership locks the workspace first, so nobody can join or leave in the meantime.
    const workspaces = await lockWorkspacesOf(tx, caller.userId);
    // Lock the user before the membership, as booking a meeting with the user does.
    const [user] = await sqlIn(tx).run(lockDeleted, { userId: caller.userId });
    if (user === undefined) throw unauthorized();
    const owned = workspaces.filter((workspace) => workspace.owner_id === caller.userId).map(({ id }) => id);
    const others = await tx.member.count({ where: { workspaceId: { in: owned }, NOT: { userId: caller.userId } } });
    if (others > 0) throw ownsSharedWorkspace();
    for (const workspace of workspaces) {
      if (owned.includes(workspace.id)) continue;
      const departure = { userId: caller.userId, reason: 'account_deleted', at: clock.now() } as const;
      await endMembership({ sealer, clock }, tx, workspace, { ...departure, actor: auditActorOf(caller) });
    }
    for (const workspaceId of owned) await mailEndOfWorkspace({ sealer, clock }, sqlIn(tx), workspaceId, clock.now());
    await tx.workspace.deleteMany({ where: { id: { in: owned } } });
    await erasePerson(sqlIn(tx), caller.userId, null);
    await tx.user.deleteMany({ where: { id: caller.userId } });
    await eraseMailsTo(sqlIn(tx), { address: user.email, now: clock.now() });
    await endAccountTokens(sqlIn(tx), { userId: caller.userId, address: user.email }, accountTokenPurposes);
  });
}

function ownsSharedWorkspace(): AppError {
  return conflictForNow('First transfer or delete the workspaces you own that have other members');
}
