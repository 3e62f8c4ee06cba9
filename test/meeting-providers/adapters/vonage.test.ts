import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { vonage } from '../../../src/features/meeting-providers/adapters/vonage.ts';
import {
  ARCHIVE_ID,
  bodyOf,
  callbackOf,
  RECORDED_AT,
  resignToken,
  SESSION_ID,
  signVonage,
  vonageArchive,
  vonageConnection,
  vonageEmptyArchive,
} from './callbacks.ts';
import { expectMalformed, expectUnverified } from './refusals.ts';

const SECRET = 'a signature secret of the tests';
const credentials = { signature_secret: SECRET };
/** When Vonage sends the callbacks, and when they arrive. */
const SENT_AT = new Date(RECORDED_AT.getTime() + 600_000);
const NOW = new Date(SENT_AT.getTime() + 1500);

async function read(value: unknown, options: Parameters<typeof signVonage>[2] = {}, given = credentials) {
  const body = bodyOf(value);
  return vonage.readAndVerify(
    callbackOf(body, await signVonage(body, SECRET, { at: SENT_AT, ...options })),
    given,
    NOW,
  );
}

async function eventsOf(value: unknown) {
  return (await read(value)).events;
}

const room = { kind: 'session', sessionId: SESSION_ID };
const archive = { room, archiveId: ARCHIVE_ID };
const connectionId = 'c053fcc8-c681-41d5-8ec2-7a9e1434a21f';

describe('signatures', () => {
  const body = bodyOf(vonageArchive());
  const readSigned = (headers: Record<string, string | string[] | undefined>, given = credentials) =>
    vonage.readAndVerify(callbackOf(body, headers), given, NOW);

  test('a signature with the secret is accepted, also without "Bearer"', async () => {
    const headers = await signVonage(body, SECRET, { at: SENT_AT });
    expect((await readSigned(headers)).events).toHaveLength(1);
    expect((await readSigned({ authorization: headers.authorization?.slice('Bearer '.length) })).events).toHaveLength(
      1,
    );
  });

  test('a missing, an empty and a second signature are refused', async () => {
    const { authorization = '' } = await signVonage(body, SECRET, { at: SENT_AT });
    for (const headers of [{}, { authorization: '' }, { authorization: [authorization, authorization] }]) {
      await expectUnverified(readSigned(headers), 'The signature is missing');
    }
  });

  test('another secret, an altered token and a malformed token are refused', async () => {
    const { authorization = '' } = await signVonage(body, SECRET, { at: SENT_AT });
    const [head, claims] = authorization.split('.');
    const others = [
      (await signVonage(body, `${SECRET}.`, { at: SENT_AT })).authorization,
      authorization.slice(0, -2),
      `${head}.${claims}.`,
      `${head}.${claims}`,
      `${authorization}.a`,
      'Bearer',
      'Bearer x',
      'Basic dXNlcjpwYXNzd29yZA==',
      '\u0000',
    ];
    for (const other of others)
      await expectUnverified(readSigned({ authorization: other }), 'The signature is not valid');
  });

  test.each(['none', 'HS384', 'HS512', 'RS256', 'hs256'])('the algorithm %s is refused', async (alg) => {
    const { authorization = '' } = await signVonage(body, SECRET, { at: SENT_AT });
    const resigned = resignToken(authorization, SECRET, alg);
    await expectUnverified(readSigned({ authorization: resigned }), 'The signature is not valid');
  });

  test('the same token with HS256 is accepted', async () => {
    const { authorization = '' } = await signVonage(body, SECRET, { at: SENT_AT });
    const resigned = resignToken(authorization, SECRET, 'HS256');
    expect((await readSigned({ authorization: resigned })).events).toHaveLength(1);
  });

  test('the signature covers the exact bytes: an altered body and a token without a digest are refused', async () => {
    const headers = await signVonage(body, SECRET, { at: SENT_AT });
    for (const altered of [`${body} `, bodyOf(vonageArchive({ size: 1 })), '']) {
      const callback = callbackOf(Buffer.from(altered), headers);
      await expectUnverified(vonage.readAndVerify(callback, credentials, NOW), 'The signature does not match the body');
    }
    for (const digest of [undefined, null, '', 1, [], createHash('sha256').update(body).digest('base64')]) {
      const signed = await signVonage(body, SECRET, { at: SENT_AT, claims: { payload_hash: digest } });
      await expectUnverified(readSigned(signed), 'The signature does not match the body');
    }
  });

  test('a signature is valid for as long as Vonage retries, and not longer', async () => {
    const signedBefore = async (seconds: number, claims = {}) =>
      readSigned(await signVonage(body, SECRET, { at: new Date(NOW.getTime() - seconds * 1000), claims }));
    const day = 24 * 3600;
    expect((await signedBefore(day)).events).toHaveLength(1);
    await expectUnverified(signedBefore(day + 302), 'The signature has expired');
    expect((await signedBefore(-300)).events).toHaveLength(1);
    await expectUnverified(signedBefore(-302), 'The signature is not valid');
    await expectUnverified(signedBefore(0, { iat: undefined }), 'The signature is not valid');
    await expectUnverified(signedBefore(0, { iat: 'now' }), 'The signature is not valid');
    await expectUnverified(signedBefore(0, { exp: NOW.getTime() / 1000 - 301 }), 'The signature has expired');
  });

  test('a connection with an account and an application accepts only their signatures', async () => {
    const headers = await signVonage(body, SECRET, { at: SENT_AT });
    const own = { api_key: '123456', application_id: '78d335fa-323d-0114-9c3d-d6f0d48968cf' };
    expect((await readSigned(headers, { ...credentials, ...own })).events).toHaveLength(1);
    for (const claim of ['api_key', 'application_id'] as const) {
      const given = { ...credentials, ...own, [claim]: 'another' };
      await expectUnverified(readSigned(headers, given), `The signature belongs to another ${claim}`);
      const without = await signVonage(body, SECRET, { at: SENT_AT, claims: { [claim]: undefined } });
      await expectUnverified(
        readSigned(without, { ...credentials, ...own }),
        `The signature belongs to another ${claim}`,
      );
    }
  });

  test('session monitoring can have a secret of its own', async () => {
    const both = { ...credentials, session_signature_secret: 'another secret of the tests' };
    for (const secret of Object.values(both)) {
      expect((await readSigned(await signVonage(body, secret, { at: SENT_AT }), both)).events).toHaveLength(1);
    }
    await expectUnverified(readSigned(await signVonage(body, 'a third secret'), both), 'The signature is not valid');
  });

  test('credentials of another shape throw a plain error, which does not contain them', async () => {
    const stored = { api_key: 'key', api_secret: 'a livekit secret' };
    await expect(vonage.readAndVerify(callbackOf(body, {}), stored, NOW)).rejects.toThrow(
      new Error("The stored credentials do not match the provider's schema"),
    );
  });
});

