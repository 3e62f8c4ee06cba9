/**
 * The table of idempotency keys: which requests are being carried out or have been carried out, and how they were
 * answered. docs/decisions/0023-idempotency-keys.md explains it.
 */

import { type Claim, currentCall } from '../core/call-bounds.ts';
import { AppError } from '../core/errors.ts';
import { inBatches } from './in-batches.ts';
import { bool, bytes, int, nullable, type RowOf, type Sql, statement, text, time } from './statements.ts';

/** A process renews its lease well before the lease ends. Once a lease has ended, a retry may claim the key. */
export const LEASE_MS = 30_000;
export const RENEWAL_MS = LEASE_MS / 3;
/** The maximum delay with which a running process renews its leases. */
const MAX_DELAY_MS = 1_000;
export const KEYS_LAST_MS = 24 * 60 * 60_000;
/** How many keys of one caller are stored. */
const MAX_KEYS = 10_000;
const PRUNED_AT_A_TIME = 5_000;

const keyParams = { caller: text, key: text, lease: text };

/** An expression for the rank of a role. */
const rankOf = (role: string) => `array_position(array['member', 'admin', 'owner'], ${role})`;

const claimStatement = statement('claim-idempotency-key', {
  params: {
    ...keyParams,
    userId: nullable(int),
    workspaceId: nullable(int),
    fingerprint: bytes,
    now: time,
    leasedUntil: time,
    expired: time,
  },
  returns: {
    isClaimed: bool,
    fingerprint: nullable(bytes),
    bodyHash: nullable(bytes),
    isExecuted: nullable(bool),
    leasedUntil: nullable(time),
    answer: nullable(bytes),
    hasRoles: bool,
  },
  sql: `
    with claimed as (
      insert into idempotency_keys as k
        (caller, key, user_id, workspace_id, fingerprint, lease, leased_until, created_at)
      values ($caller, $key, $userId, $workspaceId, $fingerprint, $lease, $leasedUntil, $now)
      on conflict (caller, key) do update
      set user_id = excluded.user_id, workspace_id = excluded.workspace_id, fingerprint = excluded.fingerprint,
        lease = excluded.lease, leased_until = excluded.leased_until, created_at = excluded.created_at,
        is_executed = false, answer = null, body_hash = null, roles = null
      where k.leased_until <= $now and (not k.is_executed or k.created_at <= $expired)
      returning true)
    select exists (select from claimed) as "isClaimed", k.fingerprint, k.body_hash as "bodyHash",
      k.is_executed as "isExecuted", k.leased_until as "leasedUntil", k.answer,
      not exists (
        select from unnest(k.roles) had
        left join members m on m.user_id = k.user_id and m.workspace_id = split_part(had, ':', 1)::int
        where m.role is null or ${rankOf('m.role')} < ${rankOf("split_part(had, ':', 2)")}) as "hasRoles"
    from (select 1) one left join idempotency_keys k on k.caller = $caller and k.key = $key`,
});

/** The state of a key. If `isClaimed` is true, the call may be carried out, and the other fields have no meaning. */
export type KeyState = RowOf<typeof claimStatement>;

