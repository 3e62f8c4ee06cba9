/** Fetches files from untrusted servers, within time limits and only from addresses that the guard allows. */
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { SECOND_MS } from '../../../core/time.ts';
import { type AddressGuard, AddressRefused } from '../../../egress/address-guard.ts';
import { failureReason } from '../../../egress/failure-reason.ts';

const CONNECT_MS = 10 * SECOND_MS;
const HEADERS_MS = 15 * SECOND_MS;
const IDLE_MS = 30 * SECOND_MS;
const MAX_HEADER_BYTES = 16 * 1024;

const HEADERS = { 'user-agent': 'Lynxroom-Recordings/1.0', 'accept-encoding': 'identity' };

/**
 * The file cannot be fetched. The message gives the reason and does not contain the URL. `isLasting` means that another
 * attempt will hardly succeed.
 */
export class FileUnavailable extends Error {
  readonly isLasting: boolean;

  constructor(message: string, { isLasting = false, cause }: { isLasting?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'FileUnavailable';
    this.isLasting = isLasting;
  }
}

export type FileFetcher = {
  /**
   * Fetches a file with GET and returns its bytes. Accepts only status 200 and does not follow redirects. Throws
   * FileUnavailable here or while the caller reads the bytes.
   */
  fetch(url: string, options: { maxBytes: number; signal: AbortSignal }): Promise<AsyncIterable<Buffer>>;
  /** Aborts the running fetches. */
  close(): Promise<void>;
};

/**
 * `headersMs` is the maximum time until the response headers arrive, `idleMs` the maximum pause while the file is sent.
 */
export type FileTimeouts = { headersMs?: number; idleMs?: number };

/** Messages for some undici errors, by error code. */
const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'The server did not respond in time',
  UND_ERR_BODY_TIMEOUT: 'The server stopped sending the file',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The file ended early',
};

/** Creates a fetcher that connects only to addresses that the guard allows. */
export function createFileFetcher(
  guard: AddressGuard,
  { headersMs = HEADERS_MS, idleMs = IDLE_MS }: FileTimeouts = {},
): FileFetcher {
  let agent: Promise<Agent> | undefined;
  return {
    async fetch(url, options) {
      agent ??= createAgent(guard, headersMs, idleMs);
      return fetchFile(await agent, parseUrl(guard, url), options);
    },
    async close() {
      await (await agent)?.destroy();
    },
  };
}

/** Loads the HTTP client on first use, because it takes 20 MB of memory. */
async function createAgent(guard: AddressGuard, headersMs: number, idleMs: number): Promise<Agent> {
  const { Agent } = await import('undici');
  const { createGuardedConnector } = await import('../../../egress/guarded-connector.ts');
  return new Agent({
    connect: createGuardedConnector(guard, CONNECT_MS),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
  });
}

async function fetchFile(
  agent: Agent,
  url: URL,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<AsyncIterable<Buffer>> {
  const { origin, pathname, search } = url;
  try {
    const request = { origin, path: pathname + search, method: 'GET', headers: HEADERS, signal } as const;
    const { statusCode, headers, body } = await agent.request(request);
    const rejection = findRejection(statusCode, headers['content-length'], maxBytes);
    if (rejection === null) return readBody(body);
    // Without a listener, an error in the discarded body would crash the process.
    body.on('error', () => {}).destroy();
    throw rejection;
  } catch (error) {
    throw toUnavailable(error);
  }
}

function parseUrl(guard: AddressGuard, address: string): URL {
  const url = URL.parse(address);
  const refusal = url ? guard.refusalOfUrl(url) : 'url must be a valid URL';
  if (url === null || refusal !== null)
    throw new FileUnavailable(`Address not allowed: ${refusal}`, { isLasting: true });
  return url;
}

function findRejection(
  statusCode: number,
  contentLength: string | string[] | undefined,
  maxBytes: number,
): FileUnavailable | null {
  if (statusCode !== 200) return new FileUnavailable(`The server responded with status ${statusCode}`);
  if (Number(contentLength ?? 0) > maxBytes) return new FileUnavailable('The file is too large', { isLasting: true });
  return null;
}

async function* readBody(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Converts an error to FileUnavailable if the remote server can cause it. Returns any other error unchanged. */
function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof FileUnavailable) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = REASONS[code] ?? failureReason(error);
  return reason === null
    ? error
    : new FileUnavailable(reason, { isLasting: error instanceof AddressRefused, cause: error });
}
