import { isIP } from 'node:net';
import { conflict } from '../../core/errors.ts';
import type { Services } from '../../services.ts';

/** The relying party (WebAuthn, section 4): the domain of the passkeys, and the origins of the pages that use them. */
export type RelyingParty = { id: string; origins: string[] };

/** The part of the call context that `relyingPartyOf` needs. */
type CallContext = { services: Pick<Services, 'settings'>; origin: string };

/**
 * Returns the relying party. Its domain is PASSKEY_DOMAIN or, if not set, the host of the frontend. Throws 409 for an
 * IP address, because browsers do not create passkeys for IP addresses.
 */
export function relyingPartyOf({ services: { settings }, origin }: CallContext): RelyingParty {
  const { hostname } = new URL(settings.appUrl ?? settings.publicUrl ?? origin);
  const id = settings.passkeyDomain ?? hostname;
  if (isIP(id.replace(/^\[|\]$/g, '')) !== 0)
    throw conflict(`Passkeys need a host name instead of ${id}: open the page at localhost, or set PUBLIC_URL`);
  return { id, origins: [origin, ...settings.trustedOrigins] };
}
