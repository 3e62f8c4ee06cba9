/**
 * Calls the RoomService of a LiveKit server (Twirp with JSON, docs.livekit.io/reference/server/server-apis). Not with
 * the client of the SDK, which would connect to any address, and to the hosts that the server names when it fails.
 */
import type { Agent } from 'undici';
import { SECOND_MS } from '../../../core/time.ts';
import type { AddressGuard } from '../../../egress/address-guard.ts';
import type { LivekitServer } from '../../../services.ts';

/** `isTrusted`: the operator named its address, so it may be a private one. */
export type CalledServer = LivekitServer & { isTrusted: boolean };

/** A participant as the server lists them, with the microphones that are on. */
export type ListedParticipant = { identity: string; microphones: string[] };

const CONNECT_MS = 5 * SECOND_MS;
const CALL_MS = 10 * SECOND_MS;
const MAX_BYTES = 4 * 1024 * 1024;
const TOKEN_LIFETIME = '1m';

/** The server did not do what it was asked to. The message contains no secret and no address. */
export class LivekitFailed extends Error {}

export type RoomService = {
  /** Resolves with nobody if the server has no such room. Throws LivekitFailed, as all do. */
  listParticipants(server: CalledServer, room: string, signal: AbortSignal): Promise<ListedParticipant[]>;
  /** Does nothing if the participant or the room is gone. */
  removeParticipant(server: CalledServer, room: string, identity: string, signal: AbortSignal): Promise<void>;
  mute(server: CalledServer, room: string, identity: string, track: string, signal: AbortSignal): Promise<void>;
  deleteRoom(server: CalledServer, room: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

type Grant = { room?: string; roomAdmin?: boolean; roomCreate?: boolean };
type Call = { method: string; grant: Grant; body: unknown; signal: AbortSignal };

/** Creates a client that connects only to addresses that the guard allows, and to trusted servers. */
export function createRoomService(guard: AddressGuard): RoomService {
  const agents = new Map<boolean, Promise<Agent>>();
  const call = async (server: CalledServer, request: Call): Promise<unknown> => {
    const agent = agents.get(server.isTrusted) ?? createAgent(server.isTrusted ? null : guard);
    agents.set(server.isTrusted, agent);
    return send(await agent, server, request);
  };
  return {
    async listParticipants(server, room, signal) {
      const { ListParticipantsRequest, ListParticipantsResponse, TrackSource } = await import('@livekit/protocol');
      const body = new ListParticipantsRequest({ room }).toJson();
      const answer = await call(server, { method: 'ListParticipants', grant: { room, roomAdmin: true }, body, signal });
      if (answer === null) return [];
      const { participants } = readMessage(() =>
        // `as`: the body is whatever the server sent, which `fromJson` checks.
        ListParticipantsResponse.fromJson(answer as never, { ignoreUnknownFields: true }),
      );
      return participants.map(({ identity, tracks }) => ({
        identity,
        microphones: tracks
          .filter(({ source, muted }) => source === TrackSource.MICROPHONE && !muted)
          .map(({ sid }) => sid),
      }));
    },
    async removeParticipant(server, room, identity, signal) {
      const { RoomParticipantIdentity } = await import('@livekit/protocol');
      const body = new RoomParticipantIdentity({ room, identity }).toJson();
      await call(server, { method: 'RemoveParticipant', grant: { room, roomAdmin: true }, body, signal });
    },
    async mute(server, room, identity, trackSid, signal) {
      const { MuteRoomTrackRequest } = await import('@livekit/protocol');
      const body = new MuteRoomTrackRequest({ room, identity, trackSid, muted: true }).toJson();
      await call(server, { method: 'MutePublishedTrack', grant: { room, roomAdmin: true }, body, signal });
    },
    async deleteRoom(server, room, signal) {
      const { DeleteRoomRequest } = await import('@livekit/protocol');
      const body = new DeleteRoomRequest({ room }).toJson();
      await call(server, { method: 'DeleteRoom', grant: { roomCreate: true }, body, signal });
    },
    async close() {
      for (const agent of agents.values()) await (await agent).destroy();
    },
  };
}

/** Loads the HTTP client on first use, because it takes 20 MB of memory. */
async function createAgent(guard: AddressGuard | null): Promise<Agent> {
  const { Agent } = await import('undici');
  const { createGuardedConnector } = await import('../../../egress/guarded-connector.ts');
  return new Agent({
    connect: guard === null ? { timeout: CONNECT_MS } : createGuardedConnector(guard, CONNECT_MS),
    allowH2: false,
    pipelining: 1,
    headersTimeout: CALL_MS,
    bodyTimeout: CALL_MS,
  });
}

/** Resolves with the JSON of the answer; null if the server has no such room or participant. */
async function send(
  agent: Agent,
  { origin, api_key, api_secret }: LivekitServer,
  { method, grant, body, signal }: Call,
): Promise<unknown> {
  const { AccessToken } = await import('livekit-server-sdk');
  const token = new AccessToken(api_key, api_secret, { ttl: TOKEN_LIFETIME });
  token.addGrant(grant);
  const headers = { authorization: `Bearer ${await token.toJwt()}`, 'content-type': 'application/json' };
  const request = { origin, path: `/twirp/livekit.RoomService/${method}`, method: 'POST', headers } as const;
  const signals = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  try {
    const answer = await agent.request({ ...request, body: JSON.stringify(body), signal: signals });
    const text = await readText(answer.body);
    if (answer.statusCode === 200) return readMessage(() => JSON.parse(text));
    if (answer.statusCode === 404 && readCode(text) === 'not_found') return null;
    throw new LivekitFailed(`${method} was answered with the status ${answer.statusCode}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LivekitFailed) throw error;
    throw new LivekitFailed(`${method} was not answered`, { cause: error });
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new LivekitFailed('The answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The code of a Twirp error. A 404 without it is of something else than LiveKit. */
function readCode(text: string): unknown {
  const parsed: unknown = readMessage(() => JSON.parse(text));
  return typeof parsed === 'object' && parsed !== null && 'code' in parsed ? parsed.code : undefined;
}

function readMessage<Message>(read: () => Message): Message {
  try {
    return read();
  } catch (error) {
    throw new LivekitFailed('The answer is no message of LiveKit', { cause: error });
  }
}
