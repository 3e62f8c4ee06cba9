/** The calls of RoomService, of a LiveKit server. */
import { type CalledServer, type LivekitCaller, readMessage } from './livekit-caller.ts';

/** A participant as the server lists them, with the microphones that are on. */
export type ListedParticipant = { identity: string; microphones: string[] };

export type RoomService = {
  /** Resolves with nobody if the server has no such room. Throws LivekitFailed, as all do. */
  listParticipants(server: CalledServer, room: string, signal: AbortSignal): Promise<ListedParticipant[]>;
  /** Does nothing if the participant or the room is gone. */
  removeParticipant(server: CalledServer, room: string, identity: string, signal: AbortSignal): Promise<void>;
  mute(server: CalledServer, room: string, identity: string, track: string, signal: AbortSignal): Promise<void>;
  deleteRoom(server: CalledServer, room: string, signal: AbortSignal): Promise<void>;
};

export function createRoomService({ call }: LivekitCaller): RoomService {
  return {
    async listParticipants(server, room, signal) {
      const { ListParticipantsRequest, ListParticipantsResponse, TrackSource } = await import('@livekit/protocol');
      const body = new ListParticipantsRequest({ room }).toJson();
      const answer = await call(server, {
        method: 'RoomService/ListParticipants',
        grant: { room, roomAdmin: true },
        body,
        signal,
      });
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
      await call(server, { method: 'RoomService/RemoveParticipant', grant: { room, roomAdmin: true }, body, signal });
    },
    async mute(server, room, identity, trackSid, signal) {
      const { MuteRoomTrackRequest } = await import('@livekit/protocol');
      const body = new MuteRoomTrackRequest({ room, identity, trackSid, muted: true }).toJson();
      await call(server, { method: 'RoomService/MutePublishedTrack', grant: { room, roomAdmin: true }, body, signal });
    },
    async deleteRoom(server, room, signal) {
      const { DeleteRoomRequest } = await import('@livekit/protocol');
      const body = new DeleteRoomRequest({ room }).toJson();
      await call(server, { method: 'RoomService/DeleteRoom', grant: { roomCreate: true }, body, signal });
    },
  };
}
