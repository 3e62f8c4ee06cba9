/** Requests whose bodies may not consist of tiny chunks. */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Node makes a buffer of each chunk of a body, which takes some hundred bytes however short the chunk is, and keeps
 * 64 kB of a body that nothing reads yet. After this many chunks, a body must have this many bytes in each on average.
 */
const FREE_CHUNKS = 1_000;
const MIN_BYTES = 32;

/** The code of the error that `refuse` gets. */
export const TINY_CHUNKS = 'ERR_TINY_CHUNKS';
export const TINY_CHUNKS_TEXT = `The chunks of the body are too small: send at least ${MIN_BYTES} bytes in each`;

/**
 * Creates the class of requests for a server. A body of tiny chunks is no longer read or stored, and `refuse` is called
 * once. This happens before anything waits for the body, so it also protects operations that read none.
 */
export function createRequestClass(
  refuse: (error: Error & { code: string }, socket: Socket) => void,
): typeof IncomingMessage {
  return class BoundedRequest extends IncomingMessage {
    #chunks = 0;
    #bytes = 0;
    #isRefused = false;

    // When this returns false, Node stops reading from the socket.
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      if (this.#isRefused) return false;
      if (chunk instanceof Uint8Array) {
        this.#chunks += 1;
        this.#bytes += chunk.length;
        if (this.#chunks > FREE_CHUNKS && this.#bytes < this.#chunks * MIN_BYTES) {
          this.#isRefused = true;
          refuse(Object.assign(new Error(TINY_CHUNKS_TEXT), { code: TINY_CHUNKS }), this.socket);
          return false;
        }
      }
      return super.push(chunk, encoding);
    }

    override _read(size: number): void {
      if (!this.#isRefused) super._read(size);
    }
  };
}
