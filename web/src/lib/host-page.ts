/**
 * The page of another origin that shows this document in a frame. `packages/react/src/protocol.ts` says what both say to
 * each other.
 */
import type { FrameCommand, FrameEvent, FromFrame } from '@lynxroom/react/protocol';
import { isEmbedded } from './embedded.ts';

const VERSION = 1;

type Wish = Exclude<FrameCommand, { command: 'connect' }>;

/** Whom this document may tell anything: the origin of its parent, once the parent has said it. */
let hostOrigin: string | null = null;
let waiting: FrameEvent[] = [];
const listeners = new Set<(wish: Wish) => void>();

/** Begins to listen. Returns a function that ends it. */
export function meetHostPage(): () => void {
  const { content = '' } = document.querySelector<HTMLMetaElement>('meta[name="lynxroom:embed-origins"]') ?? {};
  const origins = content.split(' ');
  function receive({ source, origin, data }: MessageEvent<unknown>): void {
    if (source !== parent || source === window || !origins.includes(origin)) return;
    const command = readCommand(data);
    if (command === null) return;
    if (command.command !== 'connect') {
      for (const listener of listeners) listener(command);
      return;
    }
    hostOrigin = origin;
    send({ event: 'ready' });
    for (const event of waiting) send(event);
    waiting = [];
  }
  addEventListener('message', receive);
  return () => removeEventListener('message', receive);
}

/** Tells the page what happened, as soon as it has connected. Does nothing outside of frames. */
export function tellHostPage(event: FrameEvent): void {
  if (!isEmbedded) return;
  if (hostOrigin === null) waiting.push(event);
  else send(event);
}

/** Returns a function that ends it. */
export function onWish(listener: (wish: Wish) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells the page how high the content is, now and whenever that changes. Returns a function that ends it. */
export function tellSize(content: Element): () => void {
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    waiting = waiting.filter(({ event }) => event !== 'size');
    tellHostPage({ event: 'size', height });
  });
  observer.observe(content);
  return () => observer.disconnect();
}

function send(event: FrameEvent): void {
  const message: FromFrame = { lynxroom: VERSION, ...event };
  if (hostOrigin !== null) parent.postMessage(message, hostOrigin);
}

/** Null for anything that this version does not know. */
function readCommand(data: unknown): FrameCommand | null {
  if (typeof data !== 'object' || data === null || !('lynxroom' in data) || data.lynxroom !== VERSION) return null;
  const { command, kind, isMuted, token } = data as Record<string, unknown>;
  if (command === 'connect' || command === 'leave') return { command };
  if (command === 'token') return typeof token === 'string' ? { command, token } : null;
  const isKind = kind === 'microphone' || kind === 'camera';
  return command === 'mute' && isKind && typeof isMuted === 'boolean' ? { command, kind, isMuted } : null;
}
