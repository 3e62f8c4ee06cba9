/** `verifyWebhook` of the client accepts what this service sends, and nothing else. */
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../packages/client/src/index.ts';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
const otherSecret = `whsec_${Buffer.from('another secret').toString('base64')}`;
const body = JSON.stringify({
  event: 'room.left',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { room_name: 'Zürich' },
});

function sign(options: { attemptAt?: Date; secrets?: string[] } = {}): Record<string, string> {
  return signedHeaders({
    messageId: 'msg_1',
    event: 'room.left',
    timestamp: '2026-01-01T00:00:00.000Z',
    attemptAt: options.attemptAt ?? new Date(),
    body,
    keys: (options.secrets ?? [secret]).map(createSigningKey),
  });
}

test('a message of the service is verified, from text, bytes, Headers and plain headers', async () => {
  const parsed = JSON.parse(body);
  expect(await verifyWebhook(body, sign(), secret)).toEqual(parsed);
  expect(await verifyWebhook(new TextEncoder().encode(body), new Headers(sign()), secret)).toEqual(parsed);
});

test('either secret verifies a message during the overlap after a rotation', async () => {
  const headers = sign({ secrets: [otherSecret, secret] });
  for (const one of [secret, otherSecret]) expect(await verifyWebhook(body, headers, one)).toBeTruthy();
});

test('the event determines the type of the data', async () => {
  const message = await verifyWebhook(body, sign(), secret);
  if (message.event !== 'room.left') throw new Error('Another event');
  const name: string = message.data.room_name;
  expect(name).toBe('Zürich');
});

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const refused = 'No signature of the message is valid';
const tooOld = 'The message is too old or from the future';

test.each<[string, string, Record<string, string | undefined>, string, string]>([
  ['another body', `${body} `, sign(), secret, refused],
  ['another secret', body, sign(), otherSecret, refused],
  ['another id', body, { ...sign(), 'webhook-id': 'msg_2' }, secret, refused],
  ['an unknown version', body, { ...sign(), 'webhook-signature': 'v2,AAAA' }, secret, refused],
  ['a signature that is not base64', body, { ...sign(), 'webhook-signature': 'v1,%' }, secret, refused],
  ['an old message', body, sign({ attemptAt: minutesAgo(6) }), secret, tooOld],
  ['a message from the future', body, sign({ attemptAt: minutesAgo(-6) }), secret, tooOld],
  ['a time that is no number', body, { ...sign(), 'webhook-timestamp': 'now' }, secret, tooOld],
  [
    'no signature',
    body,
    { ...sign(), 'webhook-signature': undefined },
    secret,
    'The header webhook-signature is missing',
  ],
])('%s is refused', async (_, text, headers, key, message) => {
  const reason = await verifyWebhook(text, headers, key).catch((error: unknown) => error);
  expect(reason).toBeInstanceOf(WebhookVerificationError);
  expect(reason).toMatchObject({ message });
});

test('a secret that is not one is refused', async () => {
  await expect(verifyWebhook(body, sign(), 'whsec_')).rejects.toThrow('The secret must be whsec_ followed by base64');
});
