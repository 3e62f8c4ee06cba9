/** One attempt: which secrets sign it, and what becomes of errors of our own. */
import { createHmac } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { Sealer } from '../../src/core/sealing.ts';
import type { SendRequest } from '../../src/webhook-delivery/http-sender.ts';
import { type SendingServices, sendMessage } from '../../src/webhook-delivery/send-message.ts';
import { createKeyRing } from '../../src/webhook-delivery/signing-keys.ts';
import { quietLog } from '../support/quiet-log.ts';
import { AT, makeLease, makeMessage, makeOutcome } from './fixtures/attempts.ts';

/** Stores secrets as they are. */
const plainSealer: Sealer = {
  seal: (text) => new Uint8Array(Buffer.from(text)),
  open: (sealed) => Buffer.from(sealed).toString(),
  fingerprint: (text) => new Uint8Array(Buffer.from(text)),
  hasFingerprint: (text, fingerprint) => Buffer.from(text).equals(fingerprint),
  keyIds: [],
};

function makeServices(changes: Partial<SendingServices> = {}) {
  const requests: SendRequest[] = [];
  const services: SendingServices = {
    clock: { now: () => AT },
    log: quietLog,
    openKey: createKeyRing(plainSealer),
    sender: {
      send: async (request) => {
        requests.push(request);
        return makeOutcome(204);
      },
      close: async () => {},
    },
    ...changes,
  };
  return { requests, services };
}

const lease = makeLease('a');

function inOverlapUntil(previousSecretUntil: Date) {
  const previousSealedSecret = Buffer.from('whsec_previous');
  return { lease, message: makeMessage(lease, { previousSealedSecret, previousSecretUntil }) };
}

function sign(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

test('before the end of the overlap, the current and the previous secret sign', async () => {
  const { services, requests } = makeServices();
  const leased = inOverlapUntil(new Date(AT.getTime() + 1));
  await sendMessage(services, leased);
  const { payload } = leased.message;
  expect(requests[0]?.headers).toMatchObject({
    'x-webhook-signature': sign('whsec_current', payload),
    'x-webhook-signature-previous': sign('whsec_previous', payload),
  });
});

test('from the exact end of the overlap, the previous secret no longer signs', async () => {
  const { services, requests } = makeServices();
  await sendMessage(services, inOverlapUntil(AT));
  expect(requests[0]?.headers).not.toHaveProperty('x-webhook-signature-previous');
  expect(requests[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
});

test('the stored body is sent to the URL of the webhook, and the attempt has the time of its start', async () => {
  const { services, requests } = makeServices();
  const message = makeMessage(lease);
  expect(await sendMessage(services, { lease, message })).toEqual({
    lease,
    message,
    at: AT,
    outcome: makeOutcome(204),
    wasSent: true,
  });
  expect(requests).toMatchObject([{ url: message.url, body: message.payload }]);
});

test('a secret that cannot be opened is logged and recorded as not sent', async () => {
  const error = vi.fn();
  const cause = new Error('another key');
  const { services, requests } = makeServices({
    log: { ...quietLog, error },
    openKey: () => {
      throw cause;
    },
  });
  expect(await sendMessage(services, { lease, message: makeMessage(lease) })).toMatchObject({
    outcome: { status: 0, text: 'The service could not make this attempt' },
    wasSent: false,
  });
  expect(requests).toEqual([]);
  expect(error.mock.calls).toEqual([[{ err: cause, messageId: 'msg_a' }, 'A delivery attempt could not be made']]);
});
