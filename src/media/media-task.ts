/** The messages between the service and a thread that reads media files. */

/** A task of a thread. `head` is the beginning of the file, as far as it is known already. */
export type MediaTask = { kind: 'duration'; size: number; head: Uint8Array } | { kind: 'remux'; size: number };

/** What a thread asks for: bytes of the file, or that bytes of the new file are stored after those before. */
export type MediaRequest = { id: number } & (
  | { read: { start: number; end: number } }
  | { write: Uint8Array<ArrayBuffer> }
);

/** The answer to a request. */
export type MediaReply = { id: number; bytes: Uint8Array<ArrayBuffer> };

/**
 * What a thread found out. `duration` is in whole seconds; null if unknown. `isSeekable` is false for a file whose
 * player must read it from the beginning: a WebM, or an MP4 in fragments. `isRemuxed` says that a new file was written.
 */
export type MediaResult = { duration: number | null; isSeekable: boolean; isRemuxed: boolean };

/** The last message of a task. */
export type MediaEnd = { result: MediaResult };

/** How a task reaches the bytes. */
export type MediaBytes = {
  /**
   * Returns the bytes from `start` up to, but not including, `end`, which is at most the size of the file. The array
   * moves to the thread, so nobody else may use its buffer.
   */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Resolves when the next bytes may follow. */
  write(bytes: Uint8Array): Promise<void>;
};
