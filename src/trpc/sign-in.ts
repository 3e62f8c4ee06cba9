/** What the operations that sign in share. */
import { fromUnixSeconds } from '../core/time.ts';
import type { Context } from './context.ts';

/** From where the caller signs in. */
export function clientOf({ address, userAgent }: Context): Pick<Context, 'address' | 'userAgent'> {
  return { address, userAgent };
}

/** Sets the cookie of a new session, for browsers, and returns the session. */
export function withCookie<SignedIn extends { token: string; expires_at: number }>(
  ctx: Context,
  signed: SignedIn,
): SignedIn {
  ctx.setSessionCookie({ token: signed.token, expiresAt: fromUnixSeconds(signed.expires_at) });
  return signed;
}
