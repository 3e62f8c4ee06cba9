import { expect, test } from 'vitest';
import { logSerializers } from '../../src/core/log.ts';

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
