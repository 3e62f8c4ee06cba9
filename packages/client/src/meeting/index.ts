/** `@lynxroom/client/meeting`: takes part in a meeting from a page, without a framework. */
export type { TrackKind } from './kinds.ts';
export type { LivekitClient } from './livekit-types.ts';
export { createMeeting } from './meeting.ts';
export type {
  ChatMessage,
  EndReason,
  FailedRecording,
  IceServer,
  LocalTrack,
  Meeting,
  MeetingEvents,
  MeetingMedia,
  MeetingOptions,
  MeetingParticipant,
  MeetingSnapshot,
  MeetingState,
  Peer,
  PeerState,
  PeerStats,
  RunningRecording,
} from './types.ts';
