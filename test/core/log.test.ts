import { expect, test } from 'vitest';
import { createRequestBounds, runCall } from '../../src/core/call-bounds.ts';
import { logSerializers, withCallIds } from '../../src/core/log.ts';

test('an object that stands for an error is logged with its message, and without its other fields', () => {
  // The job queue copies errors into such objects.
  const emitted = {
    ...new Error('x'),
    message: 'no connection',
    stack: 'at fetch',
    code: '57P01',
    queue: 'q',
    rows: [1],
  };
  expect(logSerializers.err(emitted)).toEqual({
    type: 'object',
    message: 'no connection',
    stack: 'at fetch',
    code: '57P01',
    queue: 'q',
  });
});

test('an object without a message is logged with the names of its fields', () => {
  expect(logSerializers.err({ password: 'secret' })).toEqual({
    type: 'object',
    message: 'An object with the fields password',
  });
});

test('a line that is logged during a call has the id of the request', () => {
  const lines: object[] = [];
  const write = (details: object, msg: string) => lines.push({ ...details, msg });
  const log = withCallIds({ debug: write, info: write, warn: write, error: write });
  const bounds = createRequestBounds(new AbortController().signal, 'request-1');
  runCall(bounds, { feature: 'test', isRead: true }, () => log.warn({ part: 'storage' }, 'Not ready'));
  log.info({}, 'Started');
  expect(lines).toEqual([{ reqId: 'request-1', part: 'storage', msg: 'Not ready' }, { msg: 'Started' }]);
});