/** Claims a key for a call, unless another call holds it. */
export async function claimKey(
  sql: Sql,
  now: Date,
  values: { userId: number | null; workspaceId: number | null; fingerprint: Uint8Array } & Pick<
    Claim,
    'caller' | 'key' | 'lease'
  >,
): Promise<KeyState | undefined> {
  const times = { now, leasedUntil: after(now, LEASE_MS), expired: after(now, -KEYS_LAST_MS) };
  const [state] = await sql.run(claimStatement, { ...values, ...times });
  return state;
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/**
 * Whether another attempt has taken the key over: its row exists, but no longer with the lease of this attempt. A key
 * whose row is missing does not count as taken over: deleting a workspace or an account also deletes the keys of its
 * calls. With `for key share`, the subquery reads the latest version of the row: a deletion may have been committed
 * while the statement waited for it.
 */
const isStolen = `
    select not exists (select from held)
      and exists (select from idempotency_keys where caller = $caller and key = $key for key share) as "isStolen"`;

const markStatement = statement('mark-idempotency-key', {
  params: keyParams,
  returns: { isStolen: bool },
  sql: `
    with held as (
      update idempotency_keys set is_executed = true
      where caller = $caller and key = $key and lease = $lease returning true)${isStolen}`,
});

/**
 * Records, in a transaction, that the call was carried out. Throws 409 if another attempt has taken the key over, which
 * rolls the transaction back.
 */
export async function markExecuted(sql: Sql, { caller, key, lease, isAnswered }: Claim): Promise<void> {
  if (isAnswered) return;
  refuseIfStolen(await sql.run(markStatement, { caller, key, lease }));
}

const answerStatement = statement('store-idempotent-answer', {
  params: {
    ...keyParams,
    answer: nullable(bytes),
    bodyHash: nullable(bytes),
    withRoles: bool,
    workspaceId: nullable(int),
  },
  returns: { isStolen: bool },
  sql: `
    with held as (
      update idempotency_keys k
      set is_executed = true, answer = $answer, body_hash = $bodyHash, leased_until = k.created_at,
        roles = case when $withRoles then
          array(
            select m.workspace_id || ':' || m.role from members m
            where m.user_id = k.user_id and m.workspace_id = coalesce($workspaceId, k.workspace_id, m.workspace_id)) end
      where caller = $caller and key = $key and lease = $lease returning true)${isStolen}`,
});

/** Stores the answer to a call. Throws 409 if another attempt has taken the key over. */
export async function storeAnswer(sql: Sql, claim: Claim, answer: unknown): Promise<void> {
  const { caller, key, lease, toStored } = claim;
  refuseIfStolen(await sql.run(answerStatement, { caller, key, lease, ...toStored(answer) }));
}

/**
 * Stores the answer of the call in progress in the transaction that carries it out, so that a retry gets it even if
 * this process ends before it responds. Does nothing for a call without an idempotency key.
 */
export async function storeAnswerOfCall(sql: Sql, readAnswer: (sql: Sql) => Promise<object>): Promise<void> {
  const claim = currentCall.getStore()?.claim;
  if (!claim) return;
  await storeAnswer(sql, claim, { data: await readAnswer(sql) });
  claim.isAnswered = true;
}

function refuseIfStolen([row]: { isStolen: boolean }[]): void {
  if (row?.isStolen) throw keyInUse();
}

/**
 * 409 while an earlier request holds the key. `Retry-After` is 1 s. If the lease was not renewed in time, its process
 * has probably ended; `Retry-After` is then the time until the lease expires.
 */
export function keyInUse(remainingMs = LEASE_MS): AppError {
  const isRenewed = remainingMs >= LEASE_MS - RENEWAL_MS - MAX_DELAY_MS;
  return new AppError('IDEMPOTENCY_KEY_IN_USE', 'A request with this Idempotency-Key is still being carried out', {
    retryAfterSeconds: isRenewed ? 1 : Math.max(1, Math.ceil(remainingMs / 1000)),
  });
}

const freeStatement = statement('free-idempotency-key', {
  params: { ...keyParams, isRefusal: bool, now: time },
  sql: `
    with freed as (
      delete from idempotency_keys
      where caller = $caller and key = $key and lease = $lease and ($isRefusal or not is_executed))
    update idempotency_keys set leased_until = $now
    where caller = $caller and key = $key and lease = $lease and is_executed and not $isRefusal`,
});

/**
 * Frees a key, so that the request can be sent again. After an unexpected failure, the key stays if a transaction of
 * the call was committed.
 */
export async function freeKey(
  sql: Sql,
  now: Date,
  { caller, key, lease }: Claim,
  { isRefusal }: { isRefusal: boolean },
): Promise<void> {
  await sql.run(freeStatement, { caller, key, lease, isRefusal, now });
}

const renewStatement = statement('renew-idempotency-key', {
  params: { ...keyParams, leasedUntil: time },
  sql: `
    update idempotency_keys set leased_until = $leasedUntil
    where caller = $caller and key = $key and lease = $lease`,
});

/** Renews the lease of a call in progress. */
export async function renewLease(sql: Sql, now: Date, { caller, key, lease }: Claim): Promise<void> {
  await sql.run(renewStatement, { caller, key, lease, leasedUntil: after(now, LEASE_MS) });
}

const pruneStatement = statement('prune-idempotency-keys', {
  params: { now: time, expired: time, max: int },
  returns: { caller: text },
  sql: `
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where created_at <= $expired and leased_until <= $now
      limit $max for update skip locked))
    returning caller`,
});

const trimStatement = statement('trim-idempotency-keys', {
  params: { now: time, max: int },
  sql: `
    delete from idempotency_keys k
    using (select caller from idempotency_keys group by caller having count(*) > $max) busy,
      lateral (
        select newest.created_at from idempotency_keys newest where newest.caller = busy.caller
        order by newest.created_at desc offset $max limit 1) oldest
    where k.caller = busy.caller and k.created_at <= oldest.created_at and k.leased_until <= $now`,
});

/** Deletes the keys that are older than 24 hours, and the oldest keys of callers who have more than `max`. */
export async function pruneKeys(sql: Sql, now: Date, max = MAX_KEYS): Promise<void> {
  const expired = after(now, -KEYS_LAST_MS);
  const limits = { now, expired, max: PRUNED_AT_A_TIME };
  await inBatches(PRUNED_AT_A_TIME, async () => (await sql.run(pruneStatement, limits)).length);
  await sql.run(trimStatement, { now, max });
}
