/**
 * Events in a meeting, in the service's own terms. Provider-specific field names and units stay inside the adapters.
 */

/**
 * How a provider identifies a room. LiveKit and generic send the name of our room. Vonage sends the id of its own
 * session, which our room stores as `session_id`. The adapters do not check that the room exists.
 */
export type RoomReference = { kind: 'name'; name: string } | { kind: 'session'; sessionId: string };

/** A file at an http(s) URL. The adapters do not check where the URL leads; the fetcher does. */
export type RecordingFile = { url: string };

/** `duration` is in whole seconds and `size` in bytes. null means not known yet. */
type Measures = { duration: number | null; size: number | null };

/**
 * One event in a meeting. Events may arrive late, more than once and in any order. `at` is when the event happened,
 * with the provider's precision, and is never in the future. If the provider's time is missing or implausible, `at` is
 * when the callback was sent or, if that is unknown, when it arrived. Ids (1 to 200 characters) are trimmed but
 * otherwise unchanged. Text written by people is cleaned and truncated: names to 100 characters, titles to 200, reasons
 * to 500.
 */
export type ProviderEvent =
  | {
      kind: 'participant.joined';
      room: RoomReference;
      /** The provider's id for this connection. The matching `participant.left` has the same id. */
      participantReference: string;
      name: string | null;
      email: string | null;
      /**
       * The reference that the provider sent, normally one that our join operation returned. The adapter does not
       * verify it. Callbacks that release 0.2 stored have none.
       */
      reference?: string | null;
      /** The token of a participant, for programs of release 0.2, which did not know the reference. */
      token: string | null;
      at: Date;
    }
  | { kind: 'participant.left'; room: RoomReference; participantReference: string; at: Date }
  | { kind: 'recording.started'; room: RoomReference; archiveId: string; title: string | null; at: Date }
  /** The capture has ended, but there is no file yet. */
  | ({ kind: 'recording.ended'; room: RoomReference; archiveId: string; at: Date } & Measures)
  /** The file exists at the provider or in the customer's bucket. `file` is null if the file has no URL. */
  | ({
      kind: 'recording.uploaded';
      room: RoomReference;
      archiveId: string;
      file: RecordingFile | null;
      at: Date;
    } & Measures)
  /** The file can be fetched until `urlExpiresAt`. If that is null, the URL does not expire. */
  | ({
      kind: 'recording.available';
      room: RoomReference;
      archiveId: string;
      file: RecordingFile;
      urlExpiresAt: Date | null;
      at: Date;
    } & Measures)
  | { kind: 'recording.failed'; room: RoomReference; archiveId: string; reason: string; at: Date }
  /** Everyone has left. The room may be used for another meeting later. */
  | { kind: 'meeting.ended'; room: RoomReference; at: Date };

export const eventKinds = [
  'participant.joined',
  'participant.left',
  'recording.started',
  'recording.ended',
  'recording.uploaded',
  'recording.available',
  'recording.failed',
  'meeting.ended',
] as const satisfies readonly ProviderEvent['kind'][];

export type ParticipantEvent = Extract<ProviderEvent, { participantReference: string }>;
export type RecordingEvent = Extract<ProviderEvent, { archiveId: string }>;
export type MeetingEvent = Extract<ProviderEvent, { kind: 'meeting.ended' }>;
