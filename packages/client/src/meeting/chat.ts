/** The messages between two pages, on a channel that no server sees. What arrives comes from another person. */
import { isRecord } from './kinds.ts';

export type PageMessage =
  | { type: 'chat'; text: string }
  /** Whether the sender leaves its camera out for this peer, because the connection is too slow. */
  | { type: 'camera'; isPaused: boolean };

export const MAX_CHAT_LENGTH = 2_000;
/** JSON may need six characters for one. */
const MAX_MESSAGE_LENGTH = 6 * MAX_CHAT_LENGTH + 100;

/** Throws RangeError unless the text has 1 to 2,000 characters that can be seen or are line breaks. */
export function checkChatText(text: string): string {
  const clean = cleanText(text);
  if (clean === '' || clean.length > MAX_CHAT_LENGTH)
    throw new RangeError(`A message must have 1 to ${MAX_CHAT_LENGTH} characters`);
  return clean;
}

/** Reads a message of the channel. Returns null for anything else. */
export function readPageMessage(data: unknown): PageMessage | null {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_LENGTH) return null;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  if (value.type === 'camera' && typeof value.isPaused === 'boolean')
    return { type: 'camera', isPaused: value.isPaused };
  if (value.type !== 'chat' || typeof value.text !== 'string') return null;
  const text = cleanText(value.text);
  return text === '' || text.length > MAX_CHAT_LENGTH ? null : { type: 'chat', text };
}

/** Removes control characters, and those that turn the direction of the text around them. */
function cleanText(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '').trim();
}

/** More than so many messages of a page are not read. */
const [MESSAGE_BURST, MESSAGES_PER_SECOND] = [30, 5];
const [CHAT_BURST, CHATS_PER_SECOND] = [10, 2];

/** Reads the messages of one other page, as long as they are not too many. */
export class MessageReader {
  readonly #messages = new RateLimit(MESSAGE_BURST, MESSAGES_PER_SECOND);
  readonly #chats = new RateLimit(CHAT_BURST, CHATS_PER_SECOND);

  /** Returns null for anything else than a message, and for too many. */
  read(data: unknown, now: number): PageMessage | null {
    const message = this.#messages.take(now) ? readPageMessage(data) : null;
    return message?.type === 'chat' && !this.#chats.take(now) ? null : message;
  }
}

/** Allows `burst` at once, and `perSecond` on average. */
export class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #at = 0;

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
  }

  /** Whether one more is allowed at `now`, in milliseconds. */
  take(now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
