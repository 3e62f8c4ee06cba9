/** Addresses as numbers, ranges of addresses, and the notations of an address. */
export type Range = { first: bigint; last: bigint; bits: 32 | 128; name: string };

function parseGroups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}

function readIpv6(text: string): bigint {
  const [head = '', tail] = text.split('::');
  const left = parseGroups(head);
  const right = tail === undefined ? [] : parseGroups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0n);
  return [...left, ...zeros, ...right].reduce((value, group) => value * 0x10000n + group, 0n);
}

function readIpv4(text: string): bigint {
  return text.split('.').reduce((value, octet) => value * 256n + BigInt(octet), 0n);
}

/** Parses a range such as `10.0.0.0/8` or `fc00::/7`. */
export function parseRange(name: string): Range {
  const [network = '', prefix] = name.split('/');
  const bits = network.includes(':') ? 128 : 32;
  const first = bits === 128 ? readIpv6(network) : readIpv4(network);
  return { first, last: first + (1n << BigInt(bits - Number(prefix))) - 1n, bits, name };
}

export function isWithin(value: bigint, { first, last }: Range): boolean {
  return value >= first && value <= last;
}

export function toDottedDecimal(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => ((value >> shift) & 255n).toString()).join('.');
}

function toGroups(value: bigint): string[] {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
}

/** Returns eight groups of four digits. */
export function toFullIpv6(value: bigint): string {
  return toGroups(value)
    .map((group) => group.padStart(4, '0'))
    .join(':');
}

/** Returns the notations of an IPv4 address in a URL (https://url.spec.whatwg.org/#concept-ipv4-parser). */
export function ipv4Forms(value: bigint): string[] {
  const octets = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n);
  const [a = 0n, b = 0n] = octets;
  return [
    toDottedDecimal(value),
    `${toDottedDecimal(value)}.`,
    value.toString(),
    `0x${value.toString(16)}`,
    `0X${value.toString(16).toUpperCase()}`,
    `0${value.toString(8)}`,
    octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    octets.map((octet) => `0000${octet.toString(8)}`).join('.'),
    `${a}.${value & 0xffffffn}`,
    `${a}.${b}.${value & 0xffffn}`,
    // Full-width digits, and an ideographic full stop: domain names are normalised to ASCII.
    toDottedDecimal(value).replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    toDottedDecimal(value).replaceAll('.', '\u3002'),
    toDottedDecimal(value).replaceAll('.', '%2E'),
  ];
}

/** Returns the notations of an IPv6 address in a URL. */
export function ipv6Forms(value: bigint): string[] {
  const full = toFullIpv6(value);
  const short = toGroups(value).join(':');
  const compressed = new URL(`http://[${full}]`).hostname.slice(1, -1);
  const withIpv4 = `${toGroups(value).slice(0, 6).join(':')}:${toDottedDecimal(value & 0xffffffffn)}`;
  return [full, full.toUpperCase(), short, compressed, compressed.toUpperCase(), withIpv4].map((form) => `[${form}]`);
}

/** Returns the IPv6 addresses that embed an IPv4 address: mapped, compatible, NAT64 (two prefixes) and 6to4. */
export function embeddings(value: bigint): bigint[] {
  return [
    readIpv6('::ffff:0:0') + value,
    value,
    readIpv6('64:ff9b::') + value,
    readIpv6('64:ff9b:1::') + value,
    readIpv6('2002::') + (value << 80n),
  ];
}
