/** Network addresses of callers. */
import { isIP } from 'node:net';

/**
 * Returns the network by which calls are counted and queued: an IPv4 address, or an IPv6 /48. Providers assign
 * customers a /48 or a /56, so a smaller unit would give one customer many networks.
 */
export function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (v4) return v4;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right]
    .slice(0, 3)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

/**
 * Reads an IP address, or a network in CIDR notation, and returns it as PostgreSQL writes it: a single address has no
 * prefix length. Null for anything else, such as a network with bits beyond its prefix, which is probably a mistake.
 */
export function parseNetwork(text: string): string | null {
  const [address = '', prefix, ...rest] = text.trim().split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return null;
  const bits = version === 4 ? 32 : 128;
  if (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix)) return null;
  const length = prefix === undefined ? bits : Number(prefix);
  const canonical = version === 4 ? address : canonicalV6(address);
  // IPv4 addresses are never compared in their IPv6 form.
  if (length > bits || canonical.startsWith('::ffff:')) return null;
  const value = version === 4 ? toInteger(canonical.split('.'), 10) : toInteger(groupsOf(canonical), 16);
  if (value % (1n << BigInt(bits - length)) !== 0n) return null;
  return length === bits ? canonical : `${canonical}/${length}`;
}

/** Returns the address compressed, in lower case, and without an embedded IPv4 address. */
function canonicalV6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [left = '', right] = address.split('::');
  const [head, tail] = [left, right ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
}

function toInteger(groups: readonly string[], radix: 10 | 16): bigint {
  const [base, prefix] = radix === 10 ? [256n, ''] : [65_536n, '0x'];
  return groups.reduce((value, group) => value * base + BigInt(prefix + group), 0n);
}
