/**
 * Removes interim responses (1xx) from what a socket receives. A client must be able to parse them, even if it has not
 * asked for any (RFC 9110, section 15.2), and may ignore all but 101. undici ends the request on every `100 Continue`,
 * and accepts any number of the others.
 */
import type { Socket } from 'node:net';

/** Of the interim responses to one request. */
const MAX_INTERIM_BYTES = 16 * 1024;
/** As much as tells whether a response is an interim one: `HTTP/1.1 1xx`. */
const STATUS_END = 12;
const HEAD_END = '\r\n\r\n';
const EMPTY = Buffer.alloc(0);

/**
 * Call it before another listener reads from the socket, which must carry one request at a time. After 16 kB of interim
 * responses to one request, the socket is destroyed with an error of the code `INTERIM_RESPONSES_OVERFLOW`.
 */
export function skipInterimResponses(socket: Socket): void {
  /** The value of `bytesWritten` when a final response began; the next response begins once more is written. */
  let writtenBefore = -1;
  let unread: Buffer = EMPTY;
  let skipped = 0;

  const skip = (): void => {
    if (socket.bytesWritten === writtenBefore) return;
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    const final = findFinal(unread);
    skipped += final.start;
    unread = unread.subarray(final.start);
    if (skipped + (final.isComplete ? 0 : unread.length) > MAX_INTERIM_BYTES) {
      socket.destroy(Object.assign(new Error('Too many interim responses'), { code: 'INTERIM_RESPONSES_OVERFLOW' }));
      return;
    }
    if (!final.isComplete) return;
    socket.unshift(unread);
    writtenBefore = socket.bytesWritten;
    unread = EMPTY;
    skipped = 0;
  };

  // Added together with the first other listener, and before it: if a socket that has a listener gets another one, the
  // bytes that have already arrived are not announced again.
  socket.on('newListener', function addBefore(event) {
    if (event !== 'readable') return;
    socket.off('newListener', addBefore);
    socket.on('readable', skip);
  });
}

/**
 * Finds the first response that is not an interim one. `isComplete` is false if the bytes end before it, or before it
 * is clear what they are; `start` is then where the response that has not ended begins.
 */
function findFinal(bytes: Buffer): { start: number; isComplete: boolean } {
  let start = 0;
  for (;;) {
    const line = bytes.toString('latin1', start, start + STATUS_END);
    if (line.length < STATUS_END) return { start, isComplete: !/^(H(T(T(P(\/.*)?)?)?)?)?$/.test(line) };
    if (!/^HTTP\/1\.[01] 1(?!01)\d\d$/.test(line)) return { start, isComplete: true };
    const end = bytes.indexOf(HEAD_END, start);
    if (end === -1) return { start, isComplete: false };
    start = end + HEAD_END.length;
  }
}
