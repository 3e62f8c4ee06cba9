/** Limits which addresses and ports the service may reach when it sends a request to a URL that a user chose. */
import { BlockList, isIP } from 'node:net';
import { inTime } from '../core/in-time.ts';
import { type ResolvedAddress, type ResolveHost, resolveByDns, resolveByDnsOrSystem } from './resolve-host.ts';

export { type ResolvedAddress, type ResolveHost, resolveByDns };

/**
 * `public`: the public internet; `loopback`: also this machine, on any port; `any`: every address. All other ports are
 * limited.
 */
export type AddressPolicy = 'public' | 'loopback' | 'any';

/**
 * The address is not allowed. The message states the reason. It does not contain the address, because the owner of the
 * URL may see the message.
 */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

/** The host name has no address, or could not be resolved. */
export class HostUnresolved extends Error {
  constructor(cause?: unknown) {
    super('The host name does not resolve', { cause });
    this.name = 'HostUnresolved';
  }
}

export type AddressGuard = {
  /**
   * Returns the reason why the service must not send requests to this URL, regardless of the addresses of its host, as
   * a sentence about `url`. Returns null if the scheme and the port are allowed. Ports below 1024 other than 80 and 443
   * belong to other services, such as mail.
   */
  refusalOfUrl(url: URL): string | null;
  /**
   * Returns the reason why the service must not send requests to this URL, as a sentence about `url` for a 400. Returns
   * null if the URL is allowed, or if its host name does not resolve at the moment. This is only an early check: each
   * connection calls `resolve` again.
   */
  refusalOf(url: string): Promise<string | null>;
  /**
   * Resolves a host name or IP literal to the addresses to connect to. Throws AddressRefused if any address is not
   * allowed, and HostUnresolved if the host has no address.
   */
  resolve(hostname: string): Promise<ResolvedAddress[]>;
};

type Family = 'ipv4' | 'ipv6';

