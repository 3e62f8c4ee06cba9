/** Copying one recording from its provider into our store, by whoever has claimed it. */
import { Readable } from 'node:stream';
import { AppError } from '../../../core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import { storeRecordingFile } from '../../recordings/store-recording-file.ts';
import {
  type CopyFailure,
  type CopyLease,
  dropCopy,
  openUrl,
  recordFailure,
  releaseLease,
  renewLease,
} from './copy-queue.ts';
import { type FileFetcher, FileUnavailable } from './fetch-file.ts';

/** Three times in the life of a lease: one renewal that fails costs nothing. */
const RENEW_MS = 20 * SECOND_MS;
/** The connection takes some of it, and a server that fetches the file from an archive when it is asked for. */
const GRACE_MS = 30 * SECOND_MS;
/** On average, from then on. No provider's storage is as slow, and a server that is keeps others waiting. */
const MIN_BYTES_PER_SECOND = 64 * 1024;
/** And so does one that goes on for longer, be it faster. */
const MAX_MS = 30 * MINUTE_MS;
/** 10 Mbit/s: what a link may be as slow as and still bring the largest file. */
const SLOWEST_LINK_BYTES_PER_SECOND = 1_250_000;

/** In milliseconds: when claims are renewed and the speed is looked at, from when it counts, and when all is over. */
export type CopyTimes = { renewMs: number; graceMs: number; maxMs: number };

export type CopyNeeds = { services: Services; fetcher: FileFetcher; times?: Partial<CopyTimes> };

/** The claim is somebody else's by now, or the copier stops: what becomes of the file is not for this attempt to say. */
class ClaimLost extends Error {}

/**
 * How long a file of at most `maxBytes` may take, in milliseconds: 30 minutes, in which 2 GiB come at 10 Mbit/s (29
 * minutes) as they do at 2 MiB/s (17); longer only where the installation takes in larger files.
 */
export function maxCopyMs(maxBytes: number): number {
  return Math.max(MAX_MS, (maxBytes / SLOWEST_LINK_BYTES_PER_SECOND) * SECOND_MS);
}

/**
 * Copies a claimed file into the store, and makes its recording available, which emits `recording.completed`; or settles
 * why not. The claim is renewed meanwhile, and given back when `stopping` is aborted. Never rejects.
 */
export async function copyRecording(needs: CopyNeeds, claim: CopyLease, stopping: AbortSignal): Promise<void> {
  const { services } = needs;
  try {
    await copy(needs, claim, stopping).catch(async (error: unknown) => {
      if (stopping.aborted) return releaseLease(services.db, claim);
      if (error instanceof ClaimLost) return;
      if (isSettledElsewhere(error)) return transact(services.db, (tx) => dropCopy(tx, claim));
      await recordFailure(services, claim, toFailure(services, error));
    });
  } catch (error) {
    // The claim ends by itself.
    if (!isSettledElsewhere(error)) services.log.error({ err: error }, 'What became of a copy could not be written');
  }
}

async function copy(needs: CopyNeeds, claim: CopyLease, stopping: AbortSignal): Promise<void> {
  const { services, fetcher } = needs;
  const { maxRecordingBytes: maxBytes } = services.settings;
  const held = holdClaim(needs, claim);
  const signal = AbortSignal.any([stopping, held.signal]);
  let stream: Readable | null = null;
  try {
    const chunks = await fetcher.fetch(openUrl(services.sealer, claim), { maxBytes, signal });
    stream = Readable.from(held.count(chunks), { objectMode: false });
    const file = { stream, filename: 'recording.mp4', declaredType: 'video/mp4' };
    await storeRecordingFile(services, claim, { file, signal });
  } catch (error) {
    // Whatever it broke off with, this is why.
    throw signal.aborted ? signal.reason : error;
  } finally {
    // What was refused by its first bytes may have many more to come.
    stream?.destroy();
    held.letGo();
  }
}

/**
 * Keeps the claim while the file comes, and ends the attempt when it is lost or the file comes too slowly. Letting go ends
 * it too, with whatever the server still sends.
 */
function holdClaim({ services, times = {} }: CopyNeeds, claim: CopyLease) {
  const { log, settings } = services;
  const { renewMs = RENEW_MS, graceMs = GRACE_MS, maxMs = maxCopyMs(settings.maxRecordingBytes) } = times;
  const ended = new AbortController();
  let bytes = 0;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const passedMs = performance.now() - startedAt;
    const minBytes = ((passedMs - graceMs) / SECOND_MS) * MIN_BYTES_PER_SECOND;
    if (passedMs > maxMs) ended.abort(new FileUnavailable('The file took too long'));
    if (bytes < minBytes) ended.abort(new FileUnavailable('The file came too slowly'));
    renewLease(services, claim).then(
      (isHeld) => isHeld || ended.abort(new ClaimLost('The claim is lost')),
      (error: unknown) => log.warn({ err: error }, 'A claim could not be renewed'),
    );
  }, renewMs);
  return {
    signal: ended.signal,
    async *count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    },
    letGo() {
      clearInterval(timer);
      ended.abort(new ClaimLost('The attempt has ended'));
    },
  };
}

/** What a recording that was deleted or finished meanwhile ends with: there is nothing left to do. */
function isSettledElsewhere(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'CONFLICT');
}

/** In words; what no server and no store can cause is logged, since it is ours. */
function toFailure({ log }: Pick<Services, 'log'>, error: unknown): CopyFailure {
  if (error instanceof FileUnavailable) return { why: error.message, isFinal: error.isFinal };
  if (error instanceof AppError) {
    if (error.code === 'BAD_REQUEST') return { why: error.message, isFinal: true };
    if (error.code === 'STORAGE_UNAVAILABLE') return { why: 'The storage service was unavailable', isFinal: false };
  }
  log.error({ err: error }, 'A recording could not be copied');
  return { why: 'Something went wrong here', isFinal: false };
}
