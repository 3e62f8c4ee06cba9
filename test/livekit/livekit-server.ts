/**
 * A server that speaks the routes of LiveKit's RoomService and Egress with their messages. It is no LiveKit: it only
 * keeps who is in which room, checks tokens, and can fail in the ways in which a server fails. What it "records" is a
 * file of the test, which it writes to S3 as it was asked to. Pages join it by `/page`, with the
 * stub of LiveKit's client (`test/console/journeys/support/livekit-stub.ts`): it passes their messages on.
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
import { EgressStub } from './egress-stub.ts';
import { LivekitPages } from './livekit-pages.ts';

/** `hang` never answers; `lie` answers what is no message of LiveKit; a number is a status. */
export type Fault = 'hang' | 'lie' | number | null;

export type LivekitServer = AsyncDisposable & {
  url: string;
  /** The participants of each room, by identity, with whether their microphone is on. */
  rooms: Map<string, Map<string, boolean>>;
  /** The methods that were called, in order, without those that were refused. */
  calls: string[];
  fault: Fault;
  egress: EgressStub;
  /** Ends the connections of all pages, as a restart of the server does. */
  disconnectPages(): void;
};

export async function startLivekitServer(key: { api_key: string; api_secret: string }): Promise<LivekitServer> {
  const verifier = new TokenVerifier(key.api_key, key.api_secret);
  const pages = new LivekitPages();
  const egress = new EgressStub();
  const state = { egress, rooms: new Map<string, Map<string, boolean>>(), calls: [] as string[], fault: null as Fault };

  const answers: Record<string, (body: never, room: string | undefined) => object | null | Promise<object | null>> = {
    ListEgress: (body) => egress.list(body),
    StartRoomCompositeEgress: (body) => egress.start(body),
    StopEgress: (body) => egress.stop(body),
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
      pages.end(identity);
      return granted === room && state.rooms.get(room)?.delete(identity) ? new RemoveParticipantResponse() : null;
    },
    MutePublishedTrack(body, granted) {
      const { room, identity, trackSid, muted } = MuteRoomTrackRequest.fromJson(body);
      const people = state.rooms.get(room);
      if (granted !== room || !people?.has(identity) || trackSid !== `TR_${identity}`) return null;
      people.set(identity, !muted);
      pages.send(identity, { type: 'mute' });
      return new MuteRoomTrackResponse();
    },
    DeleteRoom(body) {
      for (const identity of state.rooms.get(DeleteRoomRequest.fromJson(body).room)?.keys() ?? []) pages.end(identity);
      return state.rooms.delete(DeleteRoomRequest.fromJson(body).room) ? new DeleteRoomResponse() : null;
    },
  };

  /** What the stub of LiveKit's client calls, with the token that the page got from the service. */
  async function handlePage(url: URL, body: string, response: ServerResponse): Promise<void> {
    response.setHeader('access-control-allow-origin', '*');
    const claims = await verifier.verify(url.searchParams.get('access_token') ?? '').catch(() => null);
    const { sub: identity, video } = claims ?? {};
    if (identity === undefined || !video?.roomJoin || video.room === undefined)
      return void response.writeHead(401).end();
    if (body !== '') {
      const { to, ...message } = JSON.parse(body);
      pages.send(to, { ...message, from: identity });
      return void response.end();
    }
    const people = state.rooms.get(video.room) ?? new Map<string, boolean>();
    pages.open(identity, [...people.keys()], response);
    state.rooms.set(video.room, people.set(identity, true));
    response.once('close', () => {
      people.delete(identity);
      for (const other of people.keys()) pages.send(other, { type: 'left', from: identity });
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const url = new URL(request.url ?? '/', 'http://livekit');
    if (url.pathname === '/page') return handlePage(url, body, response);
    const reply = (status: number, json: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    };
    if (state.fault === 'hang') return;
    if (state.fault === 'lie') return reply(200, { participants: 'everybody' });
    if (state.fault !== null) return reply(state.fault, { code: 'internal', msg: 'internal' });
    const claims = await verifier.verify(request.headers.authorization?.replace('Bearer ', '') ?? '').catch(() => null);
    const method = /^\/twirp\/livekit\.(?:RoomService|Egress)\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '';
    const { roomCreate, roomAdmin, roomRecord } = claims?.video ?? {};
    const mayCall = method === 'DeleteRoom' ? roomCreate : method.endsWith('Egress') ? roomRecord : roomAdmin;
    const answer = answers[method];
    if (claims === null || !mayCall || answer === undefined)
      return reply(401, { code: 'unauthenticated', msg: 'permissions denied' });
    state.calls.push(method);
    // `as`: the message checks the body.
    const message = await answer(JSON.parse(body) as never, claims.video?.room);
    if (message === null) return reply(404, { code: 'not_found', msg: 'could not find object' });
    reply(200, message);
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `ws://127.0.0.1:${port}`,
    disconnectPages: () => pages.endAll(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
