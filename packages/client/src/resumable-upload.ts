/** Uploads a file in parts, in the protocol tus 1.0, and continues it after a broken connection or a restart. */
import { sleep } from './abort.ts';
import type { Credential } from './credential.ts';
import { ConnectionError, LynxroomError } from './errors.ts';
import type { Progress } from './send-form.ts';

/**
 * Remembers the URLs of uploads that are under way, so that a program that starts again can continue them. They are no
 * credentials. In browsers, the client uses `localStorage` by default.
 */
export type UploadMemory = {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, url: string): void | Promise<void>;
  delete(key: string): void | Promise<void>;
};

export type ResumableRequest = {
  /** The URL that creates an upload. */
  endpoint: string;
  file: Blob;
  metadata: Readonly<Record<string, string | undefined>>;
  /** Identifies the file; null if it cannot be recognized after a restart. */
  key: string | null;
  memory: UploadMemory;
  call: Credential['call'];
  credentials: NonNullable<RequestInit['credentials']>;
  fetch: typeof globalThis.fetch;
  onProgress: ((progress: Progress) => void) | undefined;
  signal: AbortSignal | undefined;
};

const PART_BYTES = 8 * 1024 * 1024;
/** How long it waits after each failure in a row. After as many failures without progress, it gives up. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** Statuses that the same request may not have later: slow, in use by a request that has not ended, overloaded. */
const TEMPORARY = new Set([408, 423, 429, 500, 502, 503, 504]);

type Answer = { status: number; headers: Headers; body: unknown };

/**
 * Returns the path of what the file became, or null if the service has no resumable uploads. Rejects with
 * LynxroomError, with ConnectionError if the connection fails again and again, and with the signal's reason.
 */
export async function uploadResumably(request: ResumableRequest): Promise<string | null> {
  const { file, key, memory, onProgress } = request;
  let url = key === null ? null : ((await memory.get(key)) ?? null);
  // What is remembered may have been changed by others, and gets the credential.
  if (url !== null && !isOfService(url, request.endpoint)) url = null;
  // Null until the service has said how much it has.
  let offset: number | null = null;
  for (let failures = 0; ; ) {
    try {
      if (url === null) {
        url = await create(request);
        if (url === null) return null;
        if (key !== null) await memory.set(key, url);
        offset = 0;
      }
      const answer: Answer =
        offset === null ? await send(request, url, { method: 'HEAD' }) : await sendPart(request, url, offset);
      if (offset === null && isGone(answer)) {
        url = null;
        if (key !== null) await memory.delete(key);
        continue;
      }
      if (answer.status === 409) throw new Unsure();
      requireSuccess(answer);
      const received = Number(answer.headers.get('upload-offset'));
      if (offset !== null && received > offset) failures = 0;
      offset = received;
      onProgress?.({ sent: offset, total: file.size });
      const result = answer.headers.get('upload-result');
      if (result !== null) {
        // It is read at the address of the client.
        if (!result.startsWith('/')) throw new Error(`The answer names ${result} instead of a path`);
        if (key !== null) await memory.delete(key);
        return result;
      }
    } catch (error) {
      request.signal?.throwIfAborted();
      const delay = RETRY_DELAYS_MS[failures];
      if (!isTemporary(error) || delay === undefined) {
        // A file that was refused is not continued.
        if (key !== null && error instanceof LynxroomError && !isTemporary(error)) await memory.delete(key);
        throw error;
      }
      failures += 1;
      offset = null;
      await sleep(delay, request.signal);
    }
  }
}

/** The service does not have what this client thinks it has. */
class Unsure extends Error {}

function isTemporary(error: unknown): boolean {
  if (error instanceof LynxroomError) return TEMPORARY.has(error.status);
  return error instanceof ConnectionError || error instanceof Unsure;
}

/** The upload has expired, was cancelled, or belongs to somebody else. */
function isGone({ status }: Answer): boolean {
  return status === 403 || status === 404 || status === 410;
}

async function create(request: ResumableRequest): Promise<string | null> {
  const { endpoint, file, metadata } = request;
  const answer = await send(request, endpoint, {
    method: 'POST',
    headers: { 'upload-length': String(file.size), 'upload-metadata': toMetadata(metadata) },
  });
  // Services before 0.3 have no such operation.
  if ((answer.status === 404 || answer.status === 405) && !answer.headers.has('tus-resumable')) return null;
  requireSuccess(answer);
  const location = answer.headers.get('location');
  if (location === null) throw new ConnectionError('without naming the upload');
  // The service may know itself by another address than this client does, and the credential goes to this one alone.
  const { pathname, search } = new URL(location, endpoint);
  return Object.assign(new URL(endpoint), { pathname, search }).href;
}

/** Whether a URL has the origin of the service, so that it may get the credential. */
function isOfService(url: string, endpoint: string): boolean {
  try {
    return new URL(url).origin === new URL(endpoint).origin;
  } catch {
    return false;
  }
}

function sendPart(request: ResumableRequest, url: string, offset: number): Promise<Answer> {
  return send(request, url, {
    method: 'PATCH',
    headers: { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
    body: request.file.slice(offset, offset + PART_BYTES),
  });
}

function send(
  { call, credentials, fetch, signal }: ResumableRequest,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: Blob },
): Promise<Answer> {
  return call(
    async (headers) => {
      const response = await fetch(url, {
        ...init,
        headers: { 'tus-resumable': '1.0.0', ...headers, ...init.headers },
        credentials,
        ...(signal && { signal }),
      }).catch((cause: unknown) => {
        throw new ConnectionError('while the file was being sent', { cause });
      });
      const { status } = response;
      const body: unknown = await response.json().catch(() => null);
      if (status === 401) throw LynxroomError.ofResponse(status, body);
      return { status, headers: response.headers, body };
    },
    { signal },
  );
}

function requireSuccess({ status, body }: Answer): void {
  if (status < 200 || status > 299) throw LynxroomError.ofResponse(status, body);
}

function toMetadata(metadata: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(metadata).flatMap(([name, value]) => (value ? [`${name} ${toBase64(value)}`] : []));
  return pairs.join(',');
}

function toBase64(text: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
}
