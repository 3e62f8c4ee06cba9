/** One file from a server that may do anything: bounded in time, dialling only what may be dialled. */
import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { SECOND_MS } from '../../../core/time.ts';
import { type AddressGuard, AddressRefused, refusalOfForm } from '../../../egress/address-guard.ts';
import { failureReason } from '../../../egress/failure-reason.ts';
import { createGuardedConnector } from '../../../egress/guarded-connector.ts';

const CONNECT_MS = 10 * SECOND_MS;
const HEADERS_MS = 15 * SECOND_MS;
/** How long nothing may come of a file. */
const IDLE_MS = 30 * SECOND_MS;
const MAX_HEADER_BYTES = 16 * 1024;

const HEADERS = { 'user-agent': 'Lynxroom-Recordings/1.0', 'accept-encoding': 'identity' };

/** The file is not to be had. The message says why without naming the address; `isFinal`: it never will be. */
export class FileUnavailable extends Error {
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false, cause }: { isFinal?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'FileUnavailable';
    this.isFinal = isFinal;
  }
}

export type FileFetcher = {
  /**
   * The bytes of a file that a server answers GET with, by 200 and not by way of a redirect. Throws FileUnavailable, and so
   * may the stream end.
   */
  fetch(url: string, options: { maxBytes: number; signal: AbortSignal }): Promise<AsyncIterable<Buffer>>;
  /** Breaks off what is under way. */
  close(): Promise<void>;
};

const TIMEOUTS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'No answer in time',
  UND_ERR_BODY_TIMEOUT: 'The file stopped coming',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The file broke off',
};

/** A fetcher that reaches what the guard lets it. Time-outs can be shortened, in milliseconds. */
export function createFileFetcher(
  guard: AddressGuard,
  { headersMs = HEADERS_MS, idleMs = IDLE_MS }: { headersMs?: number; idleMs?: number } = {},
): FileFetcher {
  const agent = new Agent({
    connect: createGuardedConnector(guard, CONNECT_MS),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
  });

  return {
    async fetch(address, { maxBytes, signal }) {
      const url = URL.parse(address);
      const refusal = url ? refusalOfForm(url) : 'url is not a URL';
      if (url === null || refusal !== null)
        throw new FileUnavailable(`Address not allowed: ${refusal}`, { isFinal: true });
      try {
        const path = url.pathname + url.search;
        const answer = await agent.request({ origin: url.origin, path, method: 'GET', headers: HEADERS, signal });
        const { statusCode, headers, body } = answer;
        const refuse = async (why: string, isFinal = false): Promise<never> => {
          // An error of what is thrown away has nobody to hear it.
          body.on('error', () => {}).destroy();
          throw new FileUnavailable(why, { isFinal });
        };
        if (statusCode !== 200) return await refuse(`The server answered ${statusCode}`);
        if (Number(headers['content-length'] ?? 0) > maxBytes) return await refuse('The file is too large', true);
        return passOn(body);
      } catch (error) {
        throw toUnavailable(error);
      }
    },

    close: () => agent.destroy(),
  };
}

async function* passOn(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** What undici failed with, in words; anything that no server can cause stays as it is. */
function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof FileUnavailable) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const why = TIMEOUTS[code] ?? failureReason(error);
  return why === null ? error : new FileUnavailable(why, { isFinal: error instanceof AddressRefused, cause: error });
}
