import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { createAddressGuard, type ResolveHost } from '../../src/egress/address-guard.ts';
import { createSender } from '../../src/webhook-delivery/http-sender.ts';
import { startRawReceiver, startReceiver } from '../support/receiver.ts';
import { closeAfterTest, expectNoResponse, sendOnce, until } from '../webhook-delivery/fixtures/senders.ts';

describe('the sender', () => {
  const REFUSED = 'Address not allowed: url must point to a public address';
  const publicAddress = { address: '93.184.216.34', family: 4 } as const;
  const ownAddress = { address: '127.0.0.1', family: 4 } as const;

  test.each([
    ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '017700000001', 'localhost', '[::1]', '0', '0.0.0.0', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '127.0.0.1.'],
  ])('does not connect to %s', async (host) => {
    const receiver = await closeAfterTest(startReceiver());
    const resolveHost: ResolveHost = async () => [ownAddress];
    const outcome = await sendOnce(`http://${host}:${receiver.port}/`, { policy: 'public', resolveHost });
    expectNoResponse(outcome, REFUSED);
    expect(receiver.connections).toEqual([]);
  });

  test('does not connect to a name that resolves to another address after it was checked', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const lookups = [[publicAddress], [ownAddress]];
    const resolveHost: ResolveHost = async () => lookups.shift() ?? [publicAddress];
    const url = `http://rebinding.example:${receiver.port}/`;
    expect(await createAddressGuard({ policy: 'public', resolveHost }).refusalOf(url)).toBeNull();
    expectNoResponse(await sendOnce(url, { policy: 'public', resolveHost }), REFUSED);
    expect(receiver.connections).toEqual([]);
  });

  test('resolves a name once for each connection, so that it connects to the address that was checked', async () => {
    const receiver = await closeAfterTest(startReceiver());
    let lookups = 0;
    const resolveHost: ResolveHost = async () => {
      lookups += 1;
      return lookups === 1 ? [ownAddress] : [{ address: '10.255.255.1', family: 4 }];
    };
    const outcome = await sendOnce(`http://rebinding.example:${receiver.port}/`, { resolveHost });
    expect(outcome).toMatchObject({ status: 200 });
    expect(lookups).toBe(1);
  });

  test('does not connect to a name with a public and a private address', async () => {
    const receiver = await closeAfterTest(startReceiver());
    for (const addresses of [
      [ownAddress, publicAddress],
      [publicAddress, ownAddress],
    ]) {
      const outcome = await sendOnce(`http://both.example:${receiver.port}/`, {
        policy: 'public',
        resolveHost: async () => addresses,
      });
      expectNoResponse(outcome, REFUSED);
    }
    expect(receiver.connections).toEqual([]);
  });

  test('tries the second address if the first refuses the connection', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const resolveHost: ResolveHost = async () => [{ address: '::1', family: 6 }, ownAddress];
    expect(await sendOnce(`http://both.test:${receiver.port}/`, { resolveHost })).toMatchObject({ status: 200 });
  });

  test('closes a connection to a wrong address before it sends a byte', async () => {
    const receiver = await closeAfterTest(startRawReceiver(() => {}));
    const received: Buffer[] = [];
    // A faulty guard: it allows the name, and lets the sender connect to another address.
    const guard = createAddressGuard({ policy: 'public', resolveHost: async () => [publicAddress] });
    const sender = createSender({
      clock: systemClock,
      guard: {
        ...guard,
        resolve: async (hostname) => (hostname === 'faulty.example' ? [ownAddress] : guard.resolve(hostname)),
      },
    });
    const sent = sender.send({ url: `http://faulty.example:${receiver.port}/`, headers: {}, body: '{}' });
    await until(() => receiver.connections.length > 0);
    receiver.connections[0]?.on('data', (chunk: Buffer) => received.push(chunk));
    expectNoResponse(await sent, REFUSED);
    await until(() => receiver.connections.every((socket) => socket.destroyed || socket.readableEnded));
    expect(received).toEqual([]);
    await sender.close();
  });

  test.each([22, 25, 0, 1023])('does not connect to port %i under any policy', async (port) => {
    const outcome = await sendOnce(`http://127.0.0.1:${port}/`, { policy: 'any' });
    expectNoResponse(outcome, 'Address not allowed: url must use port 80, 443 or one from 1024 to 65535');
  });

  test.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'nonsense', ''])('does not send to "%s"', async (url) => {
    const outcome = await sendOnce(url, { policy: 'any' });
    expect(outcome).toMatchObject({ status: 0, text: expect.stringMatching(/^Address not allowed: url /) });
  });
});
