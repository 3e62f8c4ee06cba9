import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { WebhookReceiver } from 'livekit-server-sdk';
import { describe, expect, test } from 'vitest';
import { livekit } from '../../../src/features/meeting-providers/adapters/livekit.ts';
import {
  bodyOf,
  callbackOf,
  EGRESS_ID,
  livekitEgress,
  livekitEvent,
  livekitFile,
  livekitParticipant,
  RECORDED_AT,
  ROOM_NAME,
  resignToken,
  signLivekit,
} from './callbacks.ts';
import { expectMalformed, expectUnverified } from './refusals.ts';

const KEY = 'APIxKvW3pmyLfYq';
const SECRET = 'an api secret of the tests, 32 bytes';
const credentials = { api_key: KEY, api_secret: SECRET };

/** The SDK signs by the clock of the machine, so these callbacks arrive by the same clock. */
function arrive(milliseconds = 0) {
  return new Date(Date.now() + milliseconds);
}

async function read(value: unknown, now = arrive()) {
  const body = bodyOf(value);
  return livekit.readAndVerify(callbackOf(body, await signLivekit(body, KEY, SECRET)), credentials, now);
}

async function eventsOf(value: unknown, now = arrive()) {
  return (await read(value, now)).events;
}

function secondsAfter(seconds: number) {
  return new Date(RECORDED_AT.getTime() + seconds * 1000);
}
const room = { kind: 'name', name: ROOM_NAME };
const archive = { room, archiveId: EGRESS_ID };

describe('signatures', () => {
  const body = bodyOf(livekitParticipant('participant_left'));
  const readSigned = (headers: Record<string, string | string[] | undefined>, bytes = body, now = arrive()) =>
    livekit.readAndVerify(callbackOf(bytes, headers), credentials, now);

  test('a signature of the SDK is accepted, as by its own receiver, also with "Bearer"', async () => {
    const { authorization = '' } = await signLivekit(body, KEY, SECRET);
    const event = await new WebhookReceiver(KEY, SECRET).receive(body.toString(), authorization);
    expect((await readSigned({ authorization })).dedupeKey).toBe(event.id);
    expect((await readSigned({ authorization: `Bearer ${authorization}` })).dedupeKey).toBe(event.id);
  });

  test('a callback without a signature is refused', async () => {
    for (const headers of [{}, { authorization: '' }, { authorization: ['a', 'b'] }]) {
      await expectUnverified(readSigned(headers), 'The signature is missing');
    }
  });

  test('another key, another secret and an altered token are refused', async () => {
    const { authorization = '' } = await signLivekit(body, KEY, SECRET);
    const others = [
      await signLivekit(body, 'APIother', SECRET),
      await signLivekit(body, KEY, `${SECRET}.`),
      { authorization: authorization.slice(1) },
      { authorization: `${authorization}.` },
      { authorization: 'x.y.z' },
    ];
    for (const other of others) await expectUnverified(readSigned(other), 'The signature is not valid');
  });

  test.each(['none', 'HS384', 'HS512', 'RS256'])('the algorithm %s is refused', async (alg) => {
    const { authorization = '' } = await signLivekit(body, KEY, SECRET);
    const resigned = resignToken(authorization, SECRET, alg);
    await expectUnverified(readSigned({ authorization: resigned }), 'The signature is not valid');
  });

  test('the signature covers the exact bytes of the body', async () => {
    const headers = await signLivekit(body, KEY, SECRET);
    await expectUnverified(readSigned(headers, Buffer.from(`${body} `)), 'The signature does not match the body');
    for (const digest of ['', 'x']) {
      const signed = await signLivekit(body, KEY, SECRET, digest);
      await expectUnverified(readSigned(signed), 'The signature does not match the body');
    }
  });

  test('a signature is valid for 5 minutes', async () => {
    const headers = await signLivekit(body, KEY, SECRET);
    expect((await readSigned(headers, body, arrive(300_000))).events).toHaveLength(1);
    await expectUnverified(readSigned(headers, body, arrive(312_000)), 'The signature has expired');
    await expectUnverified(readSigned(headers, body, arrive(-15_000)), 'The signature is not valid');
  });
});

test('a token that never expires, or is valid for more than an hour, is refused', async () => {
  const body = bodyOf(livekitEvent('room_started'));
  const claims = { iss: KEY, sha256: createHash('sha256').update(body).digest('base64') };
  const sign = (more: object) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET));
  const readSigned = (authorization: string) =>
    livekit.readAndVerify(callbackOf(body, { authorization }), credentials, RECORDED_AT);
  expect((await readSigned(await sign({ exp: RECORDED_AT.getTime() / 1000 + 60 }))).events).toEqual([]);
  await expectUnverified(readSigned(await sign({})), 'The signature is not valid');
  const afterSeconds = async (seconds: number) =>
    readSigned(await sign({ exp: RECORDED_AT.getTime() / 1000 + seconds }));
  expect((await afterSeconds(3600)).events).toEqual([]);
  for (const seconds of [3601, 8 * 24 * 3600, 10 * 365 * 24 * 3600])
    await expectUnverified(afterSeconds(seconds), 'The signature must expire within an hour');
});

