import { describe, expect, test, vi } from 'vitest';
import { type AddressPolicy, AddressRefused, HostUnresolved, resolveHostFor } from '../../src/egress/address-guard.ts';
import { answers, guardOf, notAsked, PUBLIC_SENTENCE } from './address-guards.ts';

const publicGuard = guardOf('public');

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
    vi.useFakeTimers();
    try {
      const refusal = guardOf('public', () => new Promise(() => {})).refusalOf(url);
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
