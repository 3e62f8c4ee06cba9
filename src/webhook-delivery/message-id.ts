/** The names of messages: the header `webhook-id`, the same on every attempt. */
import { randomBytes } from 'node:crypto';

const PREFIX = 'msg_';
const UUID_BYTES = 16;
const TIME_BYTES = 6;

const FORM = /^msg_[0-9a-f]{32}$/;

/**
 * `msg_` and the 32 hex digits of a UUID of version 7 (RFC 9562, section 5.7), with `at` in milliseconds in front: ids
 * sort by time, those of one millisecond at random. 74 bits are random.
 */
export function createMessageId(at: Date): string {
  const bytes = randomBytes(UUID_BYTES);
  bytes.writeUIntBE(at.getTime(), 0, TIME_BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return PREFIX + bytes.toString('hex');
}

/** Whether a text could be the name of a message; what could not is no question for the database. */
export function isMessageId(text: string): boolean {
  return FORM.test(text);
}
