/**
 * Sends the bytes of a spool to the service while they are added, in the protocol tus 1.0 with a length that is named
 * at the end.
 */
import type { Spool } from './spool.ts';

export type SendOptions = {
  spool: Spool;
  /** The origin of the service. */
  origin: string;
  fetch: typeof globalThis.fetch;
  /** After so many answers with 409 in a row, it gives up. Without, it never does: the cause may end at any time. */
  maxConflicts?: number;
  sleep?(ms: number): Promise<void>;
  /** The service has so many bytes now. */
  onProgress(sent: number): void;
  /** Sending fails, and is tried again; null when it works again. */
  onTrouble(error: Error | null): void;
};

const MAX_PART_BYTES = 4 * 1024 * 1024;
/** What has arrived of a request that takes longer is stored, so it makes progress too. */
const REQUEST_MS = 60_000;
const RETRY_DELAYS_MS = [500, 1_000, 2_000];
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;
/** The same request may be answered differently later: slow, in use, a quota that is reached, overloaded. */
const TEMPORARY = new Set([408, 409, 423, 429, 500, 502, 503, 504]);

/** The service refuses a request. */
export class Refused extends Error {
  readonly status: number;
  /** When the service wants to be asked again; 0 if it does not say. */
  readonly waitMs: number;

  constructor(message: string, { status, waitMs }: { status: number; waitMs: number }) {
    super(message);
    this.name = 'Refused';
    this.status = status;
    this.waitMs = Math.min(waitMs, MAX_RETRY_MS);
  }
}

/** There is no connection to the service. */
export class Disconnected extends Error {
  constructor(options?: { cause: unknown }) {
    super('The service cannot be reached', options);
    this.name = 'Disconnected';
  }
}

/** The service has not got the bytes that were discarded here. */
export class BytesLost extends Error {
  constructor() {
    super('The service has lost a part of the recording');
    this.name = 'BytesLost';
  }
}

/**
 * Sends everything, and then clears the spool. Without a connection it tries again until there is one. Rejects with
 * `Refused` if the service refuses the recording, with `BytesLost`, and with the error of a device that has lost the
 * bytes. The spool is as it was then.
 */
export async function sendSpool({ onProgress, onTrouble, sleep = wait, ...options }: SendOptions): Promise<void> {
  const { spool, maxConflicts = Number.POSITIVE_INFINITY } = options;
  let failures = 0;
  let conflicts = 0;
  // Null until the service has said how much it has.
  let offset: number | null = null;
  for (;;) {
    try {
      let url = spool.uploadUrl;
      if (url === null) {
        if (spool.end === 0 && spool.isFinished) break;
        if (spool.end === 0) {
          await spool.waitForMore();
          continue;
        }
        url = await create(options);
        await spool.setUploadUrl(url);
        offset = 0;
      }
      offset ??= toOffset(await send(options, url, { method: 'HEAD' }));
      // After a crash, what the service had received may not be here any more.
      if (offset > spool.end && spool.isFinished) spool.skipTo(offset);
      if (offset < spool.start || offset > spool.end) throw new BytesLost();
      if (offset === spool.end && !spool.isFinished) {
        await spool.waitForMore();
        continue;
      }
      const answer: Response = await sendPart(options, url, offset);
      offset = toOffset(answer);
      failures = 0;
      conflicts = 0;
      onTrouble(null);
      onProgress(offset);
      if (answer.headers.has('upload-result')) break;
      await spool.discard(offset);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const isConflict = error instanceof Refused && error.status === 409;
      conflicts = isConflict ? conflicts + 1 : 0;
      if (conflicts >= maxConflicts) throw error;
      // The first conflict may only mean that the service has stored more than it could say.
      if (!isConflict || conflicts > 1) onTrouble(error);
      const delay = isConflict ? toConflictDelay(conflicts) : (RETRY_DELAYS_MS[failures] ?? RETRY_MS);
      failures += 1;
      offset = null;
      await sleep(error instanceof Refused ? Math.max(delay, error.waitMs) : delay);
    }
  }
  await spool.clear();
}

function isTemporary(error: unknown): error is Refused | Disconnected {
  return error instanceof Disconnected || (error instanceof Refused && TEMPORARY.has(error.status));
}

async function create(options: Omit<SendOptions, 'onProgress' | 'onTrouble'>): Promise<string> {
  const { recordingId, extension } = options.spool.info;
  const url = `${options.origin}/api/recordings/${recordingId}/uploads`;
  const answer = await send(options, url, {
    method: 'POST',
    headers: { 'upload-defer-length': '1', 'upload-metadata': `filename ${btoa(`recording.${extension}`)}` },
  });
  const location = answer.headers.get('location');
  if (location === null) throw new Disconnected();
  // The same service, also if a proxy gives it another name.
  return new URL(new URL(location, url).pathname, options.origin).href;
}

async function sendPart(options: Omit<SendOptions, 'onProgress' | 'onTrouble'>, url: string, offset: number) {
  const { spool } = options;
  const body = await spool.read(offset, MAX_PART_BYTES);
  const isLast = spool.isFinished && offset + body.size === spool.end;
  return send(options, url, {
    method: 'PATCH',
    headers: {
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      ...(isLast && { 'upload-length': String(spool.end) }),
    },
    body,
  });
}

/** Rejects with `Refused` and `Disconnected`. */
async function send(
  { spool, fetch }: Pick<SendOptions, 'spool' | 'fetch'>,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: Blob },
): Promise<Response> {
  const authorization = `Bearer ${spool.info.uploadToken}`;
  const response = await fetch(url, {
    ...init,
    headers: { 'tus-resumable': '1.0.0', authorization, ...init.headers },
    // The token of the recording is the credential, and not the session of the browser.
    credentials: 'omit',
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((cause: unknown) => {
    throw new Disconnected({ cause });
  });
  if (response.ok) return response;
  const waitMs = Number(response.headers.get('retry-after') ?? 0) * 1_000 || 0;
  throw new Refused(await readMessage(response), { status: response.status, waitMs });
}

async function readMessage(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : null;
  return typeof message === 'string' ? message : `The request failed with status ${response.status}`;
}

function toOffset({ headers }: Response): number {
  const text = headers.get('upload-offset');
  if (text === null) throw new Disconnected();
  return Number(text);
}

/** A quota is seldom raised within seconds. */
function toConflictDelay(conflicts: number): number {
  return Math.min(250 * 2 ** conflicts, MAX_RETRY_MS);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
