/**
 * What a page and the frame with a part of Lynxroom say to each other by `postMessage`. Each message is an object whose
 * `lynxroom` is the version of the protocol. Version 1 only gains kinds of messages and fields: ignore unknown ones.
 *
 * The page begins: it sends `connect` until the frame answers `ready`. The frame listens to its parent alone, and only
 * if the parent's origin is one of the workspace's `embed_origins`.
 */

export const PROTOCOL_VERSION = 1;

/** What the frame tells the page. */
export type FrameEvent =
  /** The frame listens. */
  | { event: 'ready' }
  /** How high the content is, in CSS pixels. Rooms fill their frame, and say nothing. */
  | { event: 'size'; height: number }
  /** The person is in the meeting. `id` is the participant's. */
  | { event: 'joined'; participant: { id: number; name: string } }
  /** The visit is over: `left`, `refused`, `removed`, `closed`, `deleted` or `error`. */
  | { event: 'left'; reason: string }
  /** A recording of the meeting has begun or ended. */
  | { event: 'recording'; isRecording: boolean }
  /** A meeting was booked. Times are Unix seconds; `awaits` says who has to confirm it. */
  | {
      event: 'booked';
      booking: { id: number; title: string; starts_at: number; ends_at: number; awaits: 'guest' | 'host' | null };
    }
  /** A file was added to the library. `id` is the item's. */
  | { event: 'uploaded'; item: { id: number; name: string } }
  /**
   * Something was refused. `code` is that of the API, `RECORDING_FAILED` if the meeting is not recorded although the
   * person was told so, or `NOT_READY` if the frame does not answer. With `UNAUTHORIZED`, the library or the webhooks
   * need another token.
   */
  | { event: 'error'; code: string; message: string };

/** What the page asks of the frame. */
export type FrameCommand =
  | { command: 'connect' }
  /** Switches the microphone or the camera of the person off, or on again. */
  | { command: 'mute'; kind: 'microphone' | 'camera'; isMuted: boolean }
  /** Ends the visit. */
  | { command: 'leave' }
  /** Gives the library or the webhooks a token, in place of the one before. */
  | { command: 'token'; token: string };

export type FromFrame = { lynxroom: typeof PROTOCOL_VERSION } & FrameEvent;
export type ToFrame = { lynxroom: typeof PROTOCOL_VERSION } & FrameCommand;

export type EventName = FrameEvent['event'];
