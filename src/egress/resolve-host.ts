/** Resolves host names to addresses. */
import { lookup, Resolver } from 'node:dns/promises';
import { inTime } from '../core/in-time.ts';

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** Returns all addresses of a name. Rejects, or resolves with an empty list, if there is none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

export type DnsOptions = {
  /** Addresses of DNS servers, with the port if it is not 53. Default: the DNS servers of this machine. */
  servers?: readonly string[];
  /** The time limit for the queries of both address families together, in milliseconds. */
  timeoutMs?: number;
};

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/** IPv4 first, because receivers on this machine usually listen on it. */
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Queries only the DNS servers of this machine. */
export const resolveByDns: ResolveHost = createDnsResolver();

/** Queries DNS. If DNS has no address for the name, uses the system's resolver, which also reads the hosts file. */
export async function resolveByDnsOrSystem(hostname: string): Promise<ResolvedAddress[]> {
  const addresses = await resolveByDns(hostname);
  return addresses.length > 0 ? addresses : resolveBySystem(hostname);
}

async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 4 ? 4 : 6 }));
}

/**
 * Queries DNS for A and AAAA records at the same time. It does not use `getaddrinfo`, which blocks one of libuv's four
 * threads until a DNS server responds. Password hashing and file access need those threads. A family whose response
 * does not arrive in time counts as empty. Simultaneous lookups of a name share one query per family. Resolves with an
 * empty list if the name has no address.
 */
export function createDnsResolver({ servers, timeoutMs = TIMEOUT_MS }: DnsOptions = {}): ResolveHost {
  const inFlight = new Map<string, Promise<ResolvedAddress[]>>();
  let resolver: Resolver | undefined;

  /** Called only on the first lookup, because it reads the DNS configuration of this machine. */
  const createResolver = (): Resolver => {
    const created = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (servers) created.setServers(servers);
    return created;
  };

  const lookUp = async (hostname: string): Promise<ResolvedAddress[]> => {
    resolver ??= createResolver();
    const orNone = (query: Promise<string[]>) =>
      inTime<string[], string[]>(
        query.catch(() => []),
        timeoutMs,
        [],
      );
    const [ipv4, ipv6] = await Promise.all([orNone(resolver.resolve4(hostname)), orNone(resolver.resolve6(hostname))]);
    return [
      ...ipv4.map((address) => ({ address, family: 4 }) as const),
      ...ipv6.map((address) => ({ address, family: 6 }) as const),
    ];
  };

  return (hostname) => {
    if (isLocalhost(hostname)) return Promise.resolve([...LOOPBACK]);
    const current = inFlight.get(hostname);
    if (current) return current;
    const started = lookUp(hostname).finally(() => inFlight.delete(hostname));
    inFlight.set(hostname, started);
    return started;
  };
}

/** Whether a name stands for loopback. Such names must not be looked up in DNS (RFC 6761, section 6.3). */
function isLocalhost(hostname: string): boolean {
  return /^(?:.+\.)?localhost$/i.test(hostname);
}
