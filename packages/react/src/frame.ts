/** Frames with a part of Lynxroom, without a framework. */
import { type EventName, type FrameCommand, type FrameEvent, PROTOCOL_VERSION, type ToFrame } from './protocol.ts';

export type { EventName, FrameCommand, FrameEvent } from './protocol.ts';

export type Part = 'room' | 'book' | 'library' | 'webhooks';

export type Theme = 'light' | 'dark' | 'system';

export type FrameAddress = {
  /** The address of the service, such as `https://lynxroom.example.com`. */
  service: string;
  part: Part;
  /** The name of the room, the slug of the booking page, or the ID of the workspace. */
  name: string;
  /** Sent in the fragment, which no server sees. */
  token?: string | undefined;
  /** Default: as the system of the visitor says. */
  theme?: Theme | undefined;
};

/** What a frame may use. Only rooms need it. */
export const FRAME_PERMISSIONS = 'camera; microphone; display-capture; autoplay; fullscreen';

/** How often a frame that has not answered yet is asked again, and how long it may take. */
const [ASK_MS, MAX_ASK_MS] = [250, 20_000];

/** The address of the document in the frame. Throws a TypeError if `service` is no URL. */
export function toFrameUrl({ service, part, name, token, theme }: FrameAddress): string {
  const url = new URL(`/embed/${part}/${encodeURIComponent(name)}`, service);
  if (theme !== undefined && theme !== 'system') url.searchParams.set('theme', theme);
  if (token !== undefined) url.hash = new URLSearchParams({ token }).toString();
  return url.href;
}

export type FrameConnection = {
  /** Asks something of the frame. Before it is ready, nothing is sent. */
  send(command: FrameCommand): void;
  disconnect(): void;
};

/**
 * Talks with the document in a frame, of which only messages from its own window and from the service's origin count.
 * `listener` gets what it says, and an `error` with the code `NOT_READY` if it says nothing within 20 seconds.
 */
export function connectFrame(
  frame: HTMLIFrameElement,
  service: string,
  listener: (event: FrameEvent) => void,
): FrameConnection {
  const { origin } = new URL(service);
  let isReady = false;
  let asking: ReturnType<typeof setInterval> | undefined;

  function send(command: FrameCommand): void {
    const message: ToFrame = { lynxroom: PROTOCOL_VERSION, ...command };
    frame.contentWindow?.postMessage(message, origin);
  }

  /** Asks until the document answers: its script may not have run yet. */
  function begin(): void {
    isReady = false;
    clearInterval(asking);
    const start = Date.now();
    asking = setInterval(ask, ASK_MS);
    ask();
    function ask(): void {
      if (Date.now() - start < MAX_ASK_MS) send({ command: 'connect' });
      else {
        clearInterval(asking);
        listener({ event: 'error', code: 'NOT_READY', message: NOT_READY });
      }
    }
  }

  function receive({ source, origin: from, data }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow || from !== origin || !isFrameEvent(data)) return;
    if (data.event === 'ready') {
      if (isReady) return;
      isReady = true;
      clearInterval(asking);
    }
    listener(data);
  }

  const view = frame.ownerDocument.defaultView ?? window;
  view.addEventListener('message', receive);
  frame.addEventListener('load', begin);
  // A document of another origin than this page: it has been loaded before.
  if (frame.contentWindow !== null && frame.contentDocument === null) begin();
  return {
    send: (command) => {
      if (isReady) send(command);
    },
    disconnect() {
      clearInterval(asking);
      view.removeEventListener('message', receive);
      frame.removeEventListener('load', begin);
    },
  };
}

const NOT_READY =
  'The frame does not answer. Is the origin of this page one of the embed_origins of the workspace, and the address ' +
  'of the service right?';

function isFrameEvent(data: unknown): data is FrameEvent {
  return (
    typeof data === 'object' &&
    data !== null &&
    'lynxroom' in data &&
    data.lynxroom === PROTOCOL_VERSION &&
    'event' in data &&
    typeof data.event === 'string' &&
    names.has(data.event)
  );
}

/** A record, so that no event can be missing. */
const known: Record<EventName, true> = {
  ready: true,
  size: true,
  joined: true,
  left: true,
  recording: true,
  booked: true,
  uploaded: true,
  error: true,
};
const names: ReadonlySet<string> = new Set(Object.keys(known));
