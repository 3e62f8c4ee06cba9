import { Readable } from 'node:stream';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type ObjectStore, StorageFullError, StorageUnavailableError } from '../storage/object-store.ts';

/** In seconds. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120];

const operations = [
  'put',
  'append',
  'complete',
  'discard',
  'takeOver',
  'copy',
  'read',
  'remove',
  'signDownload',
  'list',
  'removeStaleUploads',
  'checkReady',
] as const;

type Operation = (typeof operations)[number];

/** Measures the operations of an object store, counts their failures, and counts the uploads and their bytes. */
export function observeStore(store: ObjectStore, registry: Registry): ObjectStore {
  const registers = [registry];
  const duration = new Histogram({
    name: 'lynxroom_object_store_duration_seconds',
    help: 'Operations of the object store that succeeded, excluding listings',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  });
  const errors = new Counter({
    name: 'lynxroom_object_store_errors_total',
    help: 'Operations that failed because the object store failed, or had no space left',
    labelNames: ['operation'],
    registers,
  });
  const uploads = new Gauge({
    name: 'lynxroom_uploads_in_progress',
    help: 'Files that are being written to the object store, including copies of recordings',
    registers,
  });
  const bytes = new Counter({
    name: 'lynxroom_upload_bytes_total',
    help: 'Bytes of files that were passed to the object store',
    registers,
  });
  for (const operation of operations) {
    errors.inc({ operation }, 0);
    if (operation !== 'list') duration.zero({ operation });
  }

  const countError = (operation: Operation, error: unknown): void => {
    // While the store is full, each readiness check throws this error, although no file operation has failed.
    const isReport = operation === 'checkReady' && error instanceof StorageFullError;
    if (error instanceof StorageUnavailableError && !isReport) errors.inc({ operation });
  };
  const measure = async <Result>(operation: Operation, run: () => Promise<Result>): Promise<Result> => {
    const end = duration.startTimer({ operation });
    try {
      const result = await run();
      end();
      return result;
    } catch (error) {
      countError(operation, error);
      throw error;
    }
  };
  async function* countBytes(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes.inc(chunk.length);
      yield chunk;
    }
  }

  return {
    async put(key, source, options) {
      uploads.inc();
      try {
        const counted = Readable.from(countBytes(source), { objectMode: false });
        await measure('put', () => store.put(key, counted, options));
      } catch (error) {
        // The store destroys only `counted`.
        source.destroy();
        throw error;
      } finally {
        uploads.dec();
      }
    },
    partial: {
      async append(key, state, source, options) {
        uploads.inc();
        try {
          await measure('append', () => store.partial.append(key, state, countBytes(source), options));
        } finally {
          uploads.dec();
        }
      },
      complete: (key, state) => measure('complete', () => store.partial.complete(key, state)),
      discard: (key, state) => measure('discard', () => store.partial.discard(key, state)),
      takeOver: (key, state, onStored) => measure('takeOver', () => store.partial.takeOver(key, state, onStored)),
    },
    copy: (from, to) => measure('copy', () => store.copy(from, to)),
    read: (key, range) => measure('read', () => store.read(key, range)),
    remove: (key, options) => measure('remove', () => store.remove(key, options)),
    signDownload: (key, options) => measure('signDownload', () => store.signDownload(key, options)),
    async *list(prefix) {
      try {
        yield* store.list(prefix);
      } catch (error) {
        countError('list', error);
        throw error;
      }
    },
    removeStaleUploads: (before, findInProgress) =>
      measure('removeStaleUploads', () => store.removeStaleUploads(before, findInProgress)),
    ...(store.owner && { owner: store.owner }),
    checkReady: () => measure('checkReady', () => store.checkReady()),
  };
}
