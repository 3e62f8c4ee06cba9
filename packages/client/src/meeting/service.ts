/** The operations of the service that a meeting uses. */
import type { Client } from '@lynxroom/client';
import type { FailedRecording, MeetingMedia, MeetingParticipant, PeerInfo, RunningRecording } from './types.ts';

/** During an upgrade, a process of a version without meetings answers without `media`. */
export type PresenceAnswer = { participant: MeetingParticipant; media?: MeetingMedia | null };
export type JoinAnswer = { participant: MeetingParticipant & { token: string }; media?: MeetingMedia | null };

/** What the page sends, as it tells the others. */
export type PageState = { microphone: boolean; camera: boolean; screen: boolean };

/** A message of the stream of a participant who carries media. */
export type StreamMessage =
  | {
      event:
        | 'participant.waiting'
        | 'participant.joined'
        | 'participant.refused'
        | 'participant.left'
        | 'participant.removed'
        | 'room.closed'
        | 'room.deleted';
      timestamp: string;
      data: { participant: MeetingParticipant | null; media?: MeetingMedia | null };
    }
  | {
      event: 'peers';
      timestamp: string;
      data: {
        peers: readonly PeerInfo[];
        recording: RunningRecording | null;
        /** Absent from an earlier version. */
        failed_recording?: FailedRecording | null;
        chat: number;
      };
    }
  | { event: 'signal'; data: { id: number | string; from: number; from_connection_id: string; data: string } }
  | { event: 'mute.requested'; data: { name: string } }
  | { event: 'connection.replaced'; data: object };

export type StreamListener = {
  onOpen(): void;
  /** The stream is interrupted or has ended without a last message. */
  onLost(): void;
  onMessage(message: StreamMessage): void;
  /** The service refuses the stream. */
  onError(error: Error): void;
};

export type Service = ReturnType<typeof createService>;

/** The token of a link, which is exchanged for the token of a visit. */
const LINK_PREFIX = 'lnj_';

/** A call that takes longer is given up, for example because the network has changed. */
const TIMEOUT_MS = 10_000;

export function createService({ participants }: Client, roomName: string) {
  return {
    join: ({ token, ...guest }: { name?: string; email?: string; token?: string }): Promise<JoinAnswer> =>
      token?.startsWith(LINK_PREFIX)
        ? participants.exchange.mutate({ roomName, token })
        : participants.join.mutate({ roomName, ...guest, ...(token !== undefined && { token }) }),

    sendPresence: (token: string, page: Partial<PageState & { connection_id: string }>): Promise<PresenceAnswer> =>
      participants.presence.mutate({ roomName, token, ...page }, { signal: AbortSignal.timeout(TIMEOUT_MS) }),

    leave: (token: string): Promise<unknown> => participants.leave.mutate({ roomName, token }),

    /** Without an idempotency key: a page ignores what it gets twice. */
    signal: (token: string, connectionId: string, to: number, toConnectionId: string, data: string): Promise<unknown> =>
      participants.signal.mutate(
        { roomName, token, connection_id: connectionId, to, to_connection_id: toConnectionId, data },
        { context: { idempotencyKey: null }, signal: AbortSignal.timeout(TIMEOUT_MS) },
      ),

    /** Opens the stream. It does not reconnect by itself: what the client tries on its own is ended by `onLost`. */
    openStream(token: string, connectionId: string, listener: StreamListener): { unsubscribe(): void } {
      return participants.live.subscribe(
        { roomName, token, peers: true, connection_id: connectionId },
        {
          onConnectionStateChange({ state, error }) {
            if (state === 'pending') listener.onOpen();
            if (state === 'connecting' && error !== null) listener.onLost();
          },
          onData: listener.onMessage,
          onError: listener.onError,
          onComplete: listener.onLost,
        },
      );
    },
  };
}
