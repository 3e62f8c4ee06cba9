import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AddressGuard,
  type AddressPolicy,
  AddressRefused,
  createAddressGuard,
  HostUnresolved,
  isAllowedAddress,
  type ResolveHost,
  resolveHostFor,
} from '../../src/delivery/addresses.ts';
import { dotted, embeddings, fullIpv6, ipv4Forms, ipv6Forms, isWithin, type Range, range } from './address-forms.ts';

/** RFC 6890 and its successors, as senders of webhooks keep them. */
const forbiddenIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
].map(range);
const forbiddenIpv6 = [
  ...['::/128', '::1/128', 'fc00::/7', 'fe80::/10', 'ff00::/8', '2001:db8::/32', '3fff::/20', '100::/64', '2002::/16'],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '5f00::/16', '::ffff:0:0/96', '2001::/23'],
].map(range);
const globalUnicast = range('2000::/3');

const isForbidden = (value: bigint, bits: 32 | 128): boolean =>
  bits === 32
    ? forbiddenIpv4.some((one) => isWithin(value, one))
    : !isWithin(value, globalUnicast) || forbiddenIpv6.some((one) => isWithin(value, one));

const addressText = (value: bigint, bits: 32 | 128): string => (bits === 32 ? dotted(value) : fullIpv6(value));

const notAsked: ResolveHost = (hostname) => Promise.reject(new Error(`Asked for ${hostname}`));
const guardOf = (policy: AddressPolicy, resolveHost: ResolveHost = notAsked): AddressGuard =>
  createAddressGuard({ policy, resolveHost });
const answers = (...addresses: string[]): ResolveHost => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));
  return () => Promise.resolve(found);
};

const PUBLIC_SENTENCE = 'url must lead to a public address';
const publicGuard = guardOf('public');

const members = ({ first, last }: Range): fc.Arbitrary<bigint> =>
  fc.oneof(fc.constantFrom(first, last), fc.bigInt({ min: first, max: last }));

/** At save and at connect: by no way of writing it can the address be used. */
const expectRefused = async (host: string): Promise<void> => {
  const url = `http://${host}:8080/hook?x=1`;
  expect(await publicGuard.refusalOf(url), host).toBe(PUBLIC_SENTENCE);
  await expect(publicGuard.resolve(new URL(url).hostname), host).rejects.toThrow(AddressRefused);
};

