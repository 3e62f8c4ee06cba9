import type { Hash } from 'node:crypto';
import { badField } from '../../core/errors.ts';
import { HEAD_BYTES } from '../../media/file-type.ts';
import { type FileRules, fileTooLong, requireContent } from '../../media/receive-file.ts';
import type { ByteLimit } from './byte-limit.ts';
import type { Upload } from './upload-rows.ts';

export type BytesInspector = {
  /**
   * Passes the bytes on, and ends at the limit. Throws 400 for a file of another type or a wrong length, and 413 for a
   * file too large.
   */
  inspect(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
  /** The first bytes of the file, as far as they are among the first `received` and still needed. */
  head(received: number): Buffer;
  /** Whether the file has a wrong type, or is too large. */
  isRejected(): boolean;
  /** Whether more bytes have arrived than the limit allows. */
  isExceeded(): boolean;
  /** The hash of all bytes; null if bytes from before are missing in it. */
  hash: Hash | null;
};

/** Inspects the bytes that continue an upload, before they are stored. */
export function inspectBytes(
  { received, length, mediaType, head: firstBytes }: Upload,
  rules: FileRules,
  hash: Hash | null,
  limit: ByteLimit | null,
): BytesInspector {
  let head = Buffer.from(firstBytes);
  let total = received;

  let isRejected = false;
  let isExceeded = false;

  /** Throws if the file can never be accepted. */
  const requireFile = async (isHeadComplete: boolean): Promise<void> => {
    try {
      if (total > rules.maxBytes) throw fileTooLong(rules.maxBytes);
      if (isHeadComplete) await requireContent(mediaType, head, rules);
    } catch (error) {
      isRejected = true;
      throw error;
    }
  };

  return {
    hash,
    isRejected: () => isRejected,
    isExceeded: () => isExceeded,
    async *inspect(body) {
      for await (const arrived of body) {
        const left = limit === null ? arrived.length : Math.max(0, limit.bytes - total);
        isExceeded = arrived.length > left;
        const chunk = isExceeded ? arrived.subarray(0, left) : arrived;
        if (chunk.length === 0) {
          if (isExceeded) return;
          continue;
        }
        if (length !== null && total + chunk.length > length)
          throw badField('Upload-Length', `The body is longer than the rest of the ${length} bytes of Upload-Length`);
        const isRecognized = total >= HEAD_BYTES;
        total += chunk.length;
        if (!isRecognized) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
        await requireFile(!isRecognized && total >= HEAD_BYTES);
        hash?.update(chunk);
        yield chunk;
        if (isExceeded) return;
      }
    },
    head: (stored) => (stored >= HEAD_BYTES ? Buffer.alloc(0) : head.subarray(0, stored)),
  };
}
