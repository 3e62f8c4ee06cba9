/** Links that were sent by mail, or that the machine of the service printed. Each works once, for a limited time. */
import { inBatches } from '../db/in-batches.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, texts, time } from '../db/statements.ts';
import { createToken, hashToken, isToken } from './tokens.ts';

export const accountTokenPurposes = ['verify_email', 'change_email', 'reset_password', 'local_sign_in'] as const;
export type AccountTokenPurpose = (typeof accountTokenPurposes)[number];

/**
 * `userId` is null for `reset_password`, and only then: such a link belongs to an address, whether or not an account
 * has it.
 */
export type NewAccountToken = { purpose: AccountTokenPurpose; userId: number | null; address: string };

/**
 * How many links for one purpose may be valid at a time, per user and per address. Links to change the address are not
 * counted by address: otherwise anybody could use up the limit of a stranger's address.
 */
const MAX_AT_ONCE = 5;

const insertToken = statement('insert-account-token', {
  params: { tokenHash: bytes, purpose: text, userId: nullable(int), address: text, now: time, expiresAt: time },
  returns: { purpose: text },
  sql: `
    insert into account_tokens (token_hash, purpose, user_id, address, created_at, expires_at)
    select $tokenHash, $purpose, $userId, $address, $now, $expiresAt
    where (
      select count(*) from account_tokens
      where (user_id = $userId or (address = $address and purpose <> 'change_email'))
        and purpose = $purpose and expires_at > $now) < ${MAX_AT_ONCE}
    returning purpose`,
});

const columns = { purpose: text, user_id: nullable(int), address: text };

const findToken = statement('find-account-token', {
  params: { tokenHash: bytes, purposes: texts, now: time },
  returns: columns,
  sql: `
    select purpose, user_id, address from account_tokens
    where token_hash = $tokenHash and purpose = any($purposes) and expires_at > $now`,
});

const takeToken = statement('take-account-token', {
  params: { tokenHash: bytes, purposes: texts, now: time },
  returns: columns,
  sql: `
    delete from account_tokens
    where token_hash = $tokenHash and purpose = any($purposes) and expires_at > $now
    returning purpose, user_id, address`,
});

const deleteTokens = statement('delete-account-tokens', {
  params: { userId: int, address: text, purposes: texts },
  sql: `
    delete from account_tokens where (user_id = $userId or address = $address) and purpose = any($purposes)`,
});

/**
 * Stores a new token and returns it. Only the link contains it: the database has its SHA-256. Null if too many links
 * for this purpose are already valid. Concurrent calls may create a few more.
 */
export async function createAccountToken(
  sql: Sql,
  { purpose, userId, address }: NewAccountToken,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<string | null> {
  const token = createToken('lnm_');
  const params = { tokenHash: hashToken(token), purpose, userId, address, now, expiresAt };
  return (await sql.run(insertToken, params)).length > 0 ? token : null;
}

export type AccountToken = { purpose: string; userId: number | null; address: string };

/**
 * Finds a token without using it up. Null if it does not exist, was used or has expired, or is for another purpose.
 */
export function findAccountToken(
  sql: Sql,
  token: string,
  purposes: readonly AccountTokenPurpose[],
  now: Date,
): Promise<AccountToken | null> {
  return runWithToken(sql, findToken, token, purposes, now);
}

/** Deletes a token and returns it. Null as for `findAccountToken`. Only one of several transactions can take it. */
export function takeAccountToken(
  sql: Sql,
  token: string,
  purposes: readonly AccountTokenPurpose[],
  now: Date,
): Promise<AccountToken | null> {
  return runWithToken(sql, takeToken, token, purposes, now);
}

async function runWithToken(
  sql: Sql,
  use: typeof findToken | typeof takeToken,
  token: string,
  purposes: readonly AccountTokenPurpose[],
  now: Date,
): Promise<AccountToken | null> {
  if (!isToken('lnm_', token)) return null;
  const [row] = await sql.run(use, { tokenHash: hashToken(token), purposes, now });
  return row ? { purpose: row.purpose, userId: row.user_id, address: row.address } : null;
}

/**
 * Invalidates links that were sent to an address or for a user: by default, the links that reset the password or change
 * the address. Call it when the password or the address changes, so that no earlier link undoes that.
 */
export async function endAccountTokens(
  sql: Sql,
  { userId, address }: { userId: number; address: string },
  purposes: readonly AccountTokenPurpose[] = ['reset_password', 'change_email'],
): Promise<void> {
  await sql.run(deleteTokens, { userId, address, purposes });
}

/** Maximum number of links that one statement deletes and locks. */
const MAX_PRUNED = 1_000;

const pruneTokens = statement('prune-account-tokens', {
  params: { now: time },
  returns: { isDeleted: bool },
  sql: `
    delete from account_tokens where token_hash = any(array(
      select token_hash from account_tokens where expires_at <= $now
      order by expires_at limit ${MAX_PRUNED} for update skip locked))
    returning true as "isDeleted"`,
});

/** Deletes the links that have expired, in batches. */
export async function pruneAccountTokens(sql: Sql, now: Date): Promise<void> {
  await inBatches(MAX_PRUNED, async () => (await sql.run(pruneTokens, { now })).length);
}