/** Special-purpose addresses (RFC 6890), multicast and reserved addresses. */
const FORBIDDEN_IPV4 = subnets(
  'ipv4',
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // A public address, but within Azure it is an endpoint of the platform.
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
 * The range that IANA assigns for the public internet. It excludes loopback, link-local and unique local addresses,
 * multicast, NAT64 and IPv4-mapped addresses. NAT64 and IPv4-mapped forms of public IPv4 addresses are excluded too,
 * because no legitimate name needs them.
 */
const GLOBAL_UNICAST = subnets('ipv6', '2000::/3');

/** Protocol assignments (including Teredo), two documentation ranges, and 6to4, which can reach any IPv4 address. */
const FORBIDDEN_GLOBAL_UNICAST = subnets('ipv6', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

const LOOPBACK: Readonly<Record<Family, BlockList>> = {
  ipv4: subnets('ipv4', '127.0.0.0/8'),
  ipv6: subnets('ipv6', '::1/128', '::ffff:127.0.0.0/104'),
};

/** Multicast and broadcast, where no TCP connection is possible. */
const UNCONNECTABLE: Readonly<Record<Family, BlockList>> = {
  ipv4: subnets('ipv4', '224.0.0.0/4', '255.255.255.255/32'),
  ipv6: subnets('ipv6', 'ff00::/8', '::ffff:224.0.0.0/100', '::ffff:255.255.255.255/128'),
};

const MIN_FREE_PORT = 1024;

const REFUSAL: Readonly<Record<AddressPolicy, string>> = {
  public: 'url must point to a public address',
  loopback: 'url must point to a public address or to this machine',
  any: 'url must not point to a multicast or broadcast address',
};

/** How long `refusalOf` waits for DNS. */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * Whether a connection to this address is allowed. False for a string that `node:net` does not accept as an address. A
 * scoped address (`fe80::1%eth0`) belongs to a link of this machine, so only `any` allows it.
 */
export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const [unscoped = ''] = address.split('%', 1);
  if (policy === 'any') return !UNCONNECTABLE[family].check(unscoped, family);
  if (unscoped !== address) return false;
  return isPublic(address, family) || (policy === 'loopback' && LOOPBACK[family].check(address, family));
}

function isPublic(address: string, family: Family): boolean {
  return family === 'ipv4'
    ? !FORBIDDEN_IPV4.check(address, family)
    : GLOBAL_UNICAST.check(address, family) && !FORBIDDEN_GLOBAL_UNICAST.check(address, family);
}

function refusalOf({ protocol, port, hostname }: URL, policy: AddressPolicy): string | null {
  if (protocol !== 'http:' && protocol !== 'https:') return 'url must begin with http:// or https://';
  if (port === '' || port === '80' || port === '443' || Number(port) >= MIN_FREE_PORT) return null;
  // While somebody develops, their own machine may serve on any port.
  if (policy === 'loopback' && port !== '0' && isLoopbackName(stripHost(hostname))) return null;
  return 'url must use port 80, 443 or one from 1024 to 65535';
}

function isLoopbackName(host: string): boolean {
  const literal = toLiteral(host);
  if (literal === null) return host === 'localhost' || host.endsWith('.localhost');
  const family = literal.family === 4 ? 'ipv4' : 'ipv6';
  return LOOPBACK[family].check(literal.address, family);
}

/**
 * Returns the resolver for a policy. The resolver uses the hosts file only if the policy allows addresses of this
 * machine or its network. With `public`, most entries would be refused anyway, and reading the file occupies a thread.
 */
export function resolveHostFor(policy: AddressPolicy): ResolveHost {
  return policy === 'public' ? resolveByDns : resolveByDnsOrSystem;
}

/**
 * Creates a guard. It expects hosts in the form that the WHATWG URL parser returns. The parser converts every notation
 * of an IPv4 address (octal, hexadecimal, one number) or an IPv6 address to one form, and internationalized names to
 * ASCII.
 */
export function createAddressGuard(options: { policy: AddressPolicy; resolveHost: ResolveHost }): AddressGuard {
  const { policy, resolveHost } = options;

  const findAddresses = async (hostname: string): Promise<ResolvedAddress[]> => {
    const host = stripHost(hostname);
    const literal = toLiteral(host);
    if (literal !== null) return [literal];
    const addresses = await resolveHost(host).catch((error: unknown) => {
      throw new HostUnresolved(error);
    });
    if (addresses.length === 0) throw new HostUnresolved();
    return addresses;
  };

  const resolve = async (hostname: string): Promise<ResolvedAddress[]> => {
    const addresses = await findAddresses(hostname);
    // A single forbidden address is enough to refuse the name. Otherwise, a DNS server could mix allowed and forbidden
    // addresses, and the connection could use a forbidden one.
    if (addresses.every(({ address }) => isAllowedAddress(address, policy))) return addresses;
    throw new AddressRefused(`Address not allowed: ${REFUSAL[policy]}`);
  };

  return {
    refusalOfUrl: (url) => refusalOf(url, policy),
    resolve,
    async refusalOf(text) {
      const url = URL.parse(text);
      if (url === null) return 'url must be a URL that begins with http:// or https:// and names a host';
      const refusal = refusalOf(url, policy);
      if (refusal !== null) return refusal;
      try {
        await inTime(resolve(url.hostname), CHECK_TIMEOUT_MS, null);
        return null;
      } catch (error) {
        if (error instanceof AddressRefused) return REFUSAL[policy];
        if (error instanceof HostUnresolved) return null;
        throw error;
      }
    },
  };
}

/** Removes the brackets of an IPv6 address, and the final dot of a name (RFC 1034, section 3.1). */
function stripHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function toLiteral(host: string): ResolvedAddress | null {
  const version = isIP(host);
  return version === 4 || version === 6 ? { address: host, family: version } : null;
}

function subnets(family: Family, ...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
