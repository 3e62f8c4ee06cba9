/** Account management for operators. It requires access to the database; no API operation offers it. */

import { type AccountAction, recordAccountEvent } from '../../audit/account-events.ts';
import { endAccountTokens } from '../../auth/account-tokens.ts';
import { lockWorkspacesOf } from '../../auth/workspace-lock.ts';
import { AppError } from '../../core/errors.ts';
import type { Sealer } from '../../core/sealing.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { lockWorkspacesWithKeysOf, revokeKeysOf } from './account.ts';
import { endAccess } from './end-access.ts';
import { endAppsOf } from './end-apps.ts';
import { removeFactor } from './proofs.ts';
import { noClient } from './sessions.ts';
import { lockUser, type RemovedMethods, removeSignInMethods } from './sign-in-methods.ts';

type Dependencies = Pick<Services, 'db' | 'clock'>;

/** If the sealer is null, no mail is sent. */
type Reporting = Dependencies & { sealer: Sealer | null };

export type Account = {
  id: number;
  name: string;
  email: string;
  created_at: number;
  /** When the account was locked; null if it is not locked. */
  locked_at: number | null;
  workspaces: number;
  sessions: number;
  api_keys: number;
};

export type AccountPage = { limit: number; offset: number; search?: string | undefined };

/**
 * Lists accounts whose name or email address contains `search`, oldest first. Each entry includes the numbers of
 * workspaces, sessions and API keys of the account.
 */
export async function listAccounts({ db, clock }: Dependencies, page: AccountPage): Promise<Account[]> {
  const contains = { contains: page.search ?? '', mode: 'insensitive' } as const;
  const rows = await db.user.findMany({
    where: { OR: [{ name: contains }, { email: contains }] },
    orderBy: { id: 'asc' },
    skip: page.offset,
    take: page.limit,
    include: {
      _count: {
        select: {
          members: true,
          sessions: { where: { expiresAt: { gt: clock.now() } } },
          apiKeys: { where: { isActive: true } },
        },
      },
    },
  });
  return rows.map(({ id, name, email, createdAt, lockedAt, _count }) => ({
    id,
    name,
    email,
    created_at: toUnixSeconds(createdAt),
    locked_at: lockedAt && toUnixSeconds(lockedAt),
    workspaces: _count.members,
    sessions: _count.sessions,
    api_keys: _count.apiKeys,
  }));
}

export type NewPassword = {
  email: string;
  password: string;
  endApiKeys: boolean;
  keepAccess?: boolean;
  removeMethods?: boolean;
};

/**
 * Sets a new password and ends all sessions of the account and, without `keepAccess`, its lasting access, as a reset by
 * mail does. `endApiKeys` also revokes the keys that it created for workspaces. `removeMethods` also removes its
 * passkeys, linked providers and second factor. Notifies the user by mail if there is a sealer. Throws 404 if no
 * account has this email address.
 */
export async function resetPassword(
  { db, clock, passwords, sealer }: Reporting & Pick<Services, 'passwords'>,
  { email, password, endApiKeys, keepAccess = false, removeMethods = false }: NewPassword,
): Promise<{ id: number; removed: RemovedMethods | null }> {
  const passwordHash = await passwords.hash(password, { network: '', signal: null });
  return transact(db, async (tx) => {
    const change = { data: { passwordHash }, endApiKeys, endsAccess: !keepAccess, at: clock.now() };
    const { id, address } = await changeAccount(tx, email, change);
    const removed = removeMethods ? await removeSignInMethods(tx, id) : null;
    const ending = { userId: id, at: change.at, actor: { kind: 'system' }, client: noClient, scope: 'own' } as const;
    if (!keepAccess) await endAccess(tx, ending);
    await recordByOperator(tx, id, 'password_reset', change.at, removed ?? {});
    const data = { by: 'operator', removedMethods: removeMethods, keepsAccess: keepAccess } as const;
    if (sealer) await queueMail({ sealer, clock }, sqlIn(tx), { kind: 'password-changed', to: address, data });
    return { id, removed };
  });
}

/**
 * Locks an account, which prevents sign-ins, ends its sessions and revokes its API keys. The keys stay revoked after an
 * unlock, because the person who used the account may know them. Notifies the user by mail if there is a sealer. Throws
 * 404 if no account has this email address.
 */
