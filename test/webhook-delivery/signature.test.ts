import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';

const current = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const previous = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
/** Its text is no canonical base64: one key of bytes, another of text. */
const awkward = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const timestamp = '2026-11-20T12:00:00.000Z';

function sign(body: string, secrets: string[], attemptAt = new Date()) {
  return signedHeaders({ messageId: 'msg_1', event: 'room.created', timestamp, attemptAt, body, secrets });
}

function envelope(data: unknown): string {
  return JSON.stringify({ event: 'room.created', timestamp, data });
}

const bodies: [name: string, body: string][] = [
  ['plain', envelope({ room_name: 'daily' })],
  ['unicode', envelope({ room_name: 'Käse 🧀 日本語 \u2028 \u0000' })],
  ['markup', envelope({ room_name: '</script><!--' })],
  ['white space that JSON would drop', `  ${envelope({})}\r\n`],
  ['1 MB', envelope({ room_name: 'é'.repeat(500_000) })],
];

describe.each(bodies)('a body: %s', (_name, body) => {
  const bytes = Buffer.from(body);

  test("verifies by the contract's recipe: hex HMAC-SHA256 of the bytes, keyed with the whole secret", () => {
    const expected = createHmac('sha256', Buffer.from(current)).update(bytes).digest('hex');
    expect(sign(body, [current])['x-webhook-signature']).toBe(expected);
  });

  test('verifies by the library of Standard Webhooks', () => {
    expect(() => new Webhook(current).verify(bytes, sign(body, [current]))).not.toThrow();
    expect(() => new Webhook(previous).verify(bytes, sign(body, [current]))).toThrow();
  });

  test('verifies with both secrets while they overlap', () => {
    const headers = sign(body, [current, previous]);
    for (const secret of [current, previous]) {
      expect(() => new Webhook(secret).verify(bytes, headers)).not.toThrow();
    }
    const recipe = (secret: string) => createHmac('sha256', secret).update(bytes).digest('hex');
    expect(headers['x-webhook-signature']).toBe(recipe(current));
    expect(headers['x-webhook-signature-previous']).toBe(recipe(previous));
  });

  test('does not verify when one byte is another', () => {
    const changed = Buffer.from(bytes);
    changed[changed.length - 3] = (changed.at(-3) ?? 0) ^ 1;
    expect(() => new Webhook(current).verify(changed, sign(body, [current]))).toThrow();
  });
});

test('has exactly these headers, of which the previous signature only while secrets overlap', () => {
  const attemptAt = new Date('2026-11-21T00:00:00.999Z');
  expect(sign('{}', [current], attemptAt)).toStrictEqual({
    'content-type': 'application/json',
    'x-webhook-event': 'room.created',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    'webhook-id': 'msg_1',
    'webhook-timestamp': '1795219200',
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  });
  expect(sign('{}', [current, previous])['webhook-signature']).toMatch(/^v1,[^ ]{44} v1,[^ ]{44}$/);
});

test('signs as the documents of Standard Webhooks do', () => {
  // The example of its libraries' tests.
  const headers = signedHeaders({
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    event: 'test',
    timestamp,
    attemptAt: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('keys the two forms differently: with the text of the secret, and with the bytes that it holds', () => {
  const { 'x-webhook-signature': hex = '', 'webhook-timestamp': at } = sign('{}', [awkward]);
  expect(hex).toBe(createHmac('sha256', awkward).update('{}').digest('hex'));
  const key = Buffer.from(awkward.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`msg_1.${at}.{}`).digest('base64');
  expect(sign('{}', [awkward])['webhook-signature']).toBe(`v1,${standard}`);
});

test('refuses to send what nobody could verify', () => {
  expect(() => sign('{}', [])).toThrow('no secret');
});
