/** What attempts change about a webhook. */
import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { Attempt } from '../../src/webhook-delivery/send-message.ts';
import { applyAttempts, MAX_FAILING_MS, type WebhookHealth } from '../../src/webhook-delivery/webhook-health.ts';
import { AT, makeAttempt, makeLease, makeMessage, makeOutcome } from './fixtures/attempts.ts';

const healthy: WebhookHealth = {
  workspaceId: 1,
  webhookId: 1,
  url: 'https://example.com/hook',
  isActive: true,
  failureCount: 0,
  failingSince: null,
  lastDeliveryAt: null,
  isSlow: false,
};
const failing: WebhookHealth = { ...healthy, failureCount: 3, failingSince: AT, lastDeliveryAt: AT, isSlow: true };

function attemptAt(ms: number, status: number, changes: Partial<Attempt> = {}): Attempt {
  return makeAttempt(`a-${ms}`, { at: new Date(AT.getTime() + ms), outcome: makeOutcome(status), ...changes });
}

function unchanged(health: WebhookHealth) {
  return { ...health, disabledReason: null };
}

test('an attempt that could not be made on our side does not count against the webhook', () => {
  const notSent = attemptAt(MINUTE_MS, 0, { wasSent: false });
  expect(applyAttempts(healthy, [notSent])).toEqual(unchanged(healthy));
  expect(applyAttempts(failing, [notSent])).toEqual(unchanged(failing));
});

test('an attempt that could not be made on our side does not deactivate a webhook that fails for 5 days', () => {
  const notSent = attemptAt(MAX_FAILING_MS, 0, { wasSent: false });
  expect(applyAttempts(failing, [notSent])).toEqual(unchanged(failing));
});

test('an attempt at a URL that the webhook no longer has does not count', () => {
  const lease = makeLease('old');
  const message = makeMessage(lease, { url: 'https://old.example.com/hook' });
  expect(applyAttempts(healthy, [attemptAt(0, 410, { lease, message })])).toEqual(unchanged(healthy));
});

test('failures are counted until a success, which resets them', () => {
  expect(applyAttempts(healthy, [attemptAt(0, 500), attemptAt(1_000, 0)])).toMatchObject({
    failureCount: 2,
    failingSince: AT,
    lastDeliveryAt: new Date(AT.getTime() + 1_000),
    isSlow: true,
  });
  expect(applyAttempts(failing, [attemptAt(1_000, 204)])).toMatchObject({
    failureCount: 0,
    failingSince: null,
    isSlow: false,
  });
});

test('the last attempt is the one that started last, in whatever order they finish', () => {
  const latest = new Date(AT.getTime() + 5_000);
  expect(applyAttempts(healthy, [attemptAt(5_000, 200), attemptAt(0, 200)]).lastDeliveryAt).toEqual(latest);
});

test.each([
  [2_000, false],
  [2_001, true],
])('a response that takes %i ms makes a webhook slow: %s', (durationMs, isSlow) => {
  const attempt = makeAttempt('a', { outcome: makeOutcome(200, { durationMs }) });
  expect(applyAttempts(healthy, [attempt])).toMatchObject({ isSlow, isActive: true });
});

test('410 deactivates, even if another attempt finished after it', () => {
  expect(applyAttempts(healthy, [attemptAt(0, 410), attemptAt(1, 200)])).toMatchObject({
    isActive: false,
    disabledReason: 'The receiver responded with 410 Gone',
  });
});

test('5 days of failures deactivate, and not a millisecond less', () => {
  expect(applyAttempts(failing, [attemptAt(MAX_FAILING_MS - 1, 500)])).toMatchObject({
    isActive: true,
    disabledReason: null,
  });
  expect(applyAttempts(failing, [attemptAt(MAX_FAILING_MS, 500)])).toMatchObject({
    isActive: false,
    disabledReason: 'All attempts of the last 5 days failed',
  });
});

test('a webhook that is inactive already gets no other reason', () => {
  expect(applyAttempts({ ...failing, isActive: false }, [attemptAt(MAX_FAILING_MS, 410)])).toMatchObject({
    isActive: false,
    disabledReason: null,
  });
});
