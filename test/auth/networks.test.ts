/** The networks by which callers are counted for rate limits. */
import { expect, test } from 'vitest';
import { networkOf } from '../../src/auth/networks.ts';

test.each([
  ['an IPv4 address is a network of its own', '203.0.113.9', '203.0.113.9'],
  ['an IPv4-mapped IPv6 address is the IPv4 address', '::ffff:203.0.113.9', '203.0.113.9'],
  ['also in upper case', '::FFFF:203.0.113.9', '203.0.113.9'],
  ['an IPv6 address belongs to its /48', '2001:db8:1:2:3:4:5:6', '2001:db8:1'],
  ['with any subnet and interface identifier', '2001:db8:1:ffff:ffff:ffff:ffff:ffff', '2001:db8:1'],
  ['in short notation', '2001:db8:1::1', '2001:db8:1'],
  ['with zeros omitted in the prefix', '2001:db8::5', '2001:db8:0'],
  ['with zeros omitted at the end', '2001:db8::', '2001:db8:0'],
  ['with leading zeros', '2001:0db8:0001:0002::1', '2001:db8:1'],
  ['in upper case', '2001:DB8:A:B::1', '2001:db8:a'],
  ['with a group that is zero', '2001:0:2:0:0:0:0:1', '2001:0:2'],
  ['with a zone', 'fe80::1%eth0', 'fe80:0:0'],
  ['loopback', '::1', '0:0:0'],
  ['an IPv4 address behind NAT64', '64:ff9b::192.0.2.1', '64:ff9b:0'],
])('%s: %s', (_, address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('the next /48 is another network', () => {
  expect(networkOf('2001:db8:2::1')).not.toBe(networkOf('2001:db8:1::1'));
});
