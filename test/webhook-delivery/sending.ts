/** Senders for tests, and helpers to test them. */
import { afterEach, expect } from 'vitest';
import { type AddressPolicy, createAddressGuard, type ResolveHost } from '../../src/egress/address-guard.ts';
import { createSender, type Outcome, type Sender } from '../../src/webhook-delivery/http-sender.ts';

/** Short, so that tests of receivers that hang are quick. */
export const TIMEOUT_MS = 250;

/** undici reuses a connection only some turns of the event loop after the response. */
export const IDLE_MS = 10;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Closes a receiver or sender when the test ends, whether it passes or fails. */
export async function closedLater<T extends { close(): Promise<void> }>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  closing.push(() => started.close());
  return started;
}

/** Resolves every `*.test` to this machine. */
export const testNames: ResolveHost = async (hostname) =>
  hostname.endsWith('.test') ? [{ address: '127.0.0.1', family: 4 }] : [];

type Options = { policy?: AddressPolicy; resolveHost?: ResolveHost; timeoutMs?: number };

export function openSender(options: Options = {}): Sender {
  const { policy = 'loopback', resolveHost = testNames, timeoutMs = 5_000 } = options;
  const sender = createSender({ guard: createAddressGuard({ policy, resolveHost }), timeoutMs });
  closing.push(() => sender.close());
  return sender;
}

/** Sends once, with a sender of its own. */
export function attempt(url: string, options: Options = {}): Promise<Outcome> {
  return openSender(options).send({ url, headers: { 'content-type': 'application/json' }, body: '{}' });
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Resolves as soon as `holds` returns true. Rejects after `timeoutMs`. */
export async function until(holds: () => boolean, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('The condition does not hold');
    await sleep(2);
  }
}

export const CLOSED = 'The connection was closed before a response arrived';

/** Expects no status, and this reason, which reveals no address and nothing about this service. */
export function expectNoResponse(outcome: Outcome, reason: string): void {
  expect(outcome).toEqual({ status: 0, text: reason, retryAfterSeconds: null, durationMs: expect.any(Number) });
  expect(outcome.text).not.toMatch(/127\.0\.0\.1|::1|:\d{4}|node:|undici|at /);
}