describe('archives', () => {
  test.each(['started', 'paused'])('%s: the recording started when the archive was created', async (status) => {
    expect(await eventsOf(vonageEmptyArchive(status))).toEqual([
      { kind: 'recording.started', ...archive, title: 'Foo', at: RECORDED_AT },
    ]);
  });

  test('stopped: the recording has ended, with the known measures of the file', async () => {
    expect(await eventsOf(vonageArchive({ status: 'stopped', reason: 'user initiated', size: 0, url: null }))).toEqual([
      { kind: 'recording.ended', ...archive, duration: 328, size: null, at: SENT_AT },
    ]);
  });

  test("uploaded: the file is in the customer's bucket", async () => {
    expect(await eventsOf(vonageArchive({ status: 'uploaded', url: null }))).toEqual([
      { kind: 'recording.uploaded', ...archive, duration: 328, size: 18023312, file: null, at: SENT_AT },
    ]);
  });

  test('available: the URL expires 10 minutes after Vonage sent the callback', async () => {
    const { url } = vonageArchive();
    expect(await eventsOf(vonageArchive())).toEqual([
      {
        kind: 'recording.available',
        ...archive,
        duration: 328,
        size: 18023312,
        file: { url },
        urlExpiresAt: new Date(SENT_AT.getTime() + 600_000),
        at: SENT_AT,
      },
    ]);
  });

  test.each([null, undefined, 7, '', 'archive.mp4', 'file:///etc/passwd', 'https://a:b@c.example/', 'javascript:1'])(
    'available at %j: the file exists, and cannot be fetched',
    async (url) => {
      expect(await eventsOf(vonageArchive({ url }))).toMatchObject([{ kind: 'recording.uploaded', file: null }]);
    },
  );

  test('failed and expired: the recording has failed, with the reason', async () => {
    const failed = { kind: 'recording.failed', ...archive, at: SENT_AT };
    expect(await eventsOf(vonageEmptyArchive('failed', { reason: 'failure' }))).toEqual([
      { ...failed, reason: 'failure' },
    ]);
    expect(await eventsOf(vonageEmptyArchive('failed'))).toEqual([{ ...failed, reason: 'Vonage gave no reason' }]);
    expect(await eventsOf(vonageArchive({ status: 'expired', url: null }))).toEqual([
      { ...failed, reason: 'The recording expired before it was copied' },
    ]);
  });

  test.each(['deleted', 'Started', 'constructor', ''])(
    'the status %j is accepted and yields no event',
    async (status) => {
      expect(await eventsOf(vonageArchive({ status }))).toEqual([]);
    },
  );

  test('an absurd field is dropped, and the event is accepted', async () => {
    const absurd = { duration: -1, size: 1e300, name: ['x'], createdAt: 'yesterday' };
    expect(await eventsOf(vonageArchive({ status: 'uploaded', ...absurd }))).toMatchObject([
      { duration: null, size: null },
    ]);
    expect(await eventsOf(vonageArchive({ status: 'started', ...absurd }))).toMatchObject([{ title: null, at: NOW }]);
    expect(await eventsOf(vonageArchive({ status: 'stopped', duration: '328.4', size: '1' }))).toMatchObject([
      { duration: 328, size: 1 },
    ]);
  });

  test('an id of an archive is used unchanged, or refused', async () => {
    const long = 'x'.repeat(201);
    await expectMalformed(read(vonageArchive({ id: undefined })), 'id is required');
    await expectMalformed(read(vonageArchive({ id: long })), 'id must have at most 200 characters');
    await expectMalformed(
      read(vonageArchive({ sessionId: 'a\u0000b' })),
      'sessionId must not contain control characters or invalid Unicode',
    );
    await expectMalformed(read(vonageArchive({ sessionId: 5 })), 'sessionId must be a string');
    await expectMalformed(read(vonageArchive({ status: null })), 'status must be a string');
  });
});

