/** The tokens with which browsers connect to a LiveKit server. */
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { LivekitServer, Services } from '../../services.ts';
import { type Livekit, openLivekit } from './connection.ts';

/** A token works for one to two of these periods, and stays the same for one. */
const PERIOD_MS = 5 * MINUTE_MS;
/**
 * How long somebody can connect with a token: with one of this service, or with one that LiveKit gave them while they
 * were connected, which works for ten minutes as well.
 */
export const MAX_TOKEN_MS = 2 * PERIOD_MS;
const MAX_CACHED = 10_000;

export type LivekitVisitor = {
  /** The reference of the participant, and the page: the same participant may have several. */
  reference: string;
  connectionId: string;
  name: string;
  roomName: string;
  role: 'host' | 'member' | 'guest';
};

export type LivekitToken = { token: string; expiresAt: Date };

const tokens = new Map<string, Promise<string>>();
let cachedUntil = 0;

/**
 * Creates the token of a visitor. It allows to join this room only, and to publish a camera, a microphone and a screen.
 * It does not allow a host more: hosts act through this service, which checks their role at that moment and records
 * it. It contains no credential of this service, since LiveKit shows identities and attributes to everybody in a room.
 */
export async function createLivekitToken(
  { sealer }: Pick<Services, 'sealer'>,
  now: Date,
  livekit: Livekit,
  visitor: LivekitVisitor,
): Promise<LivekitToken> {
  const expiresAt = (Math.floor(now.getTime() / PERIOD_MS) + 2) * PERIOD_MS;
  // The SDK writes the time of signing into a token. A stream would send each new one to its page.
  if (cachedUntil !== expiresAt || tokens.size >= MAX_CACHED) tokens.clear();
  cachedUntil = expiresAt;
  const key = JSON.stringify([livekit, visitor]);
  const token = tokens.get(key) ?? signToken(openLivekit(sealer, livekit), expiresAt, visitor);
  tokens.set(key, token);
  return { token: await token, expiresAt: new Date(expiresAt) };
}

async function signToken(
  { api_key, api_secret }: LivekitServer,
  expiresAt: number,
  { reference, connectionId, name, roomName, role }: LivekitVisitor,
): Promise<string> {
  // The SDK takes 30 MB of memory, so it is loaded for the first token.
  const { AccessToken, TrackSource } = await import('livekit-server-sdk');
  const token = new AccessToken(api_key, api_secret, {
    identity: `${reference}.${connectionId}`,
    name,
    attributes: { role },
  });
  // A number is the time itself, while one among the options would be a duration on the clock of this machine.
  token.ttl = expiresAt / SECOND_MS;
  token.addGrant({
    room: roomName,
    roomJoin: true,
    roomAdmin: false,
    canSubscribe: true,
    canPublish: true,
    canPublishSources: [
      TrackSource.CAMERA,
      TrackSource.MICROPHONE,
      TrackSource.SCREEN_SHARE,
      TrackSource.SCREEN_SHARE_AUDIO,
    ],
    canPublishData: true,
    canUpdateOwnMetadata: false,
  });
  return token.toJwt();
}
