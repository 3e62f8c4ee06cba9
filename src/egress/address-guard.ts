/** Where webhooks may be sent: which addresses, and which ports. */
import { BlockList, isIP } from 'node:net';
import { type ResolvedAddress, type ResolveHost, resolveByDns, resolveByDnsOrSystem } from './resolve-host.ts';

export { type ResolvedAddress, type ResolveHost, resolveByDns };

/** `public`: the public internet; `loopback`: this machine too; `any`: everything. Ports are limited for all. */
export type AddressPolicy = 'public' | 'loopback' | 'any';

/** A connection that must not be made. The message says why, for the owner of the webhook, without naming the address. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

/** A name without an address, whether there is none or the resolver did not say. */
export class HostUnresolved extends Error {
  constructor(cause?: unknown) {
    super('The host name does not resolve', { cause });
    this.name = 'HostUnresolved';
  }
}

export type AddressGuard = {
  /**
   * Why nothing may be sent to this URL, as a sentence about `url` for a 400; null: it may, or its name has no address
   * now. What counts is what the connection finds, which asks `resolve` again.
   */
  refusalOf(url: string): Promise<string | null>;
  /**
   * The addresses that a connection to this name or literal may dial. Throws AddressRefused where one of them is
   * forbidden, and HostUnresolved where there is none.
   */
  resolve(hostname: string): Promise<ResolvedAddress[]>;
};

type Family = 'ipv4' | 'ipv6';

/** What the registry of special-purpose IPv4 addresses (RFC 6890) holds back, multicast and the reserved rest. */
const FORBIDDEN_IPV4 = subnets(
  'ipv4',
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // No special range by that registry, but within Azure it is the platform's own endpoint.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
);

/**
 * All that IANA hands out for the public internet. What lies outside needs no list of its own: loopback, link-local and
 * unique local addresses, multicast, IPv4 mapped (of public addresses too: no honest name needs that form) and NAT64.
 */
const GLOBAL_UNICAST = subnets('ipv6', '2000::/3');

/** Protocol assignments with Teredo, documentation twice, and 6to4, which leads to any IPv4 address. */
const FORBIDDEN_GLOBAL_UNICAST = subnets('ipv6', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

const LOOPBACK: Readonly<Record<Family, BlockList>> = {
  ipv4: subnets('ipv4', '127.0.0.0/8'),
  ipv6: subnets('ipv6', '::1/128', '::ffff:127.0.0.0/104'),
};

/** What no TCP connection can lead to. */
const NOBODY: Readonly<Record<Family, BlockList>> = {
  ipv4: subnets('ipv4', '224.0.0.0/4', '255.255.255.255/32'),
  ipv6: subnets('ipv6', 'ff00::/8', '::ffff:224.0.0.0/100', '::ffff:255.255.255.255/128'),
};

const LOWEST_FREE_PORT = 1024;

const REFUSAL: Readonly<Record<AddressPolicy, string>> = {
  public: 'url must point to a public address',
  loopback: 'url must point to a public address or to this machine',
  any: 'url must not point to a multicast or broadcast address',
};

const LOOK_UP_AT_SAVE_MS = 2_000;

/**
 * Whether a connection may lead to this address, in the form in which `node:net` reads addresses; false for any other
 * text. A scoped address (`fe80::1%eth0`) belongs to a link of this machine: only `any` allows it.
 */
export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const [unscoped = ''] = address.split('%', 1);
  if (policy === 'any') return !NOBODY[family].check(unscoped, family);
  if (unscoped !== address) return false;
  return isPublic(address, family) || (policy === 'loopback' && LOOPBACK[family].check(address, family));
}

function isPublic(address: string, family: Family): boolean {
  return family === 'ipv4'
    ? !FORBIDDEN_IPV4.check(address, family)
    : GLOBAL_UNICAST.check(address, family) && !FORBIDDEN_GLOBAL_UNICAST.check(address, family);
}

/**
 * Why this is no URL to send to whatever its host leads to, as a sentence about `url`; null: it may be one. The ports
 * below 1024 other than those of the web belong to services that must not be spoken to, such as mail (25).
 */
export function refusalOfForm({ protocol, port }: URL): string | null {
  if (protocol !== 'http:' && protocol !== 'https:') return 'url must begin with http:// or https://';
  if (port === '' || port === '80' || port === '443' || Number(port) >= LOWEST_FREE_PORT) return null;
  return 'url must use port 80, 443 or one from 1024 to 65535';
}

/**
 * How to resolve names under a policy. The hosts file counts where addresses of this machine or of its network are
 * allowed, for it holds little else; under `public` what it holds would be refused, and no thread is to wait for it.
 */
export function resolveHostFor(policy: AddressPolicy): ResolveHost {
  return policy === 'public' ? resolveByDns : resolveByDnsOrSystem;
}

/**
 * Judges hosts as URLs hold them: the WHATWG URL parser turns every way of writing an IPv4 address (octal, hexadecimal,
 * one number) and an IPv6 address into one, and names in other scripts into their ASCII form.
 */
export function createAddressGuard(options: { policy: AddressPolicy; resolveHost: ResolveHost }): AddressGuard {
  const { policy, resolveHost } = options;

  const addressesOf = async (hostname: string): Promise<ResolvedAddress[]> => {
    const host = bareHost(hostname);
    const literal = literalOf(host);
    if (literal !== null) return [literal];
    const addresses = await resolveHost(host).catch((error: unknown) => {
      throw new HostUnresolved(error);
    });
    if (addresses.length === 0) throw new HostUnresolved();
    return addresses;
  };

  const resolve = async (hostname: string): Promise<ResolvedAddress[]> => {
    const addresses = await addressesOf(hostname);
    // One forbidden address refuses the name: which of them is dialled would otherwise be up to whoever answers for it.
    if (addresses.every(({ address }) => isAllowedAddress(address, policy))) return addresses;
    throw new AddressRefused(`Address not allowed: ${REFUSAL[policy]}`);
  };

  return {
    resolve,
    async refusalOf(text) {
      const url = URL.parse(text);
      if (url === null) return 'url must be a URL that begins with http:// or https:// and names a host';
      const refusal = refusalOfForm(url);
      if (refusal !== null) return refusal;
      try {
        await within(LOOK_UP_AT_SAVE_MS, resolve(url.hostname));
        return null;
      } catch (error) {
        if (error instanceof AddressRefused) return REFUSAL[policy];
        if (error instanceof HostUnresolved) return null;
        throw error;
      }
    },
  };
}

/** An address without the brackets of a URL; a name without the dot that closes it (RFC 1034, section 3.1). */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function literalOf(host: string): ResolvedAddress | null {
  const version = isIP(host);
  return version === 4 || version === 6 ? { address: host, family: version } : null;
}

/** Resolves with null when `promise` takes longer than `milliseconds`. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | null> {
  const expiry = Promise.withResolvers<null>();
  const timer = setTimeout(() => expiry.resolve(null), milliseconds);
  return Promise.race([promise, expiry.promise]).finally(() => clearTimeout(timer));
}

function subnets(family: Family, ...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
