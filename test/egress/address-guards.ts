/** Address guards for tests, with host names that resolve as a test needs it. */
import {
  type AddressGuard,
  type AddressPolicy,
  createAddressGuard,
  type ResolveHost,
} from '../../src/egress/address-guard.ts';

/** A resolver that fails. */
export const failToResolve: ResolveHost = (hostname) => Promise.reject(new Error(`Unexpected lookup of ${hostname}`));

export function createGuard(policy: AddressPolicy, resolveHost: ResolveHost = failToResolve): AddressGuard {
  return createAddressGuard({ policy, resolveHost });
}
/** A resolver that resolves every name to these addresses. */
export function resolveTo(...addresses: string[]): ResolveHost {
  const resolved = addresses.map((address) => ({
    address,
    family: address.includes(':') ? (6 as const) : (4 as const),
  }));
  return () => Promise.resolve(resolved);
}

export const NOT_PUBLIC = 'url must point to a public address';
