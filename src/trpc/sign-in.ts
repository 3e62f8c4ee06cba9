/** Functions that the sign-in operations share. */
import { isLoopback, networkOf } from '../auth/networks.ts';
import type { Requester } from '../auth/passwords.ts';
import { fromUnixSeconds } from '../core/time.ts';
import type { Context } from './context.ts';

/** Whether the call comes from the machine that runs the service, with no proxy between that shows. */
export function isOnThisMachine({ isDirect, address }: Context): boolean {
  return isDirect && isLoopback(address);
}

/** Describes where the caller signs in from. */
export function clientOf({ address, userAgent }: Context): Pick<Context, 'address' | 'userAgent'> {
  return { address, userAgent };
}

/** The requester for whom this call hashes passwords. */
export function requesterOf({ address, bounds }: Context): Requester {
  return { network: networkOf(address), signal: bounds.hungUp };
}

/**
 * Counts an attempt by the caller to prove their identity with the password of the account that has this address.
 * Throws 429 for too many attempts. They are not counted by email address alone, because then anybody could lock others
 * out.
 */
export function limitGuesses(ctx: Context, email: string): Promise<void> {
  return ctx.services.limits.consumeExactly('signInPerEmail', `${networkOf(ctx.address)} ${email}`, ctx);
}

/** Sets the cookie of a new session, for browsers, and returns the session. */
export function withCookie<SignedIn extends { token: string; expires_at: number }>(
  ctx: Context,
  signed: SignedIn,
): SignedIn {
  ctx.setSessionCookie({ token: signed.token, expiresAt: fromUnixSeconds(signed.expires_at) });
  return signed;
}
