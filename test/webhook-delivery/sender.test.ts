import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { respond, startReceiver } from '../support/receiver.ts';
import { closeAfterTest, IDLE_MS, openSender, sendOnce, sleep } from './fixtures/senders.ts';

const headers = { 'content-type': 'application/json' };

describe('the request', () => {
  test('is one POST with these bytes and headers', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const body = JSON.stringify({ text: 'Käse 🧀 </script> \u2028' });
    const url = `${receiver.url}/hooks/ü?a=1&b=ö#part`;
    await openSender().send({ url, headers: { ...headers, 'webhook-id': 'msg_1' }, body });
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    expect(request?.method).toBe('POST');
    expect(request?.target).toBe('/hooks/%C3%BC?a=1&b=%C3%B6');
    expect(request?.body.equals(Buffer.from(body))).toBe(true);
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': 'msg_1',
      'user-agent': expect.stringMatching(/^Lynxroom-Webhooks\/\d/),
      'accept-encoding': 'identity',
    });
  });

  test('can have a body of 1 MB', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const body = JSON.stringify('é'.repeat(500_000));
    expect(await openSender().send({ url: receiver.url, headers, body })).toMatchObject({ status: 200 });
    expect(receiver.requests[0]?.body.equals(Buffer.from(body))).toBe(true);
  });

  test('has the host name of the URL in its header, not the address', async () => {
    const receiver = await closeAfterTest(startReceiver());
    await sendOnce(`http://receiver.test:${receiver.port}/`);
    expect(receiver.requests[0]?.headers.host).toBe(`receiver.test:${receiver.port}`);
  });

  test('does not contain the user and the password of the URL', async () => {
    const receiver = await closeAfterTest(startReceiver());
    await sendOnce(receiver.url.replace('//', '//user:secret@'));
    expect(receiver.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('is not sent with a line break in a header, which is an error of our own', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const sent = openSender().send({ url: receiver.url, headers: { 'x-webhook-event': 'a\r\nx-evil: 1' }, body: '{}' });
    await expect(sent).rejects.toThrow('invalid x-webhook-event header');
    expect(receiver.requests).toEqual([]);
  });
});

describe('the response', () => {
  test.each([200, 201, 204, 400, 401, 404, 410, 429, 500, 503, 599])('has the status %i', async (status) => {
    const receiver = await closeAfterTest(startReceiver(respond(status, status === 204 ? '' : 'said')));
    const text = status === 204 ? '' : 'said';
    const durationMs = expect.any(Number);
    expect(await sendOnce(receiver.url)).toEqual({ status, text, retryAfterSeconds: null, durationMs });
  });

  test.each([301, 302, 303, 307, 308])('is not followed if it is a redirect: %i', async (status) => {
    const target = await closeAfterTest(startReceiver());
    const receiver = await closeAfterTest(startReceiver(respond(status, 'moved', { location: `${target.url}/` })));
    expect(await sendOnce(receiver.url)).toMatchObject({ status, text: 'moved' });
    expect(target.connections).toEqual([]);
    expect(receiver.requests).toHaveLength(1);
  });

  test('may be a redirect without a target', async () => {
    const receiver = await closeAfterTest(startReceiver(respond(302)));
    expect(await sendOnce(receiver.url)).toMatchObject({ status: 302, text: '' });
  });

  test.each([
    ['seconds', '120', 120],
    ['ten years', '315360000', 315_360_000],
    ['a negative number', '-1', null],
    ['text', 'soon', null],
    ['several values', ['1', '5'], 5],
  ])('has a Retry-After with %s', async (_name, value, seconds) => {
    const receiver = await closeAfterTest(startReceiver(respond(429, '', { 'retry-after': value })));
    expect((await sendOnce(receiver.url)).retryAfterSeconds).toBe(seconds);
  });

  test.each([
    ['toUTCString', (date: Date) => date.toUTCString()],
    ['asctime', (date: Date) => date.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 $4')],
  ])('has a Retry-After with a date: %s', async (_name, format) => {
    const value = format(new Date(Date.now() + 60_000));
    const receiver = await closeAfterTest(startReceiver(respond(503, '', { 'retry-after': value })));
    const { retryAfterSeconds } = await sendOnce(receiver.url);
    expect(retryAfterSeconds).toBeGreaterThan(55);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test('has no Retry-After if it is a success', async () => {
    const receiver = await closeAfterTest(startReceiver(respond(200, '', { 'retry-after': '120' })));
    expect((await sendOnce(receiver.url)).retryAfterSeconds).toBeNull();
  });

  test('has U+FFFD for NUL and for bytes that are not UTF-8', async () => {
    const body = Buffer.from([0x61, 0x00, 0x62, 0xff, 0x63, 0xed, 0xa0, 0x80, 0x64, 0xe2, 0x82]);
    const receiver = await closeAfterTest(startReceiver(respond(200, body)));
    const { text } = await sendOnce(receiver.url);
    expect(text).toBe('a\uFFFDb\uFFFDc\uFFFD\uFFFD\uFFFDd\uFFFD');
    expect(text.isWellFormed()).toBe(true);
  });

  test('has a body of up to 10 kB completely, and its connection is reused', async () => {
    const receiver = await closeAfterTest(startReceiver(respond(200, 'x'.repeat(10_000))));
    const sender = openSender();
    for (let round = 0; round < 2; round++) {
      const { text } = await sender.send({ url: receiver.url, headers, body: '{}' });
      expect(text).toBe('x'.repeat(10_000));
      await sleep(IDLE_MS);
    }
    expect(receiver.connections).toHaveLength(1);
  });

  test('has a longer body cut at 10 kB, without the character that the cut splits', async () => {
    const receiver = await closeAfterTest(startReceiver(respond(200, `x${'€'.repeat(5_000)}`)));
    const { text } = await sendOnce(receiver.url);
    expect(text).toBe(`x${'€'.repeat(3_333)}`);
    const split = await closeAfterTest(startReceiver(respond(200, `xx${'€'.repeat(5_000)}`)));
    expect((await sendOnce(split.url)).text).toBe(`xx${'€'.repeat(3_332)}`);
  });

  test.each(['gzip', 'br', 'zstd', 'deflate'])('has a body in %s encoding, which is not decoded', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(8_000_000));
    const receiver = await closeAfterTest(startReceiver(respond(200, bomb, { 'content-encoding': encoding })));
    expect(await sendOnce(receiver.url)).toMatchObject({
      status: 200,
      text: `(body not decoded: ${encoding} encoding)`,
    });
  });

  test.each([
    ['identity', 'plain'],
    ['', 'plain'],
    ['gzip, <b>gzip</b>', '(body not decoded: unrecognized encoding)'],
  ])('with the encoding "%s" has the text: %s', async (encoding, text) => {
    const receiver = await closeAfterTest(startReceiver(respond(200, 'plain', { 'content-encoding': encoding })));
    expect((await sendOnce(receiver.url)).text).toBe(text);
  });

  test('is the final one, after interim responses', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => {
        response.writeProcessing();
        response.writeEarlyHints({ link: '</style.css>' });
        response.writeHead(202).end('final');
      }),
    );
    expect(await sendOnce(receiver.url)).toMatchObject({ status: 202, text: 'final' });
  });

  test('has a duration in whole milliseconds', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => void setTimeout(() => response.end(), 60)),
    );
    const { durationMs } = await sendOnce(receiver.url);
    expect(Number.isInteger(durationMs)).toBe(true);
    expect(durationMs).toBeGreaterThanOrEqual(55);
    expect(durationMs).toBeLessThan(5_000);
  });
});
