import type { Readable } from 'node:stream';

/** The limit of S3 for a copy in one request: 5 GiB. */
export const MAX_COPIED_BYTES = 5_368_709_120;

/** A stored object in a listing. `modifiedAt` is not before the time at which it got its key. */
export type StoredObject = { key: string; size: number; modifiedAt: Date };

/**
 * How a download is served. The URL's signature covers everything that affects the response, so callers cannot change
 * it.
 */
export type DownloadOptions = {
  /** The name under which a browser saves the file (RFC 6266); it may have non-ASCII characters. */
  filename: string;
  /** The `Content-Type` of the response, independent of the stored one. */
  contentType: string;
  /** Whether a browser displays the file instead of saving it. */
  isInline?: boolean;
  /** The number of seconds until the URL expires and returns 403. */
  expiresInSeconds: number;
  /** `https://host[:port]` of this server, for a store whose files this server serves. */
  origin: string;
};

/**
 * An object that several requests, and several processes, write one after another. It is JSON. Only the store that
 * created it can read more of it than `size`, the number of bytes that are stored durably.
 */
export type PartialObject = { readonly size: number };

/**
 * Writes objects in several steps. Whoever appends stores the latest state, and passes it to the next step: bytes that
 * a state does not count are ignored and overwritten. At most one caller at a time may use a state.
 */
export type PartialObjects = {
  /**
   * Appends `source` to an object, or begins one if `state` is null. Calls `onStored` with each new state: at least
   * once for every 16 MiB, and at the end. If `source` fails, the bytes that arrived before are still stored, and the
   * error of the source is thrown unchanged. An error of `onStored` ends the call and is thrown unchanged too.
   */
  append(
    key: string,
    state: PartialObject | null,
    source: AsyncIterable<Buffer>,
    options: { contentType: string; onStored(state: PartialObject): Promise<void> },
  ): Promise<void>;

  /** Makes the object readable. When it resolves, the object is durable. Safe to repeat with the same state. */
  complete(key: string, state: PartialObject): Promise<void>;

  /** Removes what is stored of an unfinished object. Safe to repeat. */
  discard(key: string, state: PartialObject): Promise<void>;

  /**
   * Calls `onStored` with a state of the same bytes, and returns it. What a caller with the previous state still writes
   * does not affect it, provided that the `onStored` of that caller rejects. Call this if such a caller may still be
   * running, also in `complete`.
   */
  takeOver(
    key: string,
    state: PartialObject,
    onStored: (state: PartialObject) => Promise<void>,
  ): Promise<PartialObject>;
};

/** Returns those of the names whose uploads may still be continued. */
export type FindInProgress = (names: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * The storage of files, with two implementations: S3 and the local disk. Both pass the same tests (`test/storage/`).
 *
 * Keys match `[a-z0-9/_.-]+`, with no empty, `.` or `..` segment and no leading slash. Every method rejects with
 * `StorageUnavailableError` if the store fails. `put` rejects with errors of the source stream unchanged.
 */
export type ObjectStore = {
  /**
   * Streams `source` into a new object, with backpressure. When it resolves, the object is durable and readable. When
   * it rejects, nothing is readable under the key, `source` is destroyed, and staged data is removed, immediately or
   * later by `removeStaleUploads`. An abort rejects with the signal's reason. It has no effect once the step that makes
   * the object readable has begun. Only a store that stops responding during that step can leave an object behind.
   */
  put(key: string, source: Readable, options: { contentType: string; signal?: AbortSignal }): Promise<void>;

  /**
   * Copies an object of at most MAX_COPIED_BYTES, with its content type, inside the store: the data does not pass
   * through this process. When it resolves, the copy is durable and readable. When it rejects, for example because
   * there is no object under `from`, nothing is readable under `to`, unless the store stopped responding midway.
   */
  copy(from: string, to: string): Promise<void>;

  /** Removes an object. Also succeeds if the object does not exist. */
  remove(key: string, options?: { signal?: AbortSignal }): Promise<void>;

  /**
   * Returns an absolute URL that serves the object according to `options`, with support for ranges. After it has
   * expired, the response is 403. URLs of the disk store also accept HEAD. For those of S3, the response to HEAD is
   * 403, because S3 signs the method.
   */
  signDownload(key: string, options: DownloadOptions): Promise<string>;

  /**
   * Yields all objects whose key begins with `prefix`, in the byte order of their keys, with one page in memory at a
   * time. Skips files that the service did not create. A missing store is an error, never an empty listing.
   */
  list(prefix: string): AsyncIterable<StoredObject>;

  /** Objects that are written in several steps. */
  partial: PartialObjects;

  /**
   * Reads the bytes from `start` up to, but not including, `end` (default: the end of the object). Throws
   * ObjectMissingError if there is no such object.
   */
  read(key: string, range?: { start: number; end?: number }): Promise<Readable>;

  /**
   * Removes the data of uploads that began before `before` and never finished. `findInProgress` gets the last segments
   * of the keys of some of them, and returns those whose data must stay (default: none).
   */
  removeStaleUploads(before: Date, findInProgress?: FindInProgress): Promise<void>;

  /**
   * The name of the database that the files belong to. This name is kept in the store itself. Undefined for the disk,
   * where the file `store-id` serves this purpose.
   */
  owner?: {
    /** Resolves with null if the store has no name. */
    read(): Promise<string | null>;
    write(name: string): Promise<void>;
  };

  /** Resolves if the store can read and write files now. Rejects with StorageFullError if it can only read them. */
  checkReady(): Promise<void>;
};

/** The store did not respond, or failed. The cause has the details. They are never sent to callers. */
export class StorageUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StorageUnavailableError';
  }
}

/** The object, or a partial object, does not exist, although the store works. */
export class ObjectMissingError extends Error {
  constructor(cause: unknown) {
    super('The object does not exist', { cause });
    this.name = 'ObjectMissingError';
  }
}

/** The store rejects uploads because it has little space left. Files can still be read and removed. */
export class StorageFullError extends StorageUnavailableError {
  constructor(message: string) {
    super(message, undefined);
    this.name = 'StorageFullError';
  }
}
