import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';

const current = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const previous = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
/** Not canonical base64: its text and the bytes that it encodes are two different keys. */
const nonCanonical = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const timestamp = '2026-11-20T12:00:00.000Z';

function sign(body: string, secrets: string[], attemptAt = new Date()) {
  return signedHeaders({
    messageId: 'msg_1',
    event: 'room.created',
    timestamp,
    attemptAt,
    body,
    keys: secrets.map(createSigningKey),
  });
}

function envelope(data: unknown): string {
  return JSON.stringify({ event: 'room.created', timestamp, data });
}

const bodies: [name: string, body: string][] = [
  ['plain', envelope({ room_name: 'daily' })],
  ['unicode', envelope({ room_name: 'Käse 🧀 日本語 \u2028 \u0000' })],
  ['markup', envelope({ room_name: '</script><!--' })],
  ['white space that parsing would drop', `  ${envelope({})}\r\n`],
  ['1 MB', envelope({ room_name: 'é'.repeat(500_000) })],
];

describe.each(bodies)('a body: %s', (_name, body) => {
  const bytes = Buffer.from(body);

  test('has a signature in hex: the HMAC-SHA256 of the bytes with the whole secret as the key', () => {
    const expected = createHmac('sha256', Buffer.from(current)).update(bytes).digest('hex');
    expect(sign(body, [current])['x-webhook-signature']).toBe(expected);
  });

  test('is verified by the library of Standard Webhooks', () => {
    expect(() => new Webhook(current).verify(bytes, sign(body, [current]))).not.toThrow();
    expect(() => new Webhook(previous).verify(bytes, sign(body, [current]))).toThrow();
  });

  test('is verified with either secret while they overlap', () => {
    const headers = sign(body, [current, previous]);
    for (const secret of [current, previous]) {
      expect(() => new Webhook(secret).verify(bytes, headers)).not.toThrow();
    }
    const sign256 = (secret: string) => createHmac('sha256', secret).update(bytes).digest('hex');
    expect(headers['x-webhook-signature']).toBe(sign256(current));
    expect(headers['x-webhook-signature-previous']).toBe(sign256(previous));
  });

  test('is not verified if one byte differs', () => {
    const changed = Buffer.from(bytes);
    changed[changed.length - 3] = (changed.at(-3) ?? 0) ^ 1;
    expect(() => new Webhook(current).verify(changed, sign(body, [current]))).toThrow();
  });
});

test('the headers are exactly these, and two signatures while secrets overlap', () => {
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

test('the signature equals the example of Standard Webhooks', () => {
  // From the tests of its libraries.
  const headers = signedHeaders({
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    event: 'test',
    timestamp,
    attemptAt: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
    keys: [createSigningKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  });
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('the two forms use different keys: the text of the secret, and the bytes that it encodes', () => {
  const { 'x-webhook-signature': hex = '', 'webhook-timestamp': at } = sign('{}', [nonCanonical]);
  expect(hex).toBe(createHmac('sha256', nonCanonical).update('{}').digest('hex'));
  const key = Buffer.from(nonCanonical.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`msg_1.${at}.{}`).digest('base64');
  expect(sign('{}', [nonCanonical])['webhook-signature']).toBe(`v1,${standard}`);
});

test('throws without a secret, since nobody could verify the message', () => {
  expect(() => sign('{}', [])).toThrow('at least one key');
});
