/** Reads lines of limited length. */
import type { Readable } from 'node:stream';

/** Takes the place of a line that is too long. */
export const TOO_LONG = Symbol('a line that is too long');

const NEWLINE = 0x0a;

/**
 * Yields the lines of `input` without their ends, until the input ends or `signal` aborts. A line with more than
 * `maxBytes` bytes is skipped, and `TOO_LONG` is yielded instead. A last line without an end counts.
 */
export async function* readLines(
  input: Readable,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<string | typeof TOO_LONG> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (): string | typeof TOO_LONG => {
    const line = bytes > maxBytes ? TOO_LONG : Buffer.concat(parts).toString();
    [parts, bytes] = [[], 0];
    return line;
  };
  const stop = (): void => void input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of input) {
      const data = Buffer.from(chunk);
      let start = 0;
      for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
        bytes += end - start;
        if (bytes <= maxBytes) parts.push(data.subarray(start, end));
        start = end + 1;
        yield take();
      }
      bytes += data.length - start;
      if (bytes <= maxBytes) parts.push(data.subarray(start));
      else parts = [];
    }
    if (bytes > 0) yield take();
  } catch (error) {
    // Destroying the input ends the loop with an error.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
