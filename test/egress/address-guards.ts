/** Guards for tests, with names that resolve as a test has it. */
import {
  type AddressGuard,
  type AddressPolicy,
  createAddressGuard,
  type ResolveHost,
} from '../../src/egress/address-guard.ts';

export const notAsked: ResolveHost = (hostname) => Promise.reject(new Error(`Asked for ${hostname}`));
export function guardOf(policy: AddressPolicy, resolveHost: ResolveHost = notAsked): AddressGuard {
  return createAddressGuard({ policy, resolveHost });
}
export function answers(...addresses: string[]): ResolveHost {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));
  return () => Promise.resolve(found);
}

export const PUBLIC_SENTENCE = 'url must point to a public address';