export function lockAccount(services: Reporting, email: string): Promise<{ id: number }> {
  return setLock(services, email, true);
}

/**
 * Unlocks an account, so that its user can sign in again. A request that was in progress when the account was locked
 * may have created a session or an API key afterwards. These have never worked; the session is ended and the key
 * revoked here. Notifies the user by mail if there is a sealer. Throws 404 if no account has this email address.
 */
export function unlockAccount(services: Reporting, email: string): Promise<{ id: number }> {
  return setLock(services, email, false);
}

function setLock({ db, clock, sealer }: Reporting, email: string, isLocked: boolean): Promise<{ id: number }> {
  return transact(db, async (tx) => {
    const at = clock.now();
    const change = { data: { lockedAt: isLocked ? at : null }, endApiKeys: true, endsAccess: false, at };
    const { id, address } = await changeAccount(tx, email, change);
    await recordByOperator(tx, id, isLocked ? 'account_locked' : 'account_unlocked', at);
    const notice = { kind: 'account-locked', to: address, data: { isLocked } } as const;
    if (sealer) await queueMail({ sealer, clock }, sqlIn(tx), notice);
    return { id };
  });
}

/**
 * Removes the second factor of a user who has lost the authenticator app and the recovery codes. `removed` is false if
 * there was none. Notifies the user by mail if there is a sealer. Throws 404 if no account has this email address.
 */
export function removeSecondFactorOf(
  { db, clock, sealer }: Reporting,
  email: string,
): Promise<{ id: number; removed: boolean }> {
  return transact(db, async (tx) => {
    const id = await requireUser(tx, email);
    const user = await lockUser(tx, id);
    if (!(await removeFactor(tx, id))) return { id, removed: false };
    await recordByOperator(tx, id, 'second_factor_disabled', clock.now());
    const notice = { kind: 'sign-in-methods-changed', to: user.email, data: { change: 'second-factor-off' } } as const;
    if (sealer) await queueMail({ sealer, clock }, sqlIn(tx), notice);
    return { id, removed: true };
  });
}

type Change = {
  data: { passwordHash: string } | { lockedAt: Date | null };
  endApiKeys: boolean;
  /** Whether the caller ends the lasting access afterwards, for which all workspaces are locked. */
  endsAccess: boolean;
  at: Date;
};

/**
 * Changes a user, and ends their sessions, links, connected apps and, with `endApiKeys`, their API keys. Takes the same
 * locks as a password change. The update waits for transactions that are starting a session; later transactions see the
 * change. Returns the current address of the account.
 */
async function changeAccount(
  tx: Tx,
  email: string,
  { data, endApiKeys, endsAccess, at }: Change,
): Promise<{ id: number; address: string }> {
  const id = await requireUser(tx, email);
  if (endsAccess) await lockWorkspacesOf(tx, id);
  else if (endApiKeys) await lockWorkspacesWithKeysOf(tx, id);
  const [user] = await tx.user.updateManyAndReturn({ where: { id }, data, select: { email: true } });
  if (user === undefined) throw noAccount(email);
  await tx.session.deleteMany({ where: { userId: id } });
  await endAccountTokens(sqlIn(tx), { userId: id, address: user.email });
  if (endApiKeys) await revokeKeysOf(tx, id, at, { kind: 'system' });
  if (!endsAccess) await endAppsOf(tx, id, at, { kind: 'system' });
  return { id, address: user.email };
}

function recordByOperator(
  tx: Tx,
  userId: number,
  action: AccountAction,
  at: Date,
  details: Partial<RemovedMethods> = {},
): Promise<void> {
  return recordAccountEvent(tx, { userId, at, action, address: null, details: { by: 'operator', ...details } });
}

async function requireUser(tx: Tx, email: string): Promise<number> {
  const user = await tx.user.findUnique({ where: { email: toAddress(email) }, select: { id: true } });
  if (user === null) throw noAccount(email);
  return user.id;
}

function noAccount(email: string): AppError {
  return new AppError('NOT_FOUND', `There is no account with the email address ${email}`);
}

function toAddress(email: string): string {
  return email.trim().toLowerCase();
}
