/** `@lynxroom/client/meeting`: takes part in a meeting from a page, without a framework. */
export { createMeeting } from './meeting.ts';
export type {
  ChatMessage,
  EndReason,
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
  TrackKind,
} from './types.ts';
