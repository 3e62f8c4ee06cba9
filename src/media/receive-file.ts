/** Receiving a file: stream, verify, store, commit; whatever fails before that leaves nothing. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError, badField, storageUnavailable } from '../core/errors.ts';
import { type Database, transact } from '../db/client.ts';
import type { Services } from '../services.ts';
import { createObjectKey } from '../storage/create-object-key.ts';
import { type ObjectStore, StorageUnavailableError } from '../storage/object-store.ts';
import { contradicts, HEAD_BYTES, type MediaType, readDeclaredType } from './file-type.ts';
import { formatBytes } from './format-bytes.ts';
import { createMp4DurationReader } from './mp4-duration.ts';

/** A request that failed does not wait longer for the store; the sweep does the rest. */
const CLEAN_UP_MS = 5_000;

/** A file as it arrives, with what its sender says of it. */
export type IncomingFile = { stream: Readable; filename: string; declaredType: string | undefined };

/** The parts of an upload, as they arrive. */
export type IncomingUpload = {
  /** Resolves at the head of the file part; rejects where the body has none. */
  file: Promise<IncomingFile>;
  /** Resolves at the end of the body; fields may stand before and after the file. */
  fields: Promise<Record<string, string>>;
  /** Aborted, with the reason, when the rest of the body will not come. */
  signal: AbortSignal;
};

/** Which files are taken, and where they go. */
export type FileRules = {
  folder: 'library' | 'recordings';
  kinds: readonly MediaType[];
  /** What is said of a file of another kind. */
  unsupported: string;
  /** Exactly so many bytes pass. */
  maxBytes: number;
};

type FileProperties = { size: number; sha256: Uint8Array<ArrayBuffer>; duration: number | null };

/** A file in the store, which no row refers to yet. `size` in bytes, `duration` in whole seconds, null where unknown. */
export type StoredFile = FileProperties & { fileKey: string; type: MediaType };

export function fileTooLarge(maxBytes: number): AppError {
  return badField('file', `File is larger than ${formatBytes(maxBytes)}`);
}

/**
 * Has `commit` write the row that refers to an object that was just stored, behind the lock of the workspace's row.
 * Where it throws, the object is removed.
 */
export async function commitFile<Result>(
  services: Services,
  { workspaceId, fileKey }: { workspaceId: number; fileKey: string },
  commit: () => Promise<Result>,
): Promise<Result> {
  try {
    return await commit();
  } catch (error) {
    await discardFile(services, workspaceId, fileKey, error);
    throw error;
  }
}

/**
 * Removes a file whose commit failed for `reason`. A connection that breaks at the commit does not tell whether there is
 * a row now; where there is, the file stays. What cannot be done here the sweep does.
 */
async function discardFile(
  { db, store, log }: Services,
  workspaceId: number,
  fileKey: string,
  reason: unknown,
): Promise<void> {
  try {
    const isRefused = reason instanceof AppError;
    if (isRefused || !(await isCommitted(db, workspaceId, fileKey)))
      await store.remove(fileKey, { signal: AbortSignal.timeout(CLEAN_UP_MS) });
  } catch (error) {
    log.warn({ err: error, key: fileKey }, 'The file of a failed upload is left to the sweep');
  }
}

/** Whether the row is there. Waits for a commit of it that is still under way, which holds the lock that this asks for. */
function isCommitted(db: Database, workspaceId: number, fileKey: string): Promise<boolean> {
  return transact(db, async (tx) => {
    await tx.$queryRaw`select from workspaces where id = ${workspaceId} for update`;
    const rows = await tx.$queryRaw<unknown[]>`select 1 from stored_objects where key collate "C" = ${fileKey}`;
    return rows.length > 0;
  });
}

/**
 * Stores a file, and then has `commit` write the row that refers to it; see `commitFile`. At no time is more than a few
 * chunks of the file in memory. An abort of `signal` ends it until the file is stored. What is refused is destroyed.
 *
 * Throws 400 "File is required", "File is empty", "File is larger than ..." or what the rules say of another kind; 500
 * "Upload failed: storage service unavailable"; and whatever `commit` throws.
 */
export async function receiveFile<Result>(
  services: Services,
  {
    workspaceId,
    file,
    rules,
    signal,
  }: { workspaceId: number; file: IncomingFile; rules: FileRules; signal: AbortSignal },
  commit: (stored: StoredFile) => Promise<Result>,
): Promise<Result> {
  const chunks: AsyncIterableIterator<Buffer> = file.stream[Symbol.asyncIterator]();
  const { type, head } = await readKind(file, chunks, rules).catch((error: unknown) => {
    // Nobody reads the rest of it.
    file.stream.destroy();
    throw error;
  });

  const inspector = createInspector(type, rules.maxBytes);
  const fileKey = createObjectKey(workspaceId, rules.folder);
  await storeFile(services.store, fileKey, inspector.pass(head, chunks), { contentType: type, signal });
  return commitFile(services, { workspaceId, fileKey }, () => commit({ ...inspector.facts(), fileKey, type }));
}

/** Reads the start of a file, and what it is by that and by what is said of it. Throws 400 for what is not taken. */
async function readKind(
  { filename, declaredType }: IncomingFile,
  chunks: AsyncIterator<Buffer>,
  { kinds, unsupported }: FileRules,
): Promise<{ type: MediaType; head: Buffer }> {
  const type = readDeclaredType(declaredType, filename);
  const head = await readHead(chunks);
  if (head.length === 0) throw badField('file', filename === '' ? 'File is required' : 'File is empty');
  if (type === null || !kinds.includes(type) || (await contradicts(type, head))) throw badField('file', unsupported);
  return { type, head };
}

/** Reads chunks until there are `HEAD_BYTES`, or all. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const head: Buffer[] = [];
  let size = 0;
  while (size < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head.push(next.value);
    size += next.value.length;
  }
  return Buffer.concat(head);
}

/** Passes the file on while counting, hashing and looking for the length of a video. */
function createInspector(type: MediaType, maxBytes: number) {
  const hash = createHash('sha256');
  const mp4 = type === 'video/mp4' ? createMp4DurationReader() : null;
  let size = 0;
  const inspect = (chunk: Buffer): Buffer => {
    size += chunk.length;
    if (size > maxBytes) throw fileTooLarge(maxBytes);
    hash.update(chunk);
    mp4?.push(chunk);
    return chunk;
  };
  return {
    async *pass(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      yield inspect(head);
      for await (const chunk of rest) yield inspect(chunk);
    },
    facts: (): FileProperties => ({ size, sha256: new Uint8Array(hash.digest()), duration: mp4?.duration() ?? null }),
  };
}

async function storeFile(
  store: ObjectStore,
  fileKey: string,
  chunks: AsyncIterable<Buffer>,
  options: { contentType: string; signal: AbortSignal },
): Promise<void> {
  try {
    await store.put(fileKey, Readable.from(chunks, { objectMode: false }), options);
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    throw storageUnavailable('Upload failed: storage service unavailable', error);
  }
}
