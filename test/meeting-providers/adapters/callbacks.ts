/** Callbacks as the public documentation of the providers shows them, signed as the providers sign. */
import { createHash, createHmac } from 'node:crypto';
import { SignJWT } from 'jose';
import { AccessToken } from 'livekit-server-sdk';
import type { Callback } from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';

type Fields = Readonly<Record<string, unknown>>;
type SignedHeaders = Record<string, string>;

/** The time of every event in these callbacks. */
export const RECORDED_AT = new Date('2026-03-02T10:00:00Z');

const milliseconds = RECORDED_AT.getTime();
const seconds = milliseconds / 1000;
/** LiveKit sends 64-bit integers as strings. */
function nanoseconds(afterSeconds: number): string {
  return `${seconds + afterSeconds}000000000`;
}

export const SESSION_ID = '2_MX40NzIwMzJ-flR1ZSBPY3QgMjkgMTI6MTM6MjMgUERUIDIwMTN-MC45NDQ2MzE2NH4';
export const ARCHIVE_ID = 'b40ef09b-3811-4726-b508-e41a0f96c68f';
export const ROOM_NAME = 'amber-falcon';
export const EGRESS_ID = 'EG_GeMtWeHLVyzk';

/** Encodes a body: a value as JSON, a text unchanged. */
export function bodyOf(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/** An archive status callback of a composed archive that is available, with these fields replaced. */
export function vonageArchive(fields: Fields = {}) {
  return {
    id: ARCHIVE_ID,
    event: 'archive',
    createdAt: milliseconds,
    duration: 328,
    name: 'Foo',
    partnerId: 123456,
    reason: '',
    resolution: '640x480',
    sessionId: SESSION_ID,
    size: 18023312,
    status: 'available',
    url:
      'https://tokbox.com.archive2.s3.amazonaws.com/123456/09141e29-8770-439b-b180-337d7e637545/' +
      'archive.mp4?Signature=x',
    ...fields,
  };
}

/** A callback with the status `started` or `failed`: nothing has been recorded. */
export function vonageEmptyArchive(status: string, fields: Fields = {}) {
  return vonageArchive({ status, duration: 0, size: 0, url: null, ...fields });
}

/** A callback of session monitoring: `connectionCreated` or `connectionDestroyed`. */
export function vonageConnection(event: string, fields: Fields = {}, connection: Fields = {}) {
  return {
    sessionId: SESSION_ID,
    projectId: '123456',
    event,
    ...(event === 'connectionDestroyed' && { reason: 'clientDisconnected' }),
    timestamp: milliseconds,
    connection: {
      id: 'c053fcc8-c681-41d5-8ec2-7a9e1434a21f',
      createdAt: milliseconds,
      data: 'TOKENDATA',
      ...connection,
    },
    ...fields,
  };
}

/**
 * The headers of a body that Vonage signs now or at `at`. `claims` replaces claims; undefined removes one.
 */
export async function signVonage(
  body: Buffer,
  secret: string,
  { at = new Date(), claims = {} }: { at?: Date; claims?: Fields } = {},
): Promise<SignedHeaders> {
  const token = new SignJWT({
    iss: 'Vonage',
    jti: '8ef43a2e-0dbb-4f3a-b0d2-8a6d5ff4b7b2',
    iat: Math.floor(at.getTime() / 1000),
    api_key: '123456',
    application_id: '78d335fa-323d-0114-9c3d-d6f0d48968cf',
    payload_hash: createHash('sha256').update(body).digest('hex'),
    ...claims,
  }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  const signed = await token.sign(new TextEncoder().encode(secret));
  return { authorization: `Bearer ${signed}`, 'content-type': 'application/json' };
}

/** Forges a token: the same claims with another algorithm, signed with the secret by HMAC, or not signed. */
export function resignToken(authorization: string, secret: string, alg: string): string {
  const [, claims] = authorization.split('.');
  const signed = `${Buffer.from(JSON.stringify({ alg, typ: 'JWT' })).toString('base64url')}.${claims}`;
  const hash = { HS384: 'sha384', HS512: 'sha512' }[alg] ?? 'sha256';
  return alg === 'none' ? `${signed}.` : `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}

/** An event with the fields that every event has. */
export function livekitEvent(event: string, fields: Fields = {}) {
  return {
    event,
    id: 'EV_eugWmGhovZmm',
    createdAt: String(seconds),
    ...fields,
  };
}

/** `participant_joined` or `participant_left` of a person, with these fields of the participant replaced. */
export function livekitParticipant(event: string, participant: Fields = {}, fields: Fields = {}) {
  return livekitEvent(event, {
    room: {
      sid: 'RM_5pjEGNG4RWMW',
      name: ROOM_NAME,
      emptyTimeout: 300,
      departureTimeout: 20,
      creationTime: String(seconds),
      creationTimeMs: String(milliseconds),
      enabledCodecs: [{ mime: 'video/H264' }, { mime: 'audio/opus' }],
    },
    participant: {
      sid: 'PA_2ENBT8DXBYRo',
      identity: 'grace@example.com',
      state: 'ACTIVE',
      joinedAt: String(seconds),
      joinedAtMs: String(milliseconds),
      name: 'Grace Hopper',
      version: 2,
      permission: { canSubscribe: true, canPublish: true, canPublishData: true },
      ...participant,
    },
    ...fields,
  });
}

/** An event of a room composite egress that writes one file, with these fields of the egress replaced. */
export function livekitEgress(event: string, status: string, egress: Fields = {}, fields: Fields = {}) {
  return livekitEvent(event, {
    createdAt: String(seconds + 125),
    egressInfo: {
      egressId: EGRESS_ID,
      roomId: 'RM_5pjEGNG4RWMW',
      roomName: ROOM_NAME,
      sourceType: 'EGRESS_SOURCE_TYPE_WEB',
      status,
      startedAt: nanoseconds(0),
      updatedAt: nanoseconds(124),
      roomComposite: { roomName: ROOM_NAME, layout: 'grid', fileOutputs: [{ filepath: 'amber-falcon.mp4' }] },
      fileResults: [{ filename: 'amber-falcon.mp4' }],
      ...egress,
    },
    ...fields,
  });
}

/** The fields of an egress whose file is complete. */
export function livekitFile(file: Fields = {}) {
  return {
    endedAt: nanoseconds(123),
    fileResults: [
      {
        filename: 'amber-falcon.mp4',
        startedAt: nanoseconds(0),
        endedAt: nanoseconds(123),
        duration: '122600000000',
        size: '5368709120',
        location: 'https://recordings.s3.eu-central-1.amazonaws.com/amber-falcon.mp4',
        ...file,
      },
    ],
  };
}

/** The headers of a body that LiveKit's SDK signs now. Its tokens are valid for 5 minutes. */
export async function signLivekit(
  body: Buffer,
  apiKey: string,
  apiSecret: string,
  digest = createHash('sha256').update(body).digest('base64'),
): Promise<SignedHeaders> {
  const token = new AccessToken(apiKey, apiSecret, { ttl: 300 });
  token.sha256 = digest;
  return { authorization: await token.toJwt(), 'content-type': 'application/webhook+json' };
}

/** An event of the generic provider, with these fields replaced. */
export function genericEvent(type: string, subject: Fields, fields: Fields = {}) {
  return {
    type,
    occurred_at: seconds,
    room: ROOM_NAME,
    ...(type.startsWith('participant.')
      ? { participant: { id: 'connection-1', ...subject } }
      : { recording: { id: 'recording-1', ...subject } }),
    ...fields,
  };
}

/** The headers of a body signed with a `whsec_` secret, now, at `at`, or with any timestamp. */
export function signGeneric(
  body: Buffer,
  secret: string,
  { id = 'msg_1', at = new Date(), timestamp = '' }: { id?: string; at?: Date; timestamp?: string } = {},
): SignedHeaders {
  const sent = timestamp || String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${sent}.`).update(body).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': sent,
    'webhook-signature': `v1,${signature}`,
    'content-type': 'application/json',
  };
}

/** A callback as an adapter receives it. */
export function callbackOf(body: Buffer, headers: Callback['headers']): Callback {
  return { body, headers };
}
