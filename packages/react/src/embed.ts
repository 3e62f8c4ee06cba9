/**
 * The script for pages without React: `<script src="https://lynxroom.example.com/embed.js"></script>` defines
 * `lynxroom`, whose functions add a frame to an element.
 */
import {
  connectFrame,
  FRAME_PERMISSIONS,
  type FrameCommand,
  type FrameEvent,
  type Part,
  type Theme,
  toFrameUrl,
} from './frame.ts';

type Options = {
  /** The address of the service. Default: where this script was loaded from. */
  service?: string;
  token?: string;
  theme?: Theme;
  /** The title of the frame for screen readers. */
  title?: string;
  /** Gets everything that the frame says. */
  onEvent?: (event: FrameEvent) => void;
};

type Embedded = {
  frame: HTMLIFrameElement;
  mute(kind: 'microphone' | 'camera', isMuted: boolean): void;
  leave(): void;
  /** Gives the library or the webhooks another token. */
  setToken(token: string): void;
  /** Removes the frame. */
  remove(): void;
};

// Only while the script runs for the first time.
const script = document.currentScript;
const ownOrigin = script instanceof HTMLScriptElement ? new URL(script.src).origin : location.origin;

/** `Named` is how the options name what the frame shows. */
function embed<Named>(part: Part, title: string, nameOf: (named: Named) => string) {
  return (target: Element | string, options: Options & Named): Embedded => {
    const parent = typeof target === 'string' ? document.querySelector(target) : target;
    if (parent === null) throw new TypeError(`No element matches ${String(target)}`);
    const service = options.service ?? ownOrigin;
    const frame = document.createElement('iframe');
    frame.title = options.title ?? title;
    frame.allow = FRAME_PERMISSIONS;
    frame.style.cssText = `border:0;width:100%;${part === 'room' ? 'height:100%;min-height:30rem' : 'height:40rem'}`;
    const connection = connectFrame(frame, service, (event) => {
      if (event.event === 'size') frame.style.height = `${event.height}px`;
      options.onEvent?.(event);
    });
    frame.src = toFrameUrl({ service, part, name: nameOf(options), token: options.token, theme: options.theme });
    parent.append(frame);
    const send = (command: FrameCommand) => connection.send(command);
    return {
      frame,
      mute: (kind, isMuted) => send({ command: 'mute', kind, isMuted }),
      leave: () => send({ command: 'leave' }),
      setToken: (token) => send({ command: 'token', token }),
      remove() {
        connection.disconnect();
        frame.remove();
      },
    };
  };
}

const byName = ({ name }: { name: string }): string => name;
const byWorkspace = ({ workspace }: { workspace: number }): string => String(workspace);

Object.assign(globalThis, {
  lynxroom: {
    room: embed('room', 'Meeting room', byName),
    booking: embed('book', 'Booking', byName),
    library: embed('library', 'Library', byWorkspace),
    webhooks: embed('webhooks', 'Webhooks', byWorkspace),
  },
});
