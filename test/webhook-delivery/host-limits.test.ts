/** Limits on the requests to one host, from any workspace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHostLimits, toHost } from '../../src/webhook-delivery/host-limits.ts';
import { accept, startReceiver } from '../support/receiver.ts';
import { addTeam, type Team } from '../support/world.ts';
import { createGate, type DeliveryWorld, startDeliveryWorld, waitFor } from './fixtures/world.ts';

const webhook = { workspaceId: 1, webhookId: 2 };

describe('the limits of a host', () => {
  test('let so many requests be in flight, and end when half of them, but at most 20, are free again', () => {
    const limits = createHostLimits({ maxInFlight: 4, perSecond: 0 });
    expect([1, 2, 3, 4, 5].map(() => limits.start('a', webhook))).toEqual([true, true, true, true, false]);
    expect(limits.start('b', webhook)).toBe(true);
    expect(limits.findFull()).toEqual({ hosts: ['a'], webhooks: [webhook] });
    limits.end('a');
    expect(limits.findFull().hosts).toEqual(['a']);
    limits.end('a');
    expect(limits.findFull()).toEqual({ hosts: [], webhooks: [] });
    expect([1, 2, 3].map(() => limits.start('a', webhook))).toEqual([true, true, false]);
  });

  test('let so many requests start per second on average, and as many at once', () => {
    let now = 0;
    const limits = createHostLimits({ maxInFlight: 0, perSecond: 10 }, () => now);
    const countStarted = () => Array.from({ length: 100 }, () => limits.start('a', webhook)).filter(Boolean).length;
    expect(countStarted()).toBe(10);
    now += 400;
    expect(limits.findFull().hosts).toEqual(['a']);
    expect(countStarted()).toBe(4);
    now += 500;
    expect(limits.findFull().hosts).toEqual([]);
    now += 60_000;
    expect(countStarted()).toBe(10);
  });

  test('of 0 allow any number', () => {
    const limits = createHostLimits({ maxInFlight: 0, perSecond: 0 });
    expect(Array.from({ length: 5_000 }, () => limits.start('a', webhook)).every(Boolean)).toBe(true);
    expect(limits.findFull()).toEqual({ hosts: [], webhooks: [] });
  });
});

test.each([
  ['https://Example.COM/hook', 'example.com'],
  ['https://example.com.:8443/', 'example.com'],
  ['http://%65xample.com/', 'example.com'],
  ['http://0x7f.1/', '127.0.0.1'],
  ['http://[2001:DB8::1]/', '[2001:db8::1]'],
])('the host of %s is %s', (url, host) => {
  expect(toHost(url)).toBe(host);
});

describe('many webhooks for one host', () => {
  const MAX_IN_FLIGHT = 10;
  const WEBHOOKS = 60;
  let world: DeliveryWorld;
  beforeAll(async () => {
    world = await startDeliveryWorld({ maxInFlight: 256, hostLimits: { maxInFlight: MAX_IN_FLIGHT, perSecond: 0 } });
  });
  afterAll(() => world.close());

  function register({ id, owner }: Team, url: string) {
    return owner.client.webhooks.create.mutate({ id, name: 'Chat', url, events: ['member.left'] });
  }

  test('wait for each other in all workspaces, and delay neither another host nor each other for ever', async () => {
    const gate = createGate(accept);
    const flooded = await startReceiver(gate.handler);
    const other = await startReceiver();
    const teams = [await addTeam(world.app, 'One'), await addTeam(world.app, 'Two')];
    for (const team of teams)
      for (let index = 0; index < WEBHOOKS / 2; index += 1) await register(team, `${flooded.url}/same`);
    const quiet = await addTeam(world.app, 'Quiet');
    // The same machine under another name is another host.
    await register(quiet, `http://localhost:${other.port}/`);
    for (const { id } of teams) await world.emitMemberLeft(3, id);
    await flooded.waitFor(MAX_IN_FLIGHT);
    await world.emitMemberLeft(1, quiet.id);
    await other.waitFor(1);
    expect(gate.held()).toBe(MAX_IN_FLIGHT);
    gate.open();
    await flooded.waitFor(3 * WEBHOOKS);
    await world.waitUntilIdle();
    expect(flooded.requests.length).toBe(3 * WEBHOOKS);
    expect(gate.maxHeld()).toBe(MAX_IN_FLIGHT);
    await flooded.close();
    await other.close();
  });

  test('serve a quiet workspace before the backlog of a busy one', async () => {
    const gate = createGate(accept);
    const receiver = await startReceiver(gate.handler);
    const [busy, quiet] = [await addTeam(world.app, 'Busy'), await addTeam(world.app, 'Calm')];
    await register(busy, `${receiver.url}/busy`);
    await register(quiet, `${receiver.url}/quiet`);
    await world.emitMemberLeft(500, busy.id);
    await receiver.waitFor(MAX_IN_FLIGHT);
    await waitFor(async () => expect(await world.app.services.db.event.count({ where: { sequence: null } })).toBe(0));
    await world.emitMemberLeft(1, quiet.id);
    await waitFor(async () => expect(await world.app.services.db.event.count({ where: { sequence: null } })).toBe(0));
    gate.open();
    await receiver.waitFor(501);
    await world.waitUntilIdle();
    expect(receiver.requests.findIndex(({ target }) => target === '/quiet')).toBeLessThan(150);
    await receiver.close();
  });
});