describe('the public policy', () => {
  test.each(forbiddenIpv4)('refuses $name in every form', async (one) => {
    const check = async (value: bigint): Promise<void> => {
      expect(isAllowedAddress(dotted(value), 'public')).toBe(false);
      for (const form of ipv4Forms(value)) await expectRefused(form);
      for (const embedded of embeddings(value)) {
        for (const form of ipv6Forms(embedded)) await expectRefused(form);
      }
    };
    await check(one.first);
    await check(one.last);
    await fc.assert(fc.asyncProperty(members(one), check), { numRuns: 10 });
  });

  test.each(forbiddenIpv6)('refuses $name in every form', async (one) => {
    const check = async (value: bigint): Promise<void> => {
      expect(isAllowedAddress(fullIpv6(value), 'public')).toBe(false);
      for (const form of ipv6Forms(value)) await expectRefused(form);
    };
    await check(one.first);
    await check(one.last);
    await fc.assert(fc.asyncProperty(members(one), check), { numRuns: 25 });
  });

  test('allows the neighbours of forbidden ranges, where no other range holds them', () => {
    const neighbours = [...forbiddenIpv4, ...forbiddenIpv6]
      .flatMap(({ first, last, bits }) => [first - 1n, last + 1n].map((value) => ({ value, bits })))
      .filter(({ value, bits }) => value >= 0n && value < 1n << BigInt(bits) && !isForbidden(value, bits));
    expect(neighbours.length).toBeGreaterThan(25);
    for (const { value, bits } of neighbours) {
      expect(isAllowedAddress(addressText(value, bits), 'public'), addressText(value, bits)).toBe(true);
    }
  });

  test.each([32, 128] as const)('judges any address of %i bits as the ranges do', (bits) => {
    const anywhere = fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
    const global = fc.bigInt({ min: globalUnicast.first, max: globalUnicast.last });
    const edges = (bits === 32 ? forbiddenIpv4 : forbiddenIpv6)
      .flatMap(({ first, last }) => [first - 1n, first, last, last + 1n])
      .filter((value) => value >= 0n && value < 1n << BigInt(bits));
    const drawn = fc.oneof(anywhere, fc.constantFrom(...edges), ...(bits === 128 ? [global] : []));
    fc.assert(
      fc.property(drawn, (value) => {
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
  ])('takes "%s" for no address', (text) => {
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

  test('each says what it allows', async () => {
    expect(await guardOf('loopback').refusalOf('http://10.0.0.1/')).toBe(
      'url must lead to a public address or to this machine',
    );
    expect(await guardOf('any').refusalOf('http://224.0.0.1/')).toBe(
      'url must lead to an address that can be connected to',
    );
  });
});

describe('ports and schemes', () => {
  const policies: AddressPolicy[] = ['public', 'loopback', 'any'];

  test.each(policies)('%s: 80, 443 and 1024 to 65535 are allowed', async (policy) => {
    for (const port of ['', ':80', ':443', ':1024', ':8080', ':65535', ':']) {
      expect(await guardOf(policy).refusalOf(`http://1.1.1.1${port}/`), port).toBeNull();
      expect(await guardOf(policy).refusalOf(`https://1.1.1.1${port}/`), port).toBeNull();
    }
  });

  test.each(policies)('%s: the ports of other services are refused', async (policy) => {
    for (const port of [0, 1, 22, 25, 79, 81, 110, 442, 444, 465, 587, 993, 1023]) {
      const refusal = await guardOf(policy).refusalOf(`http://1.1.1.1:${port}/`);
      expect(refusal, String(port)).toBe('url must use port 80, 443 or one from 1024 to 65535');
    }
  });

  test.each(['ftp://1.1.1.1/', 'file:///etc/passwd', 'gopher://1.1.1.1:8080/', 'javascript:alert(1)', 'ws://1.1.1.1/'])(
    'refuses %s',
    async (url) => expect(await publicGuard.refusalOf(url)).toBe('url must begin with http:// or https://'),
  );

  test.each([
    '',
    'http://',
    'http://1.1.1.1:65536/',
    'http://256.1.1.1/',
    'http://[::1/',
    'http://[fe80::1%25eth0]/',
    '//1.1.1.1',
  ])('refuses "%s", which is no URL', async (url) =>
    expect(await publicGuard.refusalOf(url)).toMatch(/^url must be a URL/),
  );
});

describe('names', () => {
  const url = 'https://receiver.example/hook';

  test('pass with public addresses only, which are those to dial', async () => {
    const guard = guardOf('public', answers('1.1.1.1', '2606:4700::1111'));
    expect(await guard.refusalOf(url)).toBeNull();
    expect(await guard.resolve('receiver.example')).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  test.each([
    [['1.1.1.1', '10.0.0.1']],
    [['10.0.0.1', '1.1.1.1']],
    [['1.1.1.1', '::1']],
    [['::ffff:127.0.0.1']],
    [['fd00:ec2::254']],
    [['1.1.1.1', 'nonsense']],
  ])('are refused for one forbidden address: %j', async (addresses) => {
    const guard = guardOf('public', answers(...addresses));
    expect(await guard.refusalOf(url)).toBe(PUBLIC_SENTENCE);
    const refusal = await guard.resolve('receiver.example').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AddressRefused);
    for (const address of addresses) expect(String(refusal)).not.toContain(address);
  });

  test('without an address pass at save, and do not at connect', async () => {
    for (const resolveHost of [answers(), notAsked]) {
      const guard = guardOf('public', resolveHost);
      expect(await guard.refusalOf(url)).toBeNull();
      await expect(guard.resolve('receiver.example')).rejects.toThrow(HostUnresolved);
    }
  });

  test('whose server stays silent pass at save after two seconds', async () => {
    const began = performance.now();
    expect(await guardOf('public', () => new Promise(() => {})).refusalOf(url)).toBeNull();
    expect(performance.now() - began).toBeLessThan(2_500);
  });

  test.each([
    ['a final dot', 'http://receiver.example./', 'receiver.example'],
    ['capitals', 'http://RECEIVER.example/', 'receiver.example'],
    ['another script', 'http://bücher.example/', 'xn--bcher-kva.example'],
    ['no top-level domain', 'http://receiver/', 'receiver'],
  ])('with %s are looked up in one form', async (_name, text, expected) => {
    const asked: string[] = [];
    const guard = guardOf('public', (hostname) => {
      asked.push(hostname);
      return answers('10.0.0.1')(hostname);
    });
    expect(await guard.refusalOf(text)).toBe(PUBLIC_SENTENCE);
    expect(asked).toEqual([expected]);
  });

  test('of this machine are loopback', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'app.localhost']) {
      expect(await guardOf('public', resolveHostFor('public')).refusalOf(`http://${host}:3000/`)).toBe(PUBLIC_SENTENCE);
      expect(await guardOf('loopback', resolveHostFor('loopback')).refusalOf(`http://${host}:3000/`)).toBeNull();
    }
  });
});
