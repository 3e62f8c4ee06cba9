/** Senders for tests, with what they may reach. */
import { afterEach, expect } from 'vitest';
import { type AddressPolicy, createAddressGuard, type ResolveHost } from '../../src/egress/address-guard.ts';
import { createSender, type Outcome, type Sender } from '../../src/webhook-delivery/http-sender.ts';

/** Short, so that a test of what hangs is quick. */
export const TIMEOUT_MS = 250;

/** undici takes a connection for free some turns of the event loop after an answer. */
export const IDLE_MS = 10;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Closes it after the test, whatever its outcome. */
export async function closedLater<T extends { close(): Promise<void> }>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  closing.push(() => started.close());
  return started;
}

/** Knows `*.test`, all of which is this machine. */
export const testNames: ResolveHost = async (hostname) =>
  hostname.endsWith('.test') ? [{ address: '127.0.0.1', family: 4 }] : [];

type Options = { policy?: AddressPolicy; resolveHost?: ResolveHost; timeoutMs?: number };

export function senderFor(options: Options = {}): Sender {
  const { policy = 'loopback', resolveHost = testNames, timeoutMs = 5_000 } = options;
  const sender = createSender({ guard: createAddressGuard({ policy, resolveHost }), timeoutMs });
  closing.push(() => sender.close());
  return sender;
}

/** One attempt by a sender of its own. */
export function attempt(url: string, options: Options = {}): Promise<Outcome> {
  return senderFor(options).send({ url, headers: { 'content-type': 'application/json' }, body: '{}' });
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Resolves when `holds` does; rejects when it does not in time. */
export async function until(holds: () => boolean, patienceMs = 2_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('It did not come to pass');
    await sleep(2);
  }
}

export const CLOSED = 'The connection was closed before a response arrived';

/** Without a status and with this reason, which names neither an address nor anything of ours. */
export function expectNoAnswer(outcome: Outcome, reason: string): void {
  expect(outcome).toEqual({ status: 0, text: reason, retryAfterSeconds: null, durationMs: expect.any(Number) });
  expect(outcome.text).not.toMatch(/127\.0\.0\.1|::1|:\d{4}|node:|undici|at /);
}
