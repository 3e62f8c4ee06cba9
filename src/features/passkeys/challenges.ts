/**
 * The challenges that authenticators sign. Each challenge is a row that is deleted on use, so that no response works
 * twice.
 */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashToken } from '../../auth/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { runWrite } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { bytes, int, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { sessionEnded } from '../auth/session-user.ts';

/** The purpose of a challenge. Every purpose except signing in needs a session. */
export type ChallengeUse =
  | { purpose: 'sign_in'; sessionId: null }
  | { purpose: 'register' | 'reauthenticate'; sessionId: number };

export const CHALLENGE_MS = 5 * MINUTE_MS;

const ClientData = z.object({ challenge: z.string() });

const insertChallenge = statement('insert-passkey-challenge', {
  params: { challengeHash: bytes, purpose: text, sessionId: nullable(int), expiresAt: time },
  sql: `
    insert into passkey_challenges (challenge_hash, purpose, session_id, expires_at)
    values ($challengeHash, $purpose, $sessionId, $expiresAt)`,
});

const takeChallengeOf = statement('take-passkey-challenge', {
  params: { challengeHash: bytes, purpose: text, sessionId: nullable(int) },
  returns: { expires_at: time },
  sql: `
    delete from passkey_challenges
    where challenge_hash = $challengeHash and purpose = $purpose and session_id is not distinct from $sessionId
    returning expires_at`,
});

type Dependencies = Pick<Services, 'db' | 'clock'>;

/**
 * Creates a challenge of 32 random bytes and returns it in base64url. Throws 401 SIGN_IN_EXPIRED if the session has
 * ended.
 */
export async function createChallenge({ db, clock }: Dependencies, use: ChallengeUse): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const expiresAt = new Date(clock.now().getTime() + CHALLENGE_MS);
  try {
    await db.sql.run(insertChallenge, { challengeHash: hashToken(challenge), ...use, expiresAt });
  } catch (error) {
    throw isForeignKeyViolation(error) ? sessionEnded() : error;
  }
  return challenge;
}

/** Deletes and returns the challenge that the client data contains. Throws 401 SIGN_IN_EXPIRED if there is none. */
export async function takeChallenge(
  { db, clock }: Dependencies,
  clientDataJson: string,
  use: ChallengeUse,
): Promise<string> {
  const challenge = readChallenge(clientDataJson);
  if (challenge === null) throw expired();
  const [row] = await db.sql.run(takeChallengeOf, { challengeHash: hashToken(challenge), ...use });
  if (row === undefined || row.expires_at <= clock.now()) throw expired();
  return challenge;
}

function readChallenge(clientDataJson: string): string | null {
  try {
    return ClientData.parse(JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8'))).challenge;
  } catch {
    return null;
  }
}

function expired(): AppError {
  return new AppError('SIGN_IN_EXPIRED', 'The challenge has expired or was already used: start again');
}

/** Deletes expired challenges. */
export async function deleteExpiredChallenges({ db, clock }: Dependencies): Promise<void> {
  const where = { expiresAt: { lte: clock.now() } };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(db, (tx) => tx.passkeyChallenge.deleteMany({ where, limit }));
    return count;
  });
}
