import { describe, expect, test } from 'vitest';
import { createAddressGuard, type ResolveHost } from '../../src/egress/address-guard.ts';
import { createSender } from '../../src/webhook-delivery/http-sender.ts';
import { startRawReceiver, startReceiver } from '../support/receiver.ts';
import { attempt, closedLater, expectNoAnswer, until } from '../webhook-delivery/sending.ts';

describe('addresses', () => {
  const REFUSED = 'Address not allowed: url must point to a public address';
  const publicAddress = { address: '93.184.216.34', family: 4 } as const;
  const ownAddress = { address: '127.0.0.1', family: 4 } as const;

  test.each([
    ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '017700000001', 'localhost', '[::1]', '0', '0.0.0.0', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '127.0.0.1.'],
  ])('%s is not dialled', async (host) => {
    const receiver = await closedLater(startReceiver());
    const resolveHost: ResolveHost = async () => [ownAddress];
    const outcome = await attempt(`http://${host}:${receiver.port}/`, { policy: 'public', resolveHost });
    expectNoAnswer(outcome, REFUSED);
    expect(receiver.connections).toEqual([]);
  });

  test('a name that changes between the check and the connection is not dialled', async () => {
    const receiver = await closedLater(startReceiver());
    const answers = [[publicAddress], [ownAddress]];
    const resolveHost: ResolveHost = async () => answers.shift() ?? [publicAddress];
    const url = `http://rebinding.example:${receiver.port}/`;
    expect(await createAddressGuard({ policy: 'public', resolveHost }).refusalOf(url)).toBeNull();
    expectNoAnswer(await attempt(url, { policy: 'public', resolveHost }), REFUSED);
    expect(receiver.connections).toEqual([]);
  });

  test('a name is looked up once a connection, so that what was checked is what is dialled', async () => {
    const receiver = await closedLater(startReceiver());
    let lookups = 0;
    const resolveHost: ResolveHost = async () => {
      lookups += 1;
      return lookups === 1 ? [ownAddress] : [{ address: '10.255.255.1', family: 4 }];
    };
    const outcome = await attempt(`http://rebinding.example:${receiver.port}/`, { resolveHost });
    expect(outcome).toMatchObject({ status: 200 });
    expect(lookups).toBe(1);
  });

  test('a name with a public and a private address is not dialled', async () => {
    const receiver = await closedLater(startReceiver());
    for (const found of [
      [ownAddress, publicAddress],
      [publicAddress, ownAddress],
    ]) {
      const outcome = await attempt(`http://both.example:${receiver.port}/`, {
        policy: 'public',
        resolveHost: async () => found,
      });
      expectNoAnswer(outcome, REFUSED);
    }
    expect(receiver.connections).toEqual([]);
  });

  test('the second address is tried where the first refuses', async () => {
    const receiver = await closedLater(startReceiver());
    const resolveHost: ResolveHost = async () => [{ address: '::1', family: 6 }, ownAddress];
    expect(await attempt(`http://both.test:${receiver.port}/`, { resolveHost })).toMatchObject({ status: 200 });
  });

  test('a connection that led elsewhere after all is closed before a byte is sent', async () => {
    const receiver = await closedLater(startRawReceiver(() => {}));
    const received: Buffer[] = [];
    // What no resolver may do: say one address to the check and let another be dialled.
    const guard = createAddressGuard({ policy: 'public', resolveHost: async () => [publicAddress] });
    const sender = createSender({
      guard: {
        ...guard,
        resolve: async (hostname) => (hostname === 'liar.example' ? [ownAddress] : guard.resolve(hostname)),
      },
    });
    const sent = sender.send({ url: `http://liar.example:${receiver.port}/`, headers: {}, body: '{}' });
    await until(() => receiver.connections.length > 0);
    receiver.connections[0]?.on('data', (chunk: Buffer) => received.push(chunk));
    expectNoAnswer(await sent, REFUSED);
    await until(() => receiver.connections.every((socket) => socket.destroyed || socket.readableEnded));
    expect(received).toEqual([]);
    await sender.close();
  });

  test.each([22, 25, 0, 1023])('port %i is not dialled under any policy', async (port) => {
    const outcome = await attempt(`http://127.0.0.1:${port}/`, { policy: 'any' });
    expectNoAnswer(outcome, 'Address not allowed: url must use port 80, 443 or one from 1024 to 65535');
  });

  test.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'nonsense', ''])('"%s" is no URL to send to', async (url) => {
    const outcome = await attempt(url, { policy: 'any' });
    expect(outcome).toMatchObject({ status: 0, text: expect.stringMatching(/^Address not allowed: url /) });
  });
});
