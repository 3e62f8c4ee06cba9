import { expect, test } from 'vitest';
import { canTransition, recordingStatuses, toRecordingStatus } from '../../src/core/recording-status.ts';

const legal = [
  'started > uploaded',
  'started > available',
  'started > failed',
  'uploaded > available',
  'uploaded > failed',
];

const all = recordingStatuses.flatMap((from) => recordingStatuses.map((to) => [from, to] as const));

test('there are 16 pairs of statuses', () => expect(all).toHaveLength(16));

test.each(all)('%s to %s', (from, to) => expect(canTransition(from, to)).toBe(legal.includes(`${from} > ${to}`)));

test('any other status in the database throws', () => {
  for (const status of recordingStatuses) expect(toRecordingStatus(status)).toBe(status);
  expect(() => toRecordingStatus('paused')).toThrow('Unknown recording status');
});
