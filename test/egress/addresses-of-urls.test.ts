import { describe, expect, test, vi } from 'vitest';
import { type AddressPolicy, AddressRefused, HostUnresolved, resolveHostFor } from '../../src/egress/address-guard.ts';
import { createGuard, failToResolve, NOT_PUBLIC, resolveTo } from './address-guards.ts';

const publicGuard = createGuard('public');

describe('ports and schemes', () => {
  const policies: AddressPolicy[] = ['public', 'loopback', 'any'];

  test.each(policies)('%s: 80, 443 and 1024 to 65535 are allowed', async (policy) => {
    for (const port of ['', ':80', ':443', ':1024', ':8080', ':65535', ':']) {
      expect(await createGuard(policy).refusalOf(`http://1.1.1.1${port}/`), port).toBeNull();
      expect(await createGuard(policy).refusalOf(`https://1.1.1.1${port}/`), port).toBeNull();
    }
  });

  test.each(policies)('%s: the ports of other services are refused', async (policy) => {
    for (const port of [0, 1, 22, 25, 79, 81, 110, 442, 444, 465, 587, 993, 1023]) {
      const refusal = await createGuard(policy).refusalOf(`http://1.1.1.1:${port}/`);
      expect(refusal, String(port)).toBe('url must use port 80, 443 or one from 1024 to 65535');
    }
  });

  test('while somebody develops, webhooks may use any port of their own machine', async () => {
    const hosts = ['127.0.0.1', 'localhost', 'app.localhost', '[::1]'];
    const guard = createGuard('loopback', resolveTo('127.0.0.1'));
    for (const host of hosts) {
      expect(await guard.refusalOf(`http://${host}:81/`), host).toBeNull();
      for (const policy of ['public', 'any'] as const)
        expect(await createGuard(policy, resolveTo('127.0.0.1')).refusalOf(`http://${host}:81/`)).toMatch(/port/);
    }
    expect(await guard.refusalOf('http://127.0.0.1:0/')).toMatch(/port/);
    // A name that resolves to this machine is not one that only this machine can have.
    expect(await guard.refusalOf('http://evil.example:25/')).toMatch(/port/);
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
  ])('refuses "%s", which is not a URL', async (url) =>
    expect(await publicGuard.refusalOf(url)).toMatch(/^url must be a URL/),
  );
});

describe('a host name', () => {
  const url = 'https://receiver.example/hook';

  test('with public addresses only is allowed, and resolves to them', async () => {
    const guard = createGuard('public', resolveTo('1.1.1.1', '2606:4700::1111'));
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
  ])('is refused for one forbidden address: %j', async (addresses) => {
    const guard = createGuard('public', resolveTo(...addresses));
    expect(await guard.refusalOf(url)).toBe(NOT_PUBLIC);
    const refusal = await guard.resolve('receiver.example').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AddressRefused);
    for (const address of addresses) expect(String(refusal)).not.toContain(address);
  });

  test('without an address is allowed when saved, and refused when connecting', async () => {
    for (const resolveHost of [resolveTo(), failToResolve]) {
      const guard = createGuard('public', resolveHost);
      expect(await guard.refusalOf(url)).toBeNull();
      await expect(guard.resolve('receiver.example')).rejects.toThrow(HostUnresolved);
    }
  });

  test('whose DNS server does not respond is allowed after two seconds', async () => {
    vi.useFakeTimers();
    try {
      const refusal = createGuard('public', () => new Promise(() => {})).refusalOf(url);
      const settled = vi.fn();
      refusal.then(settled, settled);
      await vi.advanceTimersByTimeAsync(1_999);
      expect(settled).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(settled).toHaveBeenCalledWith(null);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['a final dot', 'http://receiver.example./', 'receiver.example'],
    ['capitals', 'http://RECEIVER.example/', 'receiver.example'],
    ['another script', 'http://bücher.example/', 'xn--bcher-kva.example'],
    ['no top-level domain', 'http://receiver/', 'receiver'],
  ])('with %s is looked up in its normal form', async (_name, text, expected) => {
    const queried: string[] = [];
    const guard = createGuard('public', (hostname) => {
      queried.push(hostname);
      return resolveTo('10.0.0.1')(hostname);
    });
    expect(await guard.refusalOf(text)).toBe(NOT_PUBLIC);
    expect(queried).toEqual([expected]);
  });

  test('of this machine is loopback', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'app.localhost']) {
      expect(await createGuard('public', resolveHostFor('public')).refusalOf(`http://${host}:3000/`)).toBe(NOT_PUBLIC);
      expect(await createGuard('loopback', resolveHostFor('loopback')).refusalOf(`http://${host}:3000/`)).toBeNull();
    }
  });
});
