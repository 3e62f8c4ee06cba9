/** Links that were sent by mail. Each works once, and for a limited time. */
import { bytes, int, nullable, type Sql, statement, text, texts, time } from '../db/statements.ts';
import { createToken, hashToken, isToken } from './tokens.ts';

export type AccountTokenPurpose = 'verify_email' | 'change_email' | 'reset_password';

/** `userId` is null for `reset_password`, and only then: such a link belongs to an address, whoever has it. */
export type NewAccountToken = { purpose: AccountTokenPurpose; userId: number | null; address: string };

const insertToken = statement('insert-account-token', {
  params: { tokenHash: bytes, purpose: text, userId: nullable(int), address: text, now: time, expiresAt: time },
  sql: `
    insert into account_tokens (token_hash, purpose, user_id, address, created_at, expires_at)
    values ($tokenHash, $purpose, $userId, $address, $now, $expiresAt)`,
});

const takeToken = statement('take-account-token', {
  params: { tokenHash: bytes, purposes: texts, now: time },
  returns: { purpose: text, user_id: nullable(int), address: text },
  sql: `
    delete from account_tokens
    where token_hash = $tokenHash and purpose = any($purposes) and expires_at > $now
    returning purpose, user_id, address`,
});

/** Stores a new token and returns it. Only the link contains it: the database has its SHA-256. */
export async function createAccountToken(
  sql: Sql,
  { purpose, userId, address }: NewAccountToken,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<string> {
  const token = createToken('lnm_');
  await sql.run(insertToken, { tokenHash: hashToken(token), purpose, userId, address, now, expiresAt });
  return token;
}

export type AccountToken = { purpose: string; userId: number | null; address: string };

/**
 * Takes a token, which is deleted with the transaction. Null if it does not exist, was used or has expired, or is for
 * another purpose. Two transactions never both take it.
 */
export async function takeAccountToken(
  sql: Sql,
  token: string,
  purposes: readonly AccountTokenPurpose[],
  now: Date,
): Promise<AccountToken | null> {
  if (!isToken('lnm_', token)) return null;
  const [row] = await sql.run(takeToken, { tokenHash: hashToken(token), purposes, now });
  return row ? { purpose: row.purpose, userId: row.user_id, address: row.address } : null;
}
