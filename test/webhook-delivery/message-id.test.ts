/** Message ids: a UUID of version 7 with a prefix. */
import { expect, test } from 'vitest';
import { createMessageId, isMessageId } from '../../src/webhook-delivery/message-id.ts';

test('a message id is a UUID version 7 that begins with the time, and sorts by it', () => {
  const at = new Date('2026-06-15T12:00:00.123Z');
  const ids = Array.from({ length: 1_000 }, () => createMessageId(at));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) {
    expect(id).toMatch(/^msg_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    expect(Number.parseInt(id.slice(4, 16), 16)).toBe(at.getTime());
    expect(isMessageId(id)).toBe(true);
  }
  const later = createMessageId(new Date(at.getTime() + 1));
  for (const id of ids) expect(id < later).toBe(true);
});

test.each(['', 'msg_', `msg_${'g'.repeat(32)}`, `msg_${'0'.repeat(33)}`, `MSG_${'0'.repeat(32)}`, '\u0000'])(
  '%j is not a message id',
  (text) => expect(isMessageId(text)).toBe(false),
);
