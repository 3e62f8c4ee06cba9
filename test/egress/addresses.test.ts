import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AddressRefused, isAllowedAddress } from '../../src/egress/address-guard.ts';
import {
  embeddings,
  ipv4Forms,
  ipv6Forms,
  isWithin,
  parseRange,
  type Range,
  toDottedDecimal,
  toFullIpv6,
} from './address-forms.ts';
import { createGuard, NOT_PUBLIC } from './address-guards.ts';

/** RFC 6890 and its successors: the ranges that other senders of webhooks refuse. */
const forbiddenIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
].map(parseRange);
const forbiddenIpv6 = [
  ...['::/128', '::1/128', 'fc00::/7', 'fe80::/10', 'ff00::/8', '2001:db8::/32', '3fff::/20', '100::/64', '2002::/16'],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '5f00::/16', '::ffff:0:0/96', '2001::/23'],
].map(parseRange);
const globalUnicast = parseRange('2000::/3');

function isForbidden(value: bigint, bits: 32 | 128): boolean {
  return bits === 32
    ? forbiddenIpv4.some((one) => isWithin(value, one))
    : !isWithin(value, globalUnicast) || forbiddenIpv6.some((one) => isWithin(value, one));
}

function addressText(value: bigint, bits: 32 | 128): string {
  return bits === 32 ? toDottedDecimal(value) : toFullIpv6(value);
}

const publicGuard = createGuard('public');

function members({ first, last }: Range): fc.Arbitrary<bigint> {
  return fc.oneof(fc.constantFrom(first, last), fc.bigInt({ min: first, max: last }));
}

/** Expects that a URL with this host is refused, and so is a connection to it. */
async function expectRefused(host: string): Promise<void> {
  const url = `http://${host}:8080/hook?x=1`;
  expect(await publicGuard.refusalOf(url), host).toBe(NOT_PUBLIC);
  await expect(publicGuard.resolve(new URL(url).hostname), host).rejects.toThrow(AddressRefused);
}

describe('the public policy', () => {
  test.each(forbiddenIpv4)('refuses $name in every notation', async (one) => {
    const check = async (value: bigint): Promise<void> => {
      expect(isAllowedAddress(toDottedDecimal(value), 'public')).toBe(false);
      for (const form of ipv4Forms(value)) await expectRefused(form);
      for (const embedded of embeddings(value)) {
        for (const form of ipv6Forms(embedded)) await expectRefused(form);
      }
    };
    await check(one.first);
    await check(one.last);
    await fc.assert(fc.asyncProperty(members(one), check), { numRuns: 10 });
  });

  test.each(forbiddenIpv6)('refuses $name in every notation', async (one) => {
    const check = async (value: bigint): Promise<void> => {
      expect(isAllowedAddress(toFullIpv6(value), 'public')).toBe(false);
      for (const form of ipv6Forms(value)) await expectRefused(form);
    };
    await check(one.first);
    await check(one.last);
    await fc.assert(fc.asyncProperty(members(one), check), { numRuns: 25 });
  });

  test('allows the neighbours of forbidden ranges, unless they are in another one', () => {
    const neighbours = [...forbiddenIpv4, ...forbiddenIpv6]
      .flatMap(({ first, last, bits }) => [first - 1n, last + 1n].map((value) => ({ value, bits })))
      .filter(({ value, bits }) => value >= 0n && value < 1n << BigInt(bits) && !isForbidden(value, bits));
    expect(neighbours.length).toBeGreaterThan(25);
    for (const { value, bits } of neighbours) {
      expect(isAllowedAddress(addressText(value, bits), 'public'), addressText(value, bits)).toBe(true);
    }
  });

  test.each([32, 128] as const)('refuses exactly the addresses of %i bits in these ranges', (bits) => {
    const anywhere = fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
    const global = fc.bigInt({ min: globalUnicast.first, max: globalUnicast.last });
    const edges = (bits === 32 ? forbiddenIpv4 : forbiddenIpv6)
      .flatMap(({ first, last }) => [first - 1n, first, last, last + 1n])
      .filter((value) => value >= 0n && value < 1n << BigInt(bits));
    const values = fc.oneof(anywhere, fc.constantFrom(...edges), ...(bits === 128 ? [global] : []));
    fc.assert(
      fc.property(values, (value) => {
        expect(isAllowedAddress(addressText(value, bits), 'public')).toBe(!isForbidden(value, bits));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001::1'])(
    'allows %s',
    async (address) => {
      expect(isAllowedAddress(address, 'public')).toBe(true);
      const host = address.includes(':') ? `[${address}]` : address;
      expect(await publicGuard.refusalOf(`https://${host}/`)).toBeNull();
      const family = address.includes(':') ? 6 : 4;
      expect(await publicGuard.resolve(host)).toEqual([
        { address: new URL(`http://${host}`).hostname.replace(/[[\]]/g, ''), family },
      ]);
    },
  );

  test.each([
    ...[
      '127.1',
      '0',
      '0x7f000001',
      '2130706433',
      '017700000001',
      '127.0.0.1.',
      '0x7f.1',
      '[::1]',
      '[::]',
      '127。0。0。1',
    ],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]'],
    ...[
      '169.254.169.254',
      '[fd00:ec2::254]',
      '100.64.0.1',
      '0.0.0.0',
      '255.255.255.255',
      '[fe80::1]',
      '[::ffff:8.8.8.8]',
    ],
    ...['[2001::1]', '[fec0::1]', '[ff02::1]', '[4000::1]', '[e000::1]'],
  ])('refuses http://%s', expectRefused);

  test.each([
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    '::1%lo',
    '0177.0.0.1',
    '127.1',
    '2130706433',
    'example.com',
    '',
    ' ',
    '1.1.1.1 ',
    '[2606:4700::1111]',
  ])('does not accept "%s" as an address', (text) => {
    expect(isAllowedAddress(text, 'public')).toBe(false);
    expect(isAllowedAddress(text, 'loopback')).toBe(false);
  });
});

describe('the other policies', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7fff:ffff',
    '1.1.1.1',
    '2606:4700::1111',
  ])('loopback allows %s', (address) => expect(isAllowedAddress(address, 'loopback')).toBe(true));

  test.each([
    '10.0.0.1',
    '0.0.0.0',
    '::',
    '192.168.1.1',
    '169.254.169.254',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '126.0.0.1%lo',
    '128.0.0.1%1',
    'fd00::1',
    '::2',
    '::7f00:1',
    '64:ff9b::7f00:1',
  ])('loopback refuses %s', (address) => expect(isAllowedAddress(address, 'loopback')).toBe(false));

  test.each([
    '10.0.0.1',
    '0.0.0.0',
    '::',
    '127.0.0.1',
    '169.254.169.254',
    'fe80::1%eth0',
    'fd00::1',
    '::ffff:10.0.0.1',
  ])('any allows %s', (address) => expect(isAllowedAddress(address, 'any')).toBe(true));

  test.each([
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    'ff02::1',
    'ff02::1%eth0',
    '::ffff:224.0.0.1',
    'nonsense',
    '',
  ])('any refuses %s', (address) => expect(isAllowedAddress(address, 'any')).toBe(false));

  test('name what they allow in their refusals', async () => {
    expect(await createGuard('loopback').refusalOf('http://10.0.0.1/')).toBe(
      'url must point to a public address or to this machine',
    );
    expect(await createGuard('any').refusalOf('http://224.0.0.1/')).toBe(
      'url must not point to a multicast or broadcast address',
    );
  });
});
