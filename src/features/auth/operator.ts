/** What operators do with accounts. No operation of the API calls this: it needs access to the database. */

import { type AccountAction, recordAccountEvent } from '../../audit/account-events.ts';
import { endAccountTokens } from '../../auth/account-tokens.ts';
import { AppError } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { lockWorkspacesWithKeysOf, revokeKeysOf } from './account.ts';
import { lockUser } from './sign-in-methods.ts';

type Dependencies = Pick<Services, 'db' | 'clock'>;

export type Account = {
  id: number;
  name: string;
  email: string;
  created_at: number;
  /** When the account was locked; null if it is not. */
  locked_at: number | null;
  workspaces: number;
  sessions: number;
  api_keys: number;
};

export type AccountPage = { limit: number; offset: number; search?: string | undefined };

/** Lists accounts whose name or email address contains `search`, oldest first, with what they have. */
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

/**
 * Sets a new password, and ends all sessions of the account; with `endApiKeys` its API keys too. Throws 404 if there is
 * no account with this email address.
 */
export async function resetPassword(
  { db, clock, passwords }: Pick<Services, 'db' | 'clock' | 'passwords'>,
  { email, password, endApiKeys }: { email: string; password: string; endApiKeys: boolean },
): Promise<{ id: number }> {
  const passwordHash = await passwords.hash(password, { network: '', signal: null });
  return changeAccount({ db, clock }, email, { passwordHash }, { endApiKeys, action: 'password_reset' });
}

/**
 * Locks an account: it cannot sign in, and its sessions and API keys end. The keys are revoked for good, because
 * the person who used the account may know them. Throws 404.
 */
export function lockAccount(dependencies: Dependencies, email: string): Promise<{ id: number }> {
  return changeAccount(
    dependencies,
    email,
    { lockedAt: dependencies.clock.now() },
    { endApiKeys: true, action: 'account_locked' },
  );
}

/**
 * Lets a locked account sign in again. A request that was under way when it was locked may have created an API key or a
 * session after that; these have never worked, and end here. Throws 404.
 */
export function unlockAccount(dependencies: Dependencies, email: string): Promise<{ id: number }> {
  return changeAccount(dependencies, email, { lockedAt: null }, { endApiKeys: true, action: 'account_unlocked' });
}

/**
 * Switches off the second factor of somebody who has lost the authenticator app and the recovery codes. Returns whether
 * there was one. Throws 404.
 */
export function removeSecondFactorOf(
  { db, clock }: Dependencies,
  email: string,
): Promise<{ id: number; removed: boolean }> {
  return transact(db, async (tx) => {
    const id = await requireUser(tx, email);
    await lockUser(tx, id);
    const { count } = await tx.secondFactor.deleteMany({ where: { userId: id } });
    const details = { by: 'operator' };
    const event = { userId: id, at: clock.now(), action: 'second_factor_disabled', address: null, details } as const;
    if (count > 0) await recordAccountEvent(tx, event);
    return { id, removed: count > 0 };
  });
}

type Change = { passwordHash: string } | { lockedAt: Date | null };

/**
 * Changes a user and ends what they have, in one transaction. The locks are those of a password change. The update
 * waits for transactions that are starting a session, and later ones see the change.
 */
function changeAccount(
  { db, clock }: Dependencies,
  email: string,
  data: Change,
  { endApiKeys, action }: { endApiKeys: boolean; action: AccountAction },
): Promise<{ id: number }> {
  return transact(db, async (tx) => {
    const id = await requireUser(tx, email);
    if (endApiKeys) await lockWorkspacesWithKeysOf(tx, id);
    await tx.user.updateMany({ where: { id }, data });
    await tx.session.deleteMany({ where: { userId: id } });
    await endAccountTokens(sqlIn(tx), { userId: id, address: toAddress(email) });
    if (endApiKeys) await revokeKeysOf(tx, id, clock.now(), { kind: 'system' });
    await recordAccountEvent(tx, { userId: id, at: clock.now(), action, address: null, details: { by: 'operator' } });
    return { id };
  });
}

async function requireUser(tx: Tx, email: string): Promise<number> {
  const user = await tx.user.findUnique({ where: { email: toAddress(email) }, select: { id: true } });
  if (user === null) throw new AppError('NOT_FOUND', `There is no account with the email address ${email}`);
  return user.id;
}

function toAddress(email: string): string {
  return email.trim().toLowerCase();
}
