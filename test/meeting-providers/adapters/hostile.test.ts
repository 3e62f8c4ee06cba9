/**
 * Whatever arrives, signed or not, an adapter accepts it, or throws UnverifiedCallback or MalformedCallback.
 */
import {
  type Arbitrary,
  anything,
  array,
  assert,
  asyncProperty,
  constantFrom,
  dictionary,
  integer,
  json,
  letrec,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createGenericSecret } from '../../../src/features/meeting-providers/adapters/generic.ts';
import { type ProviderKind, providerKinds, providers } from '../../../src/features/meeting-providers/adapters/index.ts';
import type { Callback, VerifiedCallback } from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';
import {
  MalformedCallback,
  UnverifiedCallback,
} from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';
import {
  bodyOf,
  genericEvent,
  livekitEgress,
  livekitFile,
  livekitParticipant,
  signGeneric,
  signLivekit,
  signVonage,
  vonageArchive,
  vonageConnection,
} from './callbacks.ts';

const SECRET = 'a secret of the hostile tests';
const genericSecret = createGenericSecret();

const credentials = {
  vonage: { signature_secret: SECRET },
  livekit: { api_key: 'APIkey', api_secret: SECRET },
  generic: { secret: genericSecret },
};

const sign: Record<ProviderKind, (body: Buffer) => Promise<Callback['headers']>> = {
  vonage: (body) => signVonage(body, SECRET),
  livekit: (body) => signLivekit(body, 'APIkey', SECRET),
  generic: async (body) => signGeneric(body, genericSecret),
};

const real: Record<ProviderKind, readonly unknown[]> = {
  vonage: [
    vonageArchive(),
    vonageArchive({ status: 'started' }),
    vonageArchive({ status: 'failed' }),
    vonageConnection('connectionCreated', {}, { data: '{"name":"Grace","participant_token":"pt_a"}' }),
    vonageConnection('connectionDestroyed'),
  ],
  livekit: [
    livekitParticipant('participant_joined', { attributes: { participant_token: 'pt_a' }, metadata: '{"name":"a"}' }),
    livekitParticipant('participant_left'),
    livekitEgress('egress_started', 'EGRESS_STARTING'),
    livekitEgress('egress_ended', 'EGRESS_COMPLETE', livekitFile()),
    livekitEgress('egress_ended', 'EGRESS_FAILED', { error: 'x' }),
  ],
  generic: [
    genericEvent('participant.joined', { name: 'Grace', email: 'grace@example.com' }),
    genericEvent('recording.uploaded', { duration: 1, size: 1, url: 'https://a.example' }),
    genericEvent('recording.available', { url: 'https://a.example', url_expires_at: 1_800_000_000 }),
    genericEvent('recording.failed', { reason: 'x' }),
  ],
};

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** All texts and dates in a value, at any depth. */
function leavesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
    ? Object.values(value).flatMap(leavesOf)
    : [value];
}

/** Reads a callback. Fails if it is neither accepted nor refused, or if its events cannot be stored. */
async function expectOneOfThree(kind: ProviderKind, callback: Callback): Promise<VerifiedCallback | null> {
  let verified: VerifiedCallback;
  try {
    verified = await providers[kind].readAndVerify(callback, credentials[kind], new Date());
  } catch (error) {
    if (!(error instanceof UnverifiedCallback || error instanceof MalformedCallback)) throw error;
    expect(error.message.length).toBeLessThan(300);
    expect(JSON.stringify([error.message, error.issues])).not.toContain(SECRET);
    return null;
  }
  expect(verified.dedupeKey).toMatch(/^[\x21-\x7e]{1,200}$/);
  for (const leaf of leavesOf(verified.events)) {
    if (leaf instanceof Date) expect(leaf.getTime()).not.toBeNaN();
    if (typeof leaf === 'number') expect(Number.isSafeInteger(leaf) && leaf > 0).toBe(true);
    if (isText(leaf)) expect(leaf.isWellFormed() && !/\p{Cc}/u.test(leaf) && leaf.length <= 2048).toBe(true);
  }
  return verified;
}

async function readSigned(kind: ProviderKind, body: Buffer) {
  return expectOneOfThree(kind, { body, headers: await sign[kind](body) });
}

/** Replaces, removes or adds one field of a JSON value; `steps` chooses which. */
function mutate(value: unknown, steps: readonly number[], name: string, replacement: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  if (Array.isArray(value)) return value.map((entry) => mutate(entry, rest, name, replacement));
  const entries = Object.entries(value);
  const chosen = entries[step % (entries.length + 1)];
  if (chosen === undefined) return Object.fromEntries([...entries, [name, replacement]]);
  const changed = mutate(chosen[1], rest, name, replacement);
  return Object.fromEntries(
    entries.flatMap((entry) => (entry !== chosen ? [entry] : changed === undefined ? [] : [[entry[0], changed]])),
  );
}

