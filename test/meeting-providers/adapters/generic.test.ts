import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  createGenericSecret,
  GenericCredentials,
  GenericEvent,
  generic,
} from '../../../src/features/meeting-providers/adapters/generic.ts';
import { bodyOf, callbackOf, genericEvent, RECORDED_AT, ROOM_NAME, signGeneric } from './callbacks.ts';
import { expectMalformed, expectUnverified } from './refusals.ts';

const secret = createGenericSecret();
const credentials = { secret };
const NOW = new Date(RECORDED_AT.getTime() + 60_000);
const SECONDS = RECORDED_AT.getTime() / 1000;

function read(value: unknown, options: Parameters<typeof signGeneric>[2] = {}) {
  const body = bodyOf(value);
  return generic.readAndVerify(callbackOf(body, signGeneric(body, secret, { at: NOW, ...options })), credentials, NOW);
}

async function eventsOf(value: unknown) {
  return (await read(value)).events;
}

const room = { kind: 'name', name: ROOM_NAME };
const archive = { room, archiveId: 'recording-1', at: RECORDED_AT };
const presence = { room, participantReference: 'connection-1', at: RECORDED_AT };

describe('signatures', () => {
  const body = bodyOf(genericEvent('participant.left', {}));
  const good = signGeneric(body, secret, { at: NOW });
  const readSigned = (headers: Record<string, string | string[] | undefined>, bytes = body, now = NOW) =>
    generic.readAndVerify(callbackOf(bytes, headers), credentials, now);

  test('a signature of the standardwebhooks package is accepted', async () => {
    const signature = new Webhook(secret).sign('msg_2', NOW, body);
    const timestamp = String(NOW.getTime() / 1000);
    const headers = { 'webhook-id': 'msg_2', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    expect(await readSigned(headers)).toMatchObject({ dedupeKey: 'msg_2', events: [{ kind: 'participant.left' }] });
  });

  test('one of several signatures must be valid, and one is enough', async () => {
    const signature = good['webhook-signature'];
    const other = signGeneric(body, createGenericSecret(), { at: NOW })['webhook-signature'];
    for (const several of [`${other} ${signature}`, `v1a,x ${signature} ${other}`, `${signature} v2,`]) {
      expect((await readSigned({ ...good, 'webhook-signature': several })).events).toHaveLength(1);
    }
    for (const none of [
      other,
      `${other} ${other}`,
      signature?.slice(3),
      signature?.replace('v1', 'v2'),
      `${signature}=`,
    ]) {
      await expectUnverified(readSigned({ ...good, 'webhook-signature': none }), 'The signature is not valid');
    }
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'a callback without exactly one %s is refused',
    async (name) => {
      const message = 'webhook-id, webhook-timestamp and webhook-signature are required';
      for (const value of [undefined, '', [good[name] ?? '', 'other']]) {
        await expectUnverified(readSigned({ ...good, [name]: value }), message);
      }
    },
  );

  test('the signature covers the id, the timestamp and the body', async () => {
    const later = String(NOW.getTime() / 1000 + 1);
    await expectUnverified(readSigned({ ...good, 'webhook-id': 'msg_3' }), 'The signature is not valid');
    await expectUnverified(readSigned({ ...good, 'webhook-timestamp': later }), 'The signature is not valid');
    await expectUnverified(readSigned(good, Buffer.concat([body, body])), 'The signature is not valid');
  });

  test('a signature is valid for 5 minutes before and after its timestamp', async () => {
    for (const distance of [-300_000, 300_000]) {
      expect((await readSigned(good, body, new Date(NOW.getTime() + distance))).events).toHaveLength(1);
      await expectUnverified(
        readSigned(good, body, new Date(NOW.getTime() + distance + Math.sign(distance))),
        'webhook-timestamp must be within 5 minutes of now',
      );
    }
  });

  test.each(['now', 'NaN', '1e9', `${SECONDS + 60}.5`, `+${SECONDS + 60}`, `0x${(SECONDS + 60).toString(16)}`])(
    'the timestamp %j is refused, although it is signed',
    async (timestamp) =>
      expectUnverified(
        read(genericEvent('participant.left', {}), { timestamp }),
        'webhook-timestamp must be within 5 minutes of now',
      ),
  );

  test('an id that is too long or not visible ASCII is refused', async () => {
    for (const id of ['x'.repeat(201), 'a b', 'ä']) {
      await expectMalformed(
        read(genericEvent('participant.left', {}), { id }),
        'webhook-id must be 1 to 200 visible ASCII characters',
      );
    }
  });

  test('a secret is whsec_ followed by the base64 of 24 to 64 bytes', () => {
    const isSecret = (text: string) => GenericCredentials.safeParse({ secret: text }).success;
    expect(isSecret(createGenericSecret())).toBe(true);
    for (const bytes of [24, 25, 26, 64])
      expect(isSecret(`whsec_${Buffer.alloc(bytes).toString('base64')}`)).toBe(true);
    for (const bytes of [0, 23, 65]) expect(isSecret(`whsec_${Buffer.alloc(bytes).toString('base64')}`)).toBe(false);
    expect(isSecret(Buffer.alloc(32).toString('base64'))).toBe(false);
  });
});

describe('events', () => {
  test('participant.joined', async () => {
    const participant = {
      name: 'Grace\u0000 Hopper\ud800 ',
      email: 'Grace@Example.com',
      reference: 'ref_1',
      token: 'pt_abc',
    };
    expect(await eventsOf(genericEvent('participant.joined', participant))).toEqual([
      {
        kind: 'participant.joined',
        ...presence,
        name: 'Grace Hopper\ufffd',
        email: 'grace@example.com',
        reference: 'ref_1',
        token: 'pt_abc',
      },
    ]);
    expect(await eventsOf(genericEvent('participant.joined', { email: 'Grace', token: null }))).toEqual([
      { kind: 'participant.joined', ...presence, name: null, email: null, reference: null, token: null },
    ]);
  });

  test('participant.left', async () => {
    expect(await eventsOf(genericEvent('participant.left', { name: 'ignored' }))).toEqual([
      { kind: 'participant.left', ...presence },
    ]);
  });

  test('recording.started', async () => {
    expect(await eventsOf(genericEvent('recording.started', { title: ' Weekly ' }))).toEqual([
      { kind: 'recording.started', ...archive, title: 'Weekly' },
    ]);
    expect(await eventsOf(genericEvent('recording.started', {}))).toMatchObject([{ title: null }]);
  });

  test('recording.ended', async () => {
    expect(await eventsOf(genericEvent('recording.ended', { duration: 60, size: 0 }))).toEqual([
      { kind: 'recording.ended', ...archive, duration: 60, size: null },
    ]);
  });

  test('recording.uploaded, with and without a URL', async () => {
    const uploaded = { kind: 'recording.uploaded', ...archive, duration: null, size: 5_000_000_000 };
    expect(await eventsOf(genericEvent('recording.uploaded', { size: 5_000_000_000 }))).toEqual([
      { ...uploaded, file: null },
    ]);
    expect(
      await eventsOf(genericEvent('recording.uploaded', { size: 5_000_000_000, url: 'https://a.example/b c' })),
    ).toEqual([{ ...uploaded, file: { url: 'https://a.example/b%20c' } }]);
  });

  test('recording.available, with and without an expiry', async () => {
    const available = {
      kind: 'recording.available',
      ...archive,
      duration: 60,
      size: 7,
      file: { url: 'https://a.example/' },
    };
    const sent = { duration: 60, size: 7, url: 'https://a.example' };
    expect(await eventsOf(genericEvent('recording.available', sent))).toEqual([{ ...available, urlExpiresAt: null }]);
    expect(await eventsOf(genericEvent('recording.available', { ...sent, url_expires_at: SECONDS + 900 }))).toEqual([
      { ...available, urlExpiresAt: new Date((SECONDS + 900) * 1000) },
    ]);
  });

  test('recording.failed', async () => {
    expect(await eventsOf(genericEvent('recording.failed', { reason: 'disk full' }))).toEqual([
      { kind: 'recording.failed', ...archive, reason: 'disk full' },
    ]);
    expect(await eventsOf(genericEvent('recording.failed', { reason: '' }))).toMatchObject([
      { reason: 'The provider gave no reason' },
    ]);
  });

  test('a time in the future becomes now', async () => {
    expect(await eventsOf(genericEvent('participant.left', {}, { occurred_at: SECONDS + 3600 }))).toMatchObject([
      { at: NOW },
    ]);
  });

  const types =
    'participant.joined, participant.left, recording.started, recording.ended, recording.uploaded, ' +
    'recording.available, recording.failed';

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'Request body must be JSON in UTF-8'],
    ['a list', [], 'Request body must be an object'],
    ['no type', {}, `type must be one of ${types}`],
    ['another type', genericEvent('recording.deleted', {}), `type must be one of ${types}`],
    ['no room', genericEvent('recording.ended', {}, { room: undefined }), 'room is required'],
    ['no time', genericEvent('recording.ended', {}, { occurred_at: undefined }), 'occurred_at is required'],
    [
      'a time that is null',
      genericEvent('recording.ended', {}, { occurred_at: null }),
      'occurred_at must be an integer between 1262304000 and 4102444800',
    ],
    [
      'milliseconds',
      genericEvent('recording.ended', {}, { occurred_at: SECONDS * 1000 }),
      'occurred_at must be an integer between 1262304000 and 4102444800',
    ],
    ['no recording', genericEvent('recording.ended', {}, { recording: undefined }), 'recording is required'],
    ['no id', genericEvent('recording.ended', { id: ' ' }), 'recording.id is required'],
    [
      'a long id',
      genericEvent('participant.left', { id: 'x'.repeat(201) }),
      'participant.id must have at most 200 characters',
    ],
    [
      'a negative duration',
      genericEvent('recording.ended', { duration: -1 }),
      'recording.duration must be an integer between 0 and 31622400',
    ],
    [
      'half a byte',
      genericEvent('recording.ended', { size: 0.5 }),
      'recording.size must be an integer between 0 and 1125899906842624',
    ],
    ['no URL', genericEvent('recording.available', {}), 'recording.url is required'],
    [
      'a password in the URL',
      genericEvent('recording.available', { url: 'https://a:b@c' }),
      'recording.url must be an http or https URL with at most 2048 characters, without a user name or password',
    ],
    [
      'another protocol',
      genericEvent('recording.uploaded', { url: 's3://a/b' }),
      'recording.url must be an http or https URL with at most 2048 characters, without a user name or password',
    ],
  ])('%s is refused by name', async (_, value, message) => expectMalformed(read(value), message));
});

test('the schemas convert to JSON Schema, with a description of each field', () => {
  const schema = z.toJSONSchema(GenericEvent, { io: 'input' });
  const variants = schema.$defs?.MeetingProviderEvent?.oneOf ?? [];
  expect(variants).toHaveLength(7);
  for (const variant of variants) {
    for (const [name, field] of Object.entries(variant.properties ?? {})) {
      const fields = typeof field === 'object' && field.properties ? Object.values(field.properties) : [field];
      for (const each of fields) if (name !== 'type') expect(each).toHaveProperty('description');
    }
  }
});
