import type { Readable } from 'node:stream';

/** One stored object, as a listing shows it. */
export type StoredObject = { key: string; size: number; modifiedAt: Date };

/** How a download presents itself. All of it is covered by the URL's signature; a caller can change none of it. */
export type DownloadOptions = {
  /** Offered to the browser as the name to save under (RFC 6266, non-ASCII names included). */
  filename: string;
  /** The fixed `Content-Type` of the answer, whatever was stored. */
  contentType: string;
  /** Seconds until the URL answers 403. */
  expiresInSeconds: number;
  /** `https://host[:port]` under which a store that we serve ourselves is reached. */
  origin: string;
};

/**
 * Where files live. Two implementations, S3 and the local disk, pass one shared suite (`test/storage/`).
 *
 * Keys are ours, never a user's: `[a-z0-9/_.-]+`, no empty, `.` or `..` segment, no leading slash.
 * Every method rejects with `StorageUnavailableError` when the store cannot do its part; any error of the source stream
 * passes through `put` unchanged.
 */
export type ObjectStore = {
  /**
   * Streams `source` into a new object with back-pressure. When it resolves the object is durable and readable; when
   * it rejects nothing is readable under the key, `source` is destroyed, and what was staged is removed, at the latest
   * by `removeStaleUploads`. An abort rejects with the signal's reason; once the step that makes the object readable
   * has begun, it has no effect. Only a store that stops answering during that step can leave an object behind.
   */
  put(key: string, source: Readable, options: { contentType: string; signal?: AbortSignal }): Promise<void>;

  /**
   * Makes a new object with the bytes and the type of another one, of at most 5 GB, inside the store: they do not pass
   * through this process. When it resolves the object is durable and readable; when it rejects, as where there is no
   * object under `from`, nothing is readable under `to`, but for a store that stops answering half-way.
   */
  copy(from: string, to: string): Promise<void>;

  /** Removes an object. Removing what is not there succeeds. */
  remove(key: string, options?: { signal?: AbortSignal }): Promise<void>;

  /**
   * An absolute URL from which GET serves the object as an attachment, with ranges, until it expires; then 403. The
   * disk store's URLs also answer HEAD; S3 signs the method, so there a URL for GET answers 403 to it.
   */
  signDownload(key: string, options: DownloadOptions): Promise<string>;

  /**
   * All objects whose key begins with `prefix`, in the byte order of their keys, a page at a time in memory. What is
   * stored there under no key of ours is left out. A store that is not there is an error and never an empty listing.
   */
  list(prefix: string): AsyncIterable<StoredObject>;

  /** Removes what uploads that never finished have left behind, when it is older than `before`. */
  removeStaleUploads(before: Date): Promise<void>;

  /** Resolves when the store can take and give files now. */
  checkReady(): Promise<void>;
};

/** The store did not answer, refused, or failed half-way. The cause has the details; they never leave the server. */
export class StorageUnavailableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StorageUnavailableError';
  }
}
