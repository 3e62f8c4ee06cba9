/** The types of the recorder, which records a meeting as the page sees and hears it. */
import type { TextOf } from '../../../../src/languages/catalogue.ts';

export type RecordedTrackKind = 'microphone' | 'camera' | 'screen' | 'screenAudio';

/** Somebody in the meeting, and the tracks that this page has of them. */
export type RecordedPerson = { readonly id: number; readonly name: string } & Readonly<
  Record<RecordedTrackKind, MediaStreamTrack | null>
>;

/** What the recorder needs of a `Meeting`. */
export type RecordedMeeting = {
  readonly state: string;
  readonly participant: { readonly id: number; readonly name: string; readonly is_member: number } | null;
  /** The recording that runs in the room, by whomever. */
  readonly recording: { readonly id: number; readonly participant_id: number | null } | null;
  readonly peers: readonly RecordedPerson[];
  readonly local: Readonly<
    Record<RecordedTrackKind, { readonly track: MediaStreamTrack | null; readonly isMuted: boolean }>
  >;
  readonly token: string | null;
  on(event: 'change', listener: () => void): () => void;
};

/**
 * - `idle`: nothing is recorded here, and nothing is left to send of what was.
 * - `starting`: the service is asked for a new recording.
 * - `recording`: the meeting is captured, and sent at the same time.
 * - `sending`: the capture has ended, and the rest is being sent.
 */
export type RecorderStatus = 'idle' | 'starting' | 'recording' | 'sending';

/** Everything that a page shows of the recorder. It never changes: after each change there is a new one. */
export type RecorderState = {
  readonly status: RecorderStatus;
  /** The recording that is captured or sent; null while `idle` or `starting`. */
  readonly recordingId: number | null;
  /** When the capture began, in milliseconds as by `Date.now()`; null unless `recording`. */
  readonly startedAt: number | null;
  readonly capturedBytes: number;
  readonly sentBytes: number;
  /** What the person should know meanwhile, such as that the recording ends soon. */
  readonly notice: TextOf | null;
  /** Why the recording could not start, or ended before it was stopped. */
  readonly error: TextOf | null;
  /** Where the last recording will be; null until all of it was sent. */
  readonly result: TextOf | null;
  /** How many earlier recordings of this browser are still being sent, for example after a crash. */
  readonly earlier: number;
};

export type Recorder = {
  getState(): RecorderState;
  /** Adds a listener of changes. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /**
   * Starts a recording of the meeting. Call it in the handler of a click, or browsers may refuse the sound. Never
   * rejects: `error` says why it could not start.
   */
  start(): Promise<void>;
  /** Ends the capture. Resolves when the service knows; the rest is sent afterwards. Never rejects. */
  stop(): Promise<void>;
  /** Ends the capture, because the page leaves the meeting for good. What is not sent yet is still being sent. */
  dispose(): void;
};
