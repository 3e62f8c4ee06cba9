/** The defaults for connections to and from addresses of this machine. They are less strict in development. */
import { isLoopback } from '../auth/networks.ts';
import type { AddressPolicy } from '../egress/address-guard.ts';
import { type Config, isProduction } from './config.ts';
import { isOfThisMachine } from './secure-context.ts';

export type LocalAccess = {
  /** Whether callers on this machine have no rate limits. */
  exemptLoopback: boolean;
  /** The addresses to which webhooks may be sent, and from which recordings may be copied. */
  addressPolicy: AddressPolicy;
  /** Origins whose pages may read responses. */
  corsOrigins: '*' | (string | RegExp)[];
  /**
   * Whether to reject requests whose host name does not belong to this machine. Otherwise any website could point its
   * own host name at this machine, and its pages would have the same origin as the service (DNS rebinding).
   */
  refuseForeignHosts: boolean;
  /** Whether a link that this machine prints signs in to the demo account. */
  signsInLocally: boolean;
  /**
   * Whether a person at this machine may create the first account, whatever `REGISTRATION` says. A proxy on this
   * machine that adds no header makes callers elsewhere look like that person, so nothing may say that there is one.
   */
  startsLocally: boolean;
};

const LOCAL_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/;

export function localAccessOf(config: Config): LocalAccess {
  const isForDevelopment = !isProduction(config);
  const isOnlyLocal = isForDevelopment && isLoopbackHost(config.HOST);
  const named = config.CORS_ORIGINS ?? [];
  return {
    exemptLoopback: config.RATE_LIMIT_EXEMPT_LOOPBACK ?? isForDevelopment,
    addressPolicy: chooseAddressPolicy(config, isOnlyLocal),
    corsOrigins: named === '*' || !isForDevelopment ? named : [...named, LOCAL_ORIGIN],
    refuseForeignHosts: isOnlyLocal && config.PUBLIC_URL === undefined && config.TRUST_PROXY === false,
    signsInLocally: isOnlyLocal && config.DATABASE_URL === undefined,
    startsLocally: isForDevelopment && config.TRUST_PROXY === false && isLocalOrUnknown(config.PUBLIC_URL),
  };
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

function isLocalOrUnknown(url: string | undefined): boolean {
  return url === undefined || isOfThisMachine(url);
}

function chooseAddressPolicy({ WEBHOOK_ALLOW_PRIVATE: allowPrivate }: Config, isOnlyLocal: boolean): AddressPolicy {
  if (allowPrivate !== undefined) return allowPrivate ? 'any' : 'public';
  return isOnlyLocal ? 'loopback' : 'public';
}

const destinations: Readonly<Record<AddressPolicy, string>> = {
  public: 'public addresses only (WEBHOOK_ALLOW_PRIVATE=1 allows others)',
  loopback: 'public addresses and addresses of this machine',
  any: 'all addresses, because of WEBHOOK_ALLOW_PRIVATE',
};

/**
 * Describes in one line which addresses may be connected to, and whether rate limits apply to callers on this machine.
 */
export function describeLocalAccess({ addressPolicy, exemptLoopback }: LocalAccess): string {
  const limits = exemptLoopback ? 'do not apply' : 'apply';
  const targets = destinations[addressPolicy];
  return `Webhooks and recording copies connect to ${targets}. Rate limits ${limits} to callers on this machine.`;
}
