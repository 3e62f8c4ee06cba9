/** The readable log of a terminal. */
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { logSerializers } from '../../src/core/log.ts';
import { openReadableStream } from '../../src/runtime/log-stream.ts';

async function print(write: (log: pino.Logger) => void): Promise<string> {
  let printed = '';
  const destination = new Writable({
    write(chunk, _, done) {
      printed += chunk;
      done();
    },
  });
  const stream = await openReadableStream(destination);
  if (stream === null) throw new Error('pino-pretty is not installed');
  write(pino({ serializers: logSerializers }, stream));
  await expect.poll(() => printed).toContain('last line');
  return printed;
}

test('shows control characters of callers, and lets them neither clear the terminal nor forge a line', async () => {
  const hostile = 'curl\x1b[2J\n[12:00:00] INFO: forged\r\x07\x9b2J\u202egpj\u2028\x7f';
  const printed = await print((log) => {
    log.info({ userAgent: hostile, nested: { list: [hostile] } }, hostile);
    log.warn({ err: new Error(hostile) }, 'an error');
    log.info('last line');
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  expect(printed).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
  const lines = printed.split('\n');
  expect(lines.filter((line) => line.startsWith('['))).toEqual([
    expect.stringMatching(/^\[[\d:]+\] INFO: curl\\u001b\[2J\\u000a\[12:00:00\] INFO: forged\\u000d/),
    expect.stringMatching(/^\[[\d:]+\] WARN: an error$/),
    expect.stringMatching(/^\[[\d:]+\] INFO: last line$/),
  ]);
});

test('shows the stack of an error on lines of its own', async () => {
  const printed = await print((log) => {
    log.error({ err: new Error('broken') }, 'failed');
    log.info('last line');
  });
  expect(printed).toMatch(/\n\s+Error: broken\n\s+at .*log-stream\.test\.ts/);
});