describe('participants', () => {
  const presence = { room, participantReference: 'PA_2ENBT8DXBYRo', at: RECORDED_AT };
  const joined = { kind: 'participant.joined', ...presence };
  const join = (participant = {}) => eventsOf(livekitParticipant('participant_joined', participant));

  test('participant_joined: name, email, reference and token from attributes, metadata or identity', async () => {
    const grace = { ...joined, name: 'Grace Hopper', email: 'grace@example.com', reference: null, token: 'pt_abc' };
    const named = { ...grace, reference: 'ref_1_a-b', token: 'me' };
    for (const participant of [
      { identity: 'me', attributes: { participant_reference: 'ref_1_a-b', email: 'grace@example.com' } },
      { identity: 'me', metadata: '{"participant_reference":"ref_1_a-b.tab","email":"grace@example.com"}' },
    ])
      expect(await join(participant)).toEqual([named]);
    for (const identity of ['ref_1_a-b', 'ref_1_a-b.2'])
      expect(await join({ identity })).toEqual([{ ...named, email: null, token: identity }]);
    const carried = { participant_token: 'pt_abc', email: 'grace@example.com' };
    expect(await join({ attributes: carried })).toEqual([grace]);
    expect(await join({ metadata: JSON.stringify({ ...carried, name: 'ignored' }) })).toEqual([grace]);
    expect(await join({ identity: 'pt_abc' })).toEqual([{ ...grace, email: null }]);
    expect(await join({ name: '', metadata: JSON.stringify({ ...carried, name: 'Grace Hopper' }) })).toEqual([grace]);
  });

  test('participant_joined: without name, email and token', async () => {
    const nobody = { ...joined, name: null, email: null, reference: null, token: null };
    for (const metadata of ['', '{', '[]', '"x"', '{"name":7,"email":"x","participant_token":""}']) {
      expect(await join({ name: undefined, identity: undefined, metadata })).toEqual([nobody]);
    }
  });

  test('participant_left', async () => {
    expect(await eventsOf(livekitParticipant('participant_left', { state: 'DISCONNECTED' }))).toEqual([
      { kind: 'participant.left', ...presence },
    ]);
  });

  test.each([undefined, 'STANDARD', 0, 'SIP', 3])('participants of the kind %j are people', async (kind) => {
    expect(await join({ kind })).toHaveLength(1);
    expect(await eventsOf(livekitParticipant('participant_left', { kind }))).toHaveLength(1);
  });

  test.each(['INGRESS', 'EGRESS', 2, 'AGENT', 'CONNECTOR', 'BRIDGE', 'A_KIND_OF_TOMORROW', 99])(
    'the kind %j is not',
    async (kind) => {
      expect(await join({ kind })).toEqual([]);
      expect(await eventsOf(livekitParticipant('participant_left', { kind }))).toEqual([]);
    },
  );

  test('a missing field of a participant is named', async () => {
    const without = (fields: Record<string, unknown>) => read(livekitParticipant('participant_joined', {}, fields));
    await expectMalformed(without({ participant: undefined }), 'participant is required');
    await expectMalformed(without({ room: undefined }), 'room is required');
    await expectMalformed(without({ room: {} }), 'room.name is required');
    await expectMalformed(read(livekitParticipant('participant_left', { sid: '' })), 'participant.sid is required');
  });
});