const nasty: Arbitrary<unknown> = oneof(
  constantFrom<unknown>(
    undefined,
    null,
    '',
    '\u0000',
    '\ud800',
    '__proto__',
    'x'.repeat(100_000),
    -1,
    0,
    0.5,
    1e300,
    2 ** 63,
    '9223372036854775808',
    '-9223372036854775808',
    '1e400',
    'NaN',
    [],
    {},
    [[]],
    { length: 1 },
    true,
    'http://[::1',
    'EGRESS_ENDING',
    'expired',
    'recording.ended',
    '{"name":{"toString":1}}',
    '{"__proto__":{"name":"x"}}',
  ),
  string({ unit: 'binary' }),
  integer(),
  json().map((text): unknown => JSON.parse(text)),
);

const nested = letrec((tie) => ({
  node: oneof(
    { depthSize: 'small' },
    string({ unit: 'binary' }),
    integer(),
    array(tie('node')),
    dictionary(
      constantFrom('event', 'type', 'participant', 'connection', 'egressInfo', 'data', '__proto__'),
      tie('node'),
    ),
  ),
})).node;

const runs = { numRuns: 300 };

describe.each(providerKinds)('%s', (kind) => {
  test('the callbacks that are mutated below are accepted unchanged', async () => {
    for (const value of real[kind]) expect((await readSigned(kind, bodyOf(value)))?.events).toHaveLength(1);
  });

  test('any bytes', async () => {
    await assert(
      asyncProperty(uint8Array(), async (bytes) => void (await readSigned(kind, Buffer.from(bytes)))),
      runs,
    );
  });

  test('any JSON', async () => {
    await assert(
      asyncProperty(
        oneof(
          json(),
          nested.map((value) => JSON.stringify(value)),
        ),
        async (text) => {
          await readSigned(kind, Buffer.from(text));
        },
      ),
      runs,
    );
  });

  test('real callbacks with one field changed', async () => {
    const steps = array(integer({ min: 0, max: 20 }), { maxLength: 5 });
    const mutation = tuple(constantFrom(...real[kind]), steps, string(), nasty);
    await assert(
      asyncProperty(mutation, async ([value, where, name, replacement]) => {
        // The body `undefined` is not JSON.
        await readSigned(kind, bodyOf(JSON.stringify(mutate(value, where, name, replacement)) ?? ''));
      }),
      { numRuns: 1500 },
    );
  });

  test('JSON that is very deep or very long', async () => {
    for (const text of [
      '['.repeat(200_000),
      `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
      `${'{"event":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
      `{"event":"participant_joined","participant":${'{"participant":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
      JSON.stringify({ event: 'archive', type: 'participant.joined', ...Object.fromEntries(Array(50_000).entries()) }),
      JSON.stringify({
        event: 'connectionCreated',
        sessionId: 's',
        connection: { id: 'c', data: '['.repeat(100_000) },
      }),
    ]) {
      await readSigned(kind, Buffer.from(text));
    }
  });

  test('any headers', async () => {
    const body = bodyOf(real[kind][0]);
    const value = oneof(string({ unit: 'binary' }), string(), array(string()), constantFrom(undefined));
    const headers = record({
      authorization: value,
      'webhook-id': value,
      'webhook-timestamp': value,
      'webhook-signature': value,
    });
    await assert(
      asyncProperty(headers, async (given) => {
        expect(await expectOneOfThree(kind, { body, headers: given })).toBeNull();
      }),
      runs,
    );
  });
});

test.each(['vonage', 'livekit'] as const)('%s: a token that was not signed with the secret', async (kind) => {
  const body = bodyOf(real[kind][0]);
  const head = oneof(
    anything(),
    record({
      alg: constantFrom<unknown>('HS256', 'none', '', null, ['HS256']),
      b64: constantFrom<unknown>(undefined, false, 'x'),
      crit: constantFrom<unknown>(undefined, [], ['b64'], ['exp'], 'b64'),
      jwk: constantFrom<unknown>(undefined, { kty: 'oct', k: 'eA' }),
    }),
  );
  const part = (value: unknown) => {
    const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
    return Buffer.from(text ?? '').toString('base64url');
  };
  await assert(
    asyncProperty(head, anything(), string(), async (header, claims, signature) => {
      const authorization = `${part(header)}.${part(claims)}.${Buffer.from(signature).toString('base64url')}`;
      expect(await expectOneOfThree(kind, { body, headers: { authorization } })).toBeNull();
    }),
    runs,
  );
});
