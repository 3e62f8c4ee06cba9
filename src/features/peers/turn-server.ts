/**
 * Credentials for TURN servers that expire by themselves, as coturn accepts them with `use-auth-secret`
 * (draft-uberti-behave-turn-rest): the name begins with the time at which they expire, and the password is its
 * HMAC-SHA1.
 */
import { createHmac } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { IceServer } from './schemas.ts';

/** How long credentials stay the same. They expire after one to two of these periods. */
const PERIOD_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** Spreads the participants over the period, so that not all get new credentials at the same moment. */
const SPREAD_SECONDS = 37;

/**
 * Returns the servers with the credentials of a participant, and when these expire as Unix seconds: 5 to 10 minutes
 * from now. Calls within the same 5 minutes return the same.
 */
export function createTurnServer(
  { urls, secret }: { urls: readonly string[]; secret: string },
  participantId: number,
  now: Date,
): { server: IceServer; expiresAt: number } {
  const shift = (participantId * SPREAD_SECONDS) % PERIOD_SECONDS;
  const period = Math.floor((now.getTime() / SECOND_MS + shift) / PERIOD_SECONDS);
  const expiresAt = (period + 2) * PERIOD_SECONDS - shift;
  const username = `${expiresAt}:${participantId}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return { server: { urls: [...urls], username, credential }, expiresAt };
}
