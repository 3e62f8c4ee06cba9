/**
 * Sends the bytes of a spool to the service while they are added, in the protocol tus 1.0 with a length that is named
 * at the end.
 */
import { ConnectionError, LynxroomError } from '@lynxroom/client';
import type { Spool } from './spool.ts';

export type SendOptions = {
  spool: Spool;
  /** The origin of the service. */
  origin: string;
  fetch: typeof globalThis.fetch;
  /** The service has so many bytes now. */
  onProgress(sent: number): void;
  /** Sending fails, and is tried again; null when it works again. */
  onTrouble(error: Error | null): void;
};

const MAX_PART_BYTES = 4 * 1024 * 1024;
/** What has arrived of a request that takes longer is stored, so it makes progress too. */
const REQUEST_MS = 60_000;
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 5_000];
const MAX_RETRY_MS = 60_000;
/** The same request may be answered differently later: slow, in use, a quota that is reached, overloaded. */
const TEMPORARY = new Set([408, 409, 423, 429, 500, 502, 503, 504]);
/** After so many of these answers in a row, it gives up until the page is loaded again. */
const MAX_CONFLICTS = 8;

/** The service has not got the bytes that were discarded here. */
export class BytesLost extends Error {
  constructor() {
    super('The service has lost a part of the recording');
    this.name = 'BytesLost';
  }
}

/**
 * Sends everything, and then clears the spool. Without a connection it tries again until there is one. Rejects with
 * LynxroomError if the service refuses the recording, with `BytesLost`, and with the error of a device that has lost the
 * bytes. The spool is as it was then.
 */
export async function sendSpool({ onProgress, onTrouble, ...options }: SendOptions): Promise<void> {
  const { spool } = options;
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
      const isConflict = error instanceof LynxroomError && error.status === 409;
      conflicts = isConflict ? conflicts + 1 : 0;
      if (conflicts >= MAX_CONFLICTS) throw error;
      // The first conflict may only mean that the service has stored more than it could say.
      if (!isConflict || conflicts > 1) onTrouble(error);
      const delay = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)] ?? 0;
      failures += 1;
      offset = null;
      await sleep(error instanceof Busy ? Math.max(delay, error.waitMs) : delay);
    }
  }
  await spool.clear();
}

/** A refusal that says when to try again. */
class Busy extends Error {
  readonly waitMs: number;

  constructor(error: LynxroomError, waitMs: number) {
    super(error.message, { cause: error });
    this.name = 'Busy';
    this.waitMs = Math.min(waitMs, MAX_RETRY_MS);
  }
}

function isTemporary(error: unknown): error is Error {
  if (error instanceof LynxroomError) return TEMPORARY.has(error.status);
  return error instanceof ConnectionError || error instanceof Busy;
}

async function create(options: Omit<SendOptions, 'onProgress' | 'onTrouble'>): Promise<string> {
  const { recordingId, extension } = options.spool.info;
  const url = `${options.origin}/api/recordings/${recordingId}/uploads`;
  const answer = await send(options, url, {
    method: 'POST',
    headers: { 'upload-defer-length': '1', 'upload-metadata': `filename ${btoa(`recording.${extension}`)}` },
  });
  const location = answer.headers.get('location');
  if (location === null) throw new ConnectionError('without naming the upload');
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

/** Rejects with LynxroomError, Busy and ConnectionError. */
async function send(
  { spool, fetch }: Pick<SendOptions, 'spool' | 'fetch'>,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: Blob },
): Promise<Response> {
  const authorization = `Bearer ${spool.info.uploadToken}`;
  const response = await fetch(url, {
    ...init,
    headers: { 'tus-resumable': '1.0.0', authorization, ...init.headers },
    // The token of the recording is the credential, and not the session of whoever is signed in.
    credentials: 'omit',
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((cause: unknown) => {
    throw new ConnectionError('while the recording was being sent', { cause });
  });
  if (response.ok) return response;
  const error = LynxroomError.ofResponse(response.status, await response.json().catch(() => null));
  const seconds = Number(response.headers.get('retry-after'));
  throw TEMPORARY.has(response.status) && seconds > 0 ? new Busy(error, seconds * 1_000) : error;
}

function toOffset({ headers }: Response): number {
  const text = headers.get('upload-offset');
  if (text === null) throw new ConnectionError('without naming the offset');
  return Number(text);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