describe('session monitoring', () => {
  const presence = { room, participantReference: connectionId, at: RECORDED_AT };
  const joined = { kind: 'participant.joined', ...presence };
  const join = (data: unknown) => eventsOf(vonageConnection('connectionCreated', {}, { data }));

  test('connectionCreated: the data that our token carried', async () => {
    const data = JSON.stringify({ participant_token: 'pt_abc', name: 'Grace Hopper', email: ' Grace@Example.com' });
    const grace = { ...joined, name: 'Grace Hopper', email: 'grace@example.com', reference: null, token: 'pt_abc' };
    expect(await join(data)).toEqual([grace]);
    const named = data.replace('"participant_token":"pt_abc"', '"participant_reference":"ref_1_a-b"');
    expect(await join(named)).toEqual([{ ...grace, reference: 'ref_1_a-b', token: null }]);
  });

  test('connectionCreated: any other data is the name', async () => {
    for (const [data, name] of [
      ['TOKENDATA', 'TOKENDATA'],
      ['username=bob', 'username=bob'],
      ['"bob"', '"bob"'],
      ['[1]', '[1]'],
      ['', null],
      [null, null],
      [undefined, null],
      [{ name: 'bob' }, null],
      ['{"name":7,"email":"nobody","participant_token":"a b"}', null],
      ['{}', null],
      ['x'.repeat(5000), 'x'.repeat(100)],
    ] as const) {
      expect(await join(data)).toEqual([{ ...joined, name, email: null, reference: null, token: null }]);
    }
  });

  test('connectionDestroyed: identified by the connection, whatever its data', async () => {
    const left = { kind: 'participant.left', ...presence };
    expect(await eventsOf(vonageConnection('connectionDestroyed', { reason: 'networkDisconnected' }))).toEqual([left]);
    expect(await eventsOf(vonageConnection('connectionDestroyed', {}, { data: undefined }))).toEqual([left]);
  });

  test('a missing field of a connection is named', async () => {
    await expectMalformed(
      read(vonageConnection('connectionCreated', { connection: 1 })),
      'connection must be an object',
    );
    await expectMalformed(read(vonageConnection('connectionCreated', {}, { id: '' })), 'connection.id is required');
    await expectMalformed(read(vonageConnection('connectionDestroyed', { sessionId: null })), 'sessionId is required');
  });

  test('sessionDestroyed is the end of the meeting', async () => {
    const body = { event: 'sessionDestroyed', sessionId: SESSION_ID, projectId: '1', timestamp: RECORDED_AT.getTime() };
    expect(await eventsOf(body)).toEqual([{ kind: 'meeting.ended', room, at: RECORDED_AT }]);
    expect(await eventsOf({ ...body, timestamp: undefined })).toMatchObject([{ at: SENT_AT }]);
    await expectMalformed(read({ ...body, sessionId: undefined }), 'sessionId is required');
  });

  test.each(['sessionCreated', 'streamCreated', 'streamDestroyed', 'broadcast', 'callCreated', ''])(
    '%j is accepted and says nothing',
    async (event) => expect(await eventsOf({ event })).toEqual([]),
  );
});

test('a body that is not a callback is refused', async () => {
  await expectMalformed(read('{'), 'Request body must be JSON in UTF-8');
  await expectMalformed(read(''), 'Request body must be JSON in UTF-8');
  await expectMalformed(read('[]'), 'Request body must be an object');
  await expectMalformed(read('null'), 'Request body must be an object');
  await expectMalformed(read('{}'), 'event is required');
  const latin = Buffer.from('{"event":"\u00e9"}', 'latin1');
  const headers = await signVonage(latin, SECRET, { at: SENT_AT });
  await expectMalformed(
    vonage.readAndVerify(callbackOf(latin, headers), credentials, NOW),
    'Request body must be JSON in UTF-8',
  );
});

test('the same body has the same dedupe key, however often it is signed', async () => {
  const first = await read(vonageArchive());
  expect((await read(vonageArchive(), { at: NOW, claims: { jti: 'another' } })).dedupeKey).toBe(first.dedupeKey);
  expect((await read(vonageArchive({ size: 1 }))).dedupeKey).not.toBe(first.dedupeKey);
  expect(first.dedupeKey).toMatch(/^[0-9a-f]{64}$/);
});
