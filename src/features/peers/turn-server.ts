/**
 * Credentials for TURN servers that expire by themselves, as coturn accepts them with `use-auth-secret`
 * (draft-uberti-behave-turn-rest): the name begins with the time at which they expire, and the password is its
 * HMAC-SHA1.
 */
import { createHmac } from 'node:crypto';
import { SECOND_MS } from '../../core/time.ts';
import type { IceServer } from './schemas.ts';

/** Spreads the participants over the period, so that not all get new credentials at the same moment. */
const SPREAD_SECONDS = 37;

/**
 * Returns the servers with the credentials of a participant, and when these expire as Unix seconds: after half of
 * `lifetimeSeconds` to all of it. They stay the same for half of it.
 */
export function createTurnServer(
  { urls, secret, lifetimeSeconds }: { urls: readonly string[]; secret: string; lifetimeSeconds: number },
  participantId: number,
  now: Date,
): { server: IceServer; expiresAt: number } {
  const periodSeconds = Math.floor(lifetimeSeconds / 2);
  const shift = (participantId * SPREAD_SECONDS) % periodSeconds;
  const period = Math.floor((now.getTime() / SECOND_MS + shift) / periodSeconds);
  const expiresAt = (period + 2) * periodSeconds - shift;
  const username = `${expiresAt}:${participantId}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return { server: { urls: [...urls], username, credential }, expiresAt };
}
