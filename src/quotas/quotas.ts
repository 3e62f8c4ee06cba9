/**
 * Quotas limit what one workspace or user stores, so that nobody can exhaust space or time that others need. They are
 * checked when something is added. Nothing is ever removed because of a quota: lowering one only prevents additions.
 */
import { AppError } from '../core/errors.ts';
import type { Tx } from '../db/client.ts';
import { countForQuota } from '../db/counters.ts';
import { onlyRow } from '../db/only-row.ts';
import { sqlIn } from '../db/sql.ts';
import { float, int, type Sql, statement } from '../db/statements.ts';

/** Maximums; 0 switches a quota off. */
export type Quotas = {
  /** Workspaces that a user owns. */
  workspaces: number;
  // The other quotas apply per workspace.
  members: number;
  rooms: number;
  labels: number;
  items: number;
  /** The size of the files of library items and recordings, in bytes. */
  bytes: number;
  contacts: number;
  apiKeys: number;
  webhooks: number;
  connections: number;
};

export type QuotaName = keyof Quotas;

/** The defaults are far above the needs of one team. */
export const defaultQuotas: Quotas = {
  workspaces: 100,
  members: 1_000,
  rooms: 10_000,
  labels: 1_000,
  items: 100_000,
  bytes: 1_000_000_000_000,
  contacts: 200_000,
  apiKeys: 100,
  webhooks: 100,
  connections: 50,
};

/** The environment variable of each quota. */
export const quotaSettings: Record<QuotaName, string> = {
  workspaces: 'QUOTA_WORKSPACES',
  members: 'QUOTA_MEMBERS',
  rooms: 'QUOTA_ROOMS',
  labels: 'QUOTA_LABELS',
  items: 'QUOTA_ITEMS',
  bytes: 'QUOTA_BYTES',
  contacts: 'QUOTA_CONTACTS',
  apiKeys: 'QUOTA_API_KEYS',
  webhooks: 'QUOTA_WEBHOOKS',
  connections: 'QUOTA_CONNECTIONS',
};

/** The names of the quotas in error messages, where they differ from the keys of `Quotas`. */
const labels: Partial<Record<QuotaName, string>> = { items: 'library items', apiKeys: 'API keys' };

/** 409 because a quota is reached. The call can succeed after something is deleted. */
export class QuotaReached extends AppError {}

/** Throws 409 if `used` is above the quota. `used` includes what is being added. */
export function requireWithinQuota(quotas: Quotas, name: QuotaName, used: number): void {
  const quota = quotas[name];
  if (quota === 0 || used <= quota) return;
  throw quotaReached(quotas, name);
}

/** The error for what exceeds a quota. */
export function quotaReached(quotas: Quotas, name: QuotaName): QuotaReached {
  const owner = name === 'workspaces' ? 'You have' : 'The workspace has';
  return new QuotaReached(
    'CONFLICT',
    `${owner} reached the quota of ${quotas[name]} ${labels[name] ?? name} (${quotaSettings[name]})`,
    { isTransient: true },
  );
}

/**
 * Declares a statement that counts the rows of a table with an index scan on the primary key, and stops at `max`. The
 * table has few rows of a workspace.
 */
function countStatement(name: string, table: string) {
  return statement(name, {
    params: { workspaceId: int, max: float },
    returns: { count: int },
    sql: `
      select count(*)::int as count from (
        select from ${table} where workspace_id = $workspaceId limit $max::bigint
      ) counted`,
  });
}

/** Count what is counted at each check. */
const counts = {
  members: countStatement('count-members', 'members'),
  apiKeys: countStatement('count-api-keys', 'api_keys'),
  webhooks: countStatement('count-webhooks', 'webhooks'),
  connections: countStatement('count-connections', 'meeting_connections'),
};

/**
 * Throws 409 if the workspace cannot have `added` more rows. Call it with 0 after adding a row. Concurrent calls
 * may exceed the quota by a few, unless the workspace is locked.
 */
export async function requireFreeRow(
  tx: Tx,
  quotas: Quotas,
  name: keyof typeof counts,
  workspaceId: number,
  added: 0 | 1 = 1,
): Promise<void> {
  if (quotas[name] === 0) return;
  const { count } = onlyRow(await sqlIn(tx).run(counts[name], { workspaceId, max: quotas[name] + 1 }));
  requireWithinQuota(quotas, name, count + added);
}

const countOwned = statement('count-owned-workspaces', {
  params: { userId: int, max: float },
  returns: { count: int },
  sql: `
    select count(*)::int as count from (
      select from workspaces where owner_id = $userId limit $max::bigint
    ) counted`,
});

/** Throws 409 if the user cannot own another workspace. Concurrent calls may exceed the quota by a few. */
export async function requireFreeWorkspace(tx: Tx, quotas: Quotas, userId: number): Promise<void> {
  if (quotas.workspaces === 0) return;
  const { count } = onlyRow(await sqlIn(tx).run(countOwned, { userId, max: quotas.workspaces }));
  requireWithinQuota(quotas, 'workspaces', count + 1);
}

const countRoomsForQuota = statement('count-rooms-for-quota', {
  params: { workspaceId: int, quota: int },
  returns: { count: int },
  sql: `select ${countForQuota('rooms', '$quota')} as count from workspaces w where w.id = $workspaceId`,
});

/** Throws 409 if the workspace cannot have another room. Concurrent calls may exceed the quota by a few. */
export async function requireFreeRoom(sql: Sql, quotas: Quotas, workspaceId: number): Promise<void> {
  const [row] = await sql.run(countRoomsForQuota, { workspaceId, quota: quotas.rooms });
  requireWithinQuota(quotas, 'rooms', (row?.count ?? 0) + 1);
}

const countContactsForQuota = statement('count-contacts-for-quota', {
  params: { workspaceId: int, quota: int },
  returns: { count: int },
  sql: `select ${countForQuota('contacts', '$quota')} as count from workspaces w where w.id = $workspaceId`,
});

/**
 * Throws 409 if the workspace has more contacts than its quota. If very many changes are pending, the oldest are not
 * counted (`countForQuota`).
 */
export async function requireContactsWithinQuota(sql: Sql, quotas: Quotas, workspaceId: number): Promise<void> {
  const [row] = await sql.run(countContactsForQuota, { workspaceId, quota: quotas.contacts });
  requireWithinQuota(quotas, 'contacts', row?.count ?? 0);
}
