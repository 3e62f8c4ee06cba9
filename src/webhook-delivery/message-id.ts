/** Message ids: the value of the header `webhook-id`, the same on every attempt. */
import { randomBytes } from 'node:crypto';

const PREFIX = 'msg_';
const UUID_BYTES = 16;
const TIME_BYTES = 6;

const PATTERN = /^msg_[0-9a-f]{32}$/;

/**
 * Returns `msg_` and the 32 hex digits of a UUID version 7 (RFC 9562, section 5.7). It begins with `at` in
 * milliseconds, so that ids sort by time, and has 74 random bits.
 */
export function createMessageId(at: Date): string {
  const bytes = randomBytes(UUID_BYTES);
  bytes.writeUIntBE(at.getTime(), 0, TIME_BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return PREFIX + bytes.toString('hex');
}

/** Whether a string has the form of a message ID. Other strings need no database query. */
export function isMessageId(text: string): boolean {
  return PATTERN.test(text);
}
