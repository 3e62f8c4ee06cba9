/** The addresses of host names. */
import { lookup, Resolver } from 'node:dns/promises';

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** All addresses of a name. Rejects, or finds an empty list, where it has none. */
export type ResolveHost = (hostname: string) => Promise<ResolvedAddress[]>;

export type DnsOptions = {
  /** Addresses of DNS servers, with ports where they are not 53; by default those of the machine. */
  servers?: readonly string[];
  /** For both families together, in milliseconds. */
  timeoutMs?: number;
};

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/** IPv4 first: a receiver on this machine more often listens there. */
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** By the machine's DNS servers, and by nothing else. */
export const resolveByDns: ResolveHost = createDnsResolver();

const resolveBySystem: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 4 ? 4 : 6 }));
};

/**
 * By DNS; and by the system for names that DNS does not know, such as those of the hosts file, which containers and
 * developers have for their own network.
 */
export const resolveByDnsOrSystem: ResolveHost = async (hostname) => {
  const addresses = await resolveByDns(hostname);
  return addresses.length > 0 ? addresses : resolveBySystem(hostname);
};

/**
 * Asks DNS for A and AAAA records at once, past `getaddrinfo`: that one blocks one of libuv's four threads for as long as
 * a server stays silent, and hashing passwords and writing files need them. A family that has not answered in time counts
 * as empty. Look-ups of one name at the same time are one. The list is empty where the name has no address.
 */
export function createDnsResolver({ servers, timeoutMs = TIMEOUT_MS }: DnsOptions = {}): ResolveHost {
  const underWay = new Map<string, Promise<ResolvedAddress[]>>();
  let resolver: Resolver | undefined;

  /** Made at the first look-up: it reads the machine's configuration. */
  const startResolver = (): Resolver => {
    const started = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (servers) started.setServers(servers);
    return started;
  };

  const ask = async (hostname: string): Promise<ResolvedAddress[]> => {
    resolver ??= startResolver();
    const expiry = Promise.withResolvers<string[]>();
    const timer = setTimeout(() => expiry.resolve([]), timeoutMs);
    const inTime = (query: Promise<string[]>) => Promise.race([query.catch((): string[] => []), expiry.promise]);
    const [fours, sixes] = await Promise.all([
      inTime(resolver.resolve4(hostname)),
      inTime(resolver.resolve6(hostname)),
    ]);
    clearTimeout(timer);
    return [
      ...fours.map((address) => ({ address, family: 4 }) as const),
      ...sixes.map((address) => ({ address, family: 6 }) as const),
    ];
  };

  return (hostname) => {
    if (isLocalhost(hostname)) return Promise.resolve([...LOOPBACK]);
    const asked = underWay.get(hostname);
    if (asked) return asked;
    const answer = ask(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, answer);
    return answer;
  };
}

/** RFC 6761, section 6.3: such names are loopback, and no DNS server is to be asked for them. */
function isLocalhost(hostname: string): boolean {
  return /^(?:.+\.)?localhost$/i.test(hostname);
}
