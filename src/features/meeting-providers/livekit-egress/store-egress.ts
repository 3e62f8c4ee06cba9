/** Stores the file that a LiveKit server has written. What the server says of it is not believed. */
import { Readable } from 'node:stream';
import { AppError } from '../../../core/errors.ts';
import { MINUTE_MS } from '../../../core/time.ts';
import { requireWithinQuota } from '../../../quotas/quotas.ts';
import type { Services } from '../../../services.ts';
import { StorageUnavailableError } from '../../../storage/object-store.ts';
import { storeRecordingFile } from '../../recordings/store-recording-file.ts';
import { discard, type EgressContext, fail, isFinished, isFull, nameOf, runStep, wait } from './egress-context.ts';
import type { EgressLease } from './egress-queue.ts';

/** The pause after the file could not be stored here. */
const STORE_AGAIN_MS = 5 * MINUTE_MS;

/** Stores the file of a recording, and removes it from where the server has written it. */
export function storeEgress(services: Services, lease: EgressLease, signal: AbortSignal): Promise<void> {
  return runStep(services, lease, signal, { step: store, onFailure: (context) => wait(context, STORE_AGAIN_MS) });
}

async function store(context: EgressContext): Promise<void> {
  const { services, egress, lease, signal, recording } = context;
  if (recording === null || isFinished(recording)) return discard(context);
  const size = await readSize(context);
  if (size === null) return fail(context, 'The media server has stored no file');
  // Before the file is copied for nothing.
  requireWithinQuota(services.settings.quotas, 'bytes', recording.storedBytes + size);
  const key = { workspaceId: lease.workspaceId, roomId: recording.roomId, archiveId: lease.archiveId };
  const stream = Readable.from(readFile(await egress.files.read(nameOf(lease))), { objectMode: false });
  try {
    await storeRecordingFile(services, key, { file: { stream }, signal });
  } catch (error) {
    // It was deleted or uploaded meanwhile, or is no video.
    if (isFull(error) || !(error instanceof AppError)) throw error;
    if (!['NOT_FOUND', 'CONFLICT', 'BAD_REQUEST'].includes(error.code)) throw error;
    return fail(context, error.message);
  } finally {
    stream.destroy();
  }
  await discard(context);
}

/** The number of bytes that the server has stored; null if there is no file. */
async function readSize({ egress, lease }: EgressContext): Promise<number | null> {
  for await (const { key, size } of egress.files.list(nameOf(lease))) if (key === nameOf(lease)) return size;
  return null;
}

/** A connection that breaks is a failure of the store. */
async function* readFile(source: Readable): AsyncIterable<Buffer> {
  try {
    yield* source;
  } catch (error) {
    throw new StorageUnavailableError('The object store could not read an object', error);
  }
}
