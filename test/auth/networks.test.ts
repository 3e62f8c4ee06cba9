/** Who shares a network address: the unit by which callers are limited. */
import { expect, test } from 'vitest';
import { networkOf } from '../../src/auth/rate-limits.ts';

test.each([
  ['an IPv4 address is its own', '203.0.113.9', '203.0.113.9'],
  ['IPv4 in IPv6 is that IPv4 address', '::ffff:203.0.113.9', '203.0.113.9'],
  ['also in capitals', '::FFFF:203.0.113.9', '203.0.113.9'],
  ['IPv6 is its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['whatever comes behind it', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2'],
  ['written short', '2001:db8:1:2::1', '2001:db8:1:2'],
  ['with zeros left out in front', '2001:db8::5', '2001:db8:0:0'],
  ['with zeros left out behind', '2001:db8::', '2001:db8:0:0'],
  ['with leading zeros', '2001:0db8:0001:0002::1', '2001:db8:1:2'],
  ['in capitals', '2001:DB8:A:B::1', '2001:db8:a:b'],
  ['with a group that is zero', '2001:db8:0:2:0:0:0:1', '2001:db8:0:2'],
  ['with a zone', 'fe80::1%eth0', 'fe80:0:0:0'],
  ['loopback', '::1', '0:0:0:0'],
  ['IPv4 of a translator', '64:ff9b::192.0.2.1', '64:ff9b:0:0'],
])('%s: %s', (_, address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('the next /64 is another network', () => {
  expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'));
});
