/** What happens to a leased job once its message is loaded. */
import { expect, test } from 'vitest';
import type { LoadedMessage } from '../../src/webhook-delivery/load-messages.ts';
import type { Lane } from '../../src/webhook-delivery/queue.ts';
import { triage } from '../../src/webhook-delivery/triage.ts';
import { makeLease, makeMessage } from './fixtures/attempts.ts';

function triageOne(changes: Partial<LoadedMessage>, lane: Lane = 'fast') {
  const lease = makeLease('a');
  const message = makeMessage(lease, changes);
  const { due, misplaced, obsolete } = triage([lease], new Map([[message.id, message]]), lane);
  return { due: due.length, misplaced: misplaced.length, obsolete: obsolete.length };
}

test('a message that waits for this job is attempted', () => {
  expect(triageOne({})).toEqual({ due: 1, misplaced: 0, obsolete: 0 });
});

test.each<[string, Partial<LoadedMessage>]>([
  ['delivered', { status: 'delivered' }],
  ['cancelled', { status: 'cancelled', jobId: null }],
  ['sent again, with another job', { jobId: 'b' }],
  ['pending without a job', { jobId: null }],
  ['for an inactive webhook', { isWanted: false }],
])('nothing is sent for a message that is %s', (_, changes) => {
  expect(triageOne(changes)).toEqual({ due: 0, misplaced: 0, obsolete: 1 });
});

test('nothing is sent for a message that was deleted', () => {
  const lease = makeLease('a');
  expect(triage([lease], new Map(), 'fast')).toEqual({ due: [], misplaced: [], obsolete: [lease] });
});

test('a message for a slow webhook leaves the fast lane, and is attempted in the slow lane', () => {
  expect(triageOne({ isSlow: true }, 'fast')).toEqual({ due: 0, misplaced: 1, obsolete: 0 });
  expect(triageOne({ isSlow: true }, 'slow')).toEqual({ due: 1, misplaced: 0, obsolete: 0 });
});