describe('egress', () => {
  const started = { kind: 'recording.started', ...archive, title: null, at: RECORDED_AT };
  const ended = { kind: 'recording.ended', ...archive, at: secondsAfter(124) };
  const uploaded = {
    kind: 'recording.uploaded',
    ...archive,
    duration: 123,
    size: 5_368_709_120,
    file: { url: 'https://recordings.s3.eu-central-1.amazonaws.com/amber-falcon.mp4' },
    at: secondsAfter(123),
  };
  const failed = { kind: 'recording.failed', ...archive, at: secondsAfter(123) };

  test('egress_started, and an update that it is active', async () => {
    expect(await eventsOf(livekitEgress('egress_started', 'EGRESS_STARTING'))).toEqual([started]);
    expect(await eventsOf(livekitEgress('egress_updated', 'EGRESS_ACTIVE'))).toEqual([started]);
    const unknown = { startedAt: undefined };
    expect(await eventsOf(livekitEgress('egress_started', 'EGRESS_STARTING', unknown))).toEqual([
      { ...started, at: secondsAfter(125) },
    ]);
  });

  test('ENDING: the recording has ended', async () => {
    expect(await eventsOf(livekitEgress('egress_updated', 'EGRESS_ENDING'))).toEqual([
      { ...ended, duration: null, size: null },
    ]);
  });

  test.each(['EGRESS_COMPLETE', 'EGRESS_LIMIT_REACHED', 3, 6])(
    'ended with %s: the recording is uploaded',
    async (status) => {
      const egress = livekitEgress('egress_ended', String(status), { status, ...livekitFile() });
      expect(await eventsOf(egress)).toEqual([uploaded]);
    },
  );

  test('a file without an http(s) URL', async () => {
    for (const location of ['', 'amber-falcon.mp4', 's3://bucket/key', 'https://a:b@c.example/']) {
      expect(await eventsOf(livekitEgress('egress_ended', 'EGRESS_COMPLETE', livekitFile({ location })))).toEqual([
        { ...uploaded, file: null },
      ]);
    }
  });

  test('a recording in segments has no single file', async () => {
    const segments = { fileResults: [], segmentResults: [{ playlistName: 'a.m3u8', segmentCount: '9' }] };
    expect(await eventsOf(livekitEgress('egress_ended', 'EGRESS_COMPLETE', segments))).toMatchObject([
      { kind: 'recording.uploaded', duration: null, size: null, file: null },
    ]);
  });

  test.each(['EGRESS_FAILED', 'EGRESS_ABORTED'])(
    'ended with %s: the recording has failed, with the reason',
    async (status) => {
      const fail = (fields: object) => eventsOf(livekitEgress('egress_ended', status, { ...livekitFile(), ...fields }));
      expect(await fail({ error: 'Start signal not received', details: 'x' })).toEqual([
        { ...failed, reason: 'Start signal not received' },
      ]);
      expect(await fail({ details: 'End reason: Failure' })).toEqual([{ ...failed, reason: 'End reason: Failure' }]);
      expect(await fail({})).toEqual([{ ...failed, reason: 'LiveKit gave no reason' }]);
      expect(await fail({ error: 'x'.repeat(9999) })).toMatchObject([{ reason: 'x'.repeat(500) }]);
    },
  );

  test('streams, snapshots and web pages without a room are no recordings', async () => {
    const nothing = [
      { fileResults: [], streamResults: [{ url: 'rtmp://a.example' }] },
      { fileResults: [], imageResults: [{ filenamePrefix: 'a' }] },
      { roomName: '' },
    ];
    for (const egress of nothing) {
      expect(await eventsOf(livekitEgress('egress_started', 'EGRESS_STARTING', egress))).toEqual([]);
      expect(await eventsOf(livekitEgress('egress_ended', 'EGRESS_COMPLETE', egress))).toEqual([]);
    }
    const both = { streamResults: [{ url: 'rtmp://a.example' }] };
    expect(await eventsOf(livekitEgress('egress_started', 'EGRESS_STARTING', both))).toEqual([started]);
  });

  test('an unknown status yields no event', async () => {
    for (const status of ['EGRESS_PAUSED', 99]) {
      expect(await eventsOf(livekitEgress('egress_updated', 'x', { status }))).toEqual([]);
    }
  });

  test('absurd measures and times are dropped, and the event is accepted', async () => {
    const now = arrive();
    const absurd = { ...livekitFile({ duration: '-5', size: '9223372036854775807' }), endedAt: '9223372036854775807' };
    expect(await eventsOf(livekitEgress('egress_ended', 'EGRESS_COMPLETE', absurd, { createdAt: '-1' }), now)).toEqual([
      { ...uploaded, duration: null, size: null, at: now },
    ]);
  });

  test('a missing field of an egress is named', async () => {
    await expectMalformed(read(livekitEvent('egress_ended')), 'egressInfo is required');
    await expectMalformed(
      read(livekitEgress('egress_started', 'EGRESS_STARTING', { egressId: '' })),
      'egressInfo.egressId is required',
    );
    await expectMalformed(
      read(livekitEgress('egress_started', 'EGRESS_STARTING', { roomName: 'x'.repeat(201) })),
      'egressInfo.roomName must have at most 200 characters',
    );
  });
});

test('room_finished is the end of the meeting', async () => {
  const at = RECORDED_AT;
  expect(await eventsOf(livekitParticipant('room_finished'))).toEqual([{ kind: 'meeting.ended', room, at }]);
  await expectMalformed(read(livekitEvent('room_finished')), 'room is required');
});

test.each([
  'room_started',
  'participant_connection_aborted',
  'track_published',
  'track_unpublished',
  'ingress_started',
  'ingress_ended',
  'an_event_of_tomorrow',
  '',
])('%j is accepted and says nothing', async (event) => {
  expect(await eventsOf(livekitParticipant(event))).toEqual([]);
});

test('the dedupe key is the id of the event, or the hash of the body without one', async () => {
  expect((await read(livekitEvent('room_started', { id: 'EV_1' }))).dedupeKey).toBe('EV_1');
  for (const id of ['', undefined, 'x'.repeat(201), 'a b']) {
    expect((await read(livekitEvent('room_started', { id }))).dedupeKey).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('a body that is not an event is refused', async () => {
  await expectMalformed(read('{'), 'Request body must be JSON in UTF-8');
  for (const body of [
    '[]',
    'null',
    '"x"',
    { event: 7 },
    { createdAt: 1.5 },
    { room: 'x' },
    { room: { name: '\ud800' } },
    { egressInfo: { fileResults: [{ size: '99999999999999999999' }] } },
    { participant: { attributes: { a: null } } },
  ]) {
    await expectMalformed(read(body), 'Request body is not a LiveKit webhook event');
  }
});
