/**
 * A server that speaks the routes of LiveKit's RoomService with its messages. It is no LiveKit: it only keeps who is
 * in which room, checks tokens, and can fail in the ways in which a server fails.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  DeleteRoomRequest,
  DeleteRoomResponse,
  ListParticipantsRequest,
  ListParticipantsResponse,
  MuteRoomTrackRequest,
  MuteRoomTrackResponse,
  ParticipantInfo,
  RemoveParticipantResponse,
  RoomParticipantIdentity,
  TrackInfo,
  TrackSource,
} from '@livekit/protocol';
import { TokenVerifier } from 'livekit-server-sdk';

/** `hang` never answers; `lie` answers what is no message of LiveKit; a number is a status. */
export type Fault = 'hang' | 'lie' | number | null;

export type LivekitServer = AsyncDisposable & {
  url: string;
  /** The participants of each room, by identity, with whether their microphone is on. */
  rooms: Map<string, Map<string, boolean>>;
  /** The methods that were called, in order, without those that were refused. */
  calls: string[];
  fault: Fault;
};

export async function startLivekitServer(key: { api_key: string; api_secret: string }): Promise<LivekitServer> {
  const verifier = new TokenVerifier(key.api_key, key.api_secret);
  const state = { rooms: new Map<string, Map<string, boolean>>(), calls: [] as string[], fault: null as Fault };

  const answers: Record<string, (body: never, room: string | undefined) => object | null> = {
    ListParticipants(body, granted) {
      const { room } = ListParticipantsRequest.fromJson(body);
      const people = state.rooms.get(room);
      if (people === undefined || granted !== room) return null;
      return new ListParticipantsResponse({
        participants: [...people].map(
          ([identity, isOn]) =>
            new ParticipantInfo({
              identity,
              tracks: [
                new TrackInfo({ sid: `TR_${identity}`, source: TrackSource.MICROPHONE, muted: !isOn }),
                new TrackInfo({ sid: `TC_${identity}`, source: TrackSource.CAMERA }),
              ],
            }),
        ),
      });
    },
    RemoveParticipant(body, granted) {
      const { room, identity } = RoomParticipantIdentity.fromJson(body);
      return granted === room && state.rooms.get(room)?.delete(identity) ? new RemoveParticipantResponse() : null;
    },
    MutePublishedTrack(body, granted) {
      const { room, identity, trackSid, muted } = MuteRoomTrackRequest.fromJson(body);
      const people = state.rooms.get(room);
      if (granted !== room || !people?.has(identity) || trackSid !== `TR_${identity}`) return null;
      people.set(identity, !muted);
      return new MuteRoomTrackResponse();
    },
    DeleteRoom(body) {
      return state.rooms.delete(DeleteRoomRequest.fromJson(body).room) ? new DeleteRoomResponse() : null;
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const reply = (status: number, json: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    };
    if (state.fault === 'hang') return;
    if (state.fault === 'lie') return reply(200, { participants: 'everybody' });
    if (state.fault !== null) return reply(state.fault, { code: 'internal', msg: 'internal' });
    const claims = await verifier.verify(request.headers.authorization?.replace('Bearer ', '') ?? '').catch(() => null);
    const method = /^\/twirp\/livekit\.RoomService\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '';
    const mayCall = method === 'DeleteRoom' ? claims?.video?.roomCreate : claims?.video?.roomAdmin;
    const answer = answers[method];
    if (claims === null || !mayCall || answer === undefined)
      return reply(401, { code: 'unauthenticated', msg: 'permissions denied' });
    state.calls.push(method);
    // `as`: the message checks the body.
    const message = answer(JSON.parse(body) as never, claims.video?.room);
    if (message === null) return reply(404, { code: 'not_found', msg: 'could not find object' });
    reply(200, message);
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `ws://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
