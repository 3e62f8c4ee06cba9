/** Receives a file: checks it and stores it while it streams in, then commits. A failure leaves no object behind. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError, badField, storageUnavailable } from '../core/errors.ts';
import { type Database, transact } from '../db/client.ts';
import type { Services } from '../services.ts';
import { createObjectKey } from '../storage/create-object-key.ts';
import { type ObjectStore, StorageUnavailableError } from '../storage/object-store.ts';
import { hasForeignExtension } from './file-extension.ts';
import {
  beginsWithMp4Box,
  contradicts,
  HEAD_BYTES,
  type MediaType,
  readDeclaredType,
  typeOfExtension,
} from './file-type.ts';
import { formatBytes } from './format-bytes.ts';
import { createMp4DurationReader } from './mp4-duration.ts';

/** How long a failed request waits for the store to remove the object. After that, the sweep removes it. */
const REMOVE_TIMEOUT_MS = 5_000;

/** A file as it arrives, with the name and the media type that the client declares. */
export type IncomingFile = { stream: Readable; filename: string; declaredType: string | undefined };

/** The parts of an upload, as they arrive. */
export type IncomingUpload = {
  /** Resolves when the file part begins; rejects if the body has none. */
  file: Promise<IncomingFile>;
  /** Resolves at the end of the body, since fields may precede and follow the file. */
  fields: Promise<Record<string, string>>;
  /** Aborted if the rest of the body will not arrive. Its reason says why. */
  signal: AbortSignal;
};

/** Which files are accepted, and where they are stored. */
export type FileRules = {
  folder: 'library' | 'recordings';
  types: readonly MediaType[];
  /** Whether an MP4 must begin with an MP4 box. By default, bytes of no known type are accepted. */
  requiresMp4Box?: boolean;
  /** The message for a file of another type. */
  unsupported: string;
  /** A file of exactly this size is accepted. */
  maxBytes: number;
  /** A smaller limit that depends on other files, with the error for a larger file. */
  allowance?: { bytes: number; exceeded: AppError };
};

type FileProperties = { size: number; sha256: Uint8Array<ArrayBuffer>; duration: number | null };

/** A stored file to which no row refers yet. `size` is in bytes. `duration` is in whole seconds, or null if unknown. */
export type StoredFile = FileProperties & { fileKey: string; type: MediaType };

export function fileTooLarge(maxBytes: number): AppError {
  return badField('file', `File is larger than ${formatBytes(maxBytes)}`);
}

/** The error of a resumable upload, whose protocol has its own status for this. */
export function fileTooLong(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `File is larger than ${formatBytes(maxBytes)}`);
}

/**
 * Calls `commit`, which locks the workspace and writes the row that refers to a stored object. If it throws, removes
 * the object and throws the same error.
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
 * Removes the object of a failed commit. After an unexpected error, such as a lost connection, the commit may have
 * succeeded, and then the object stays.
 */
async function discardFile(services: Services, workspaceId: number, fileKey: string, reason: unknown): Promise<void> {
  if (reason instanceof AppError) await removeObject(services, fileKey);
  else await discardUncommitted(services, { workspaceId, fileKey });
}

/** Removes an object, unless a row refers to it. If the removal fails, the sweep removes the object later. */
export async function discardUncommitted(
  services: Services,
  { workspaceId, fileKey }: { workspaceId: number; fileKey: string },
): Promise<void> {
  const isKept = await isCommitted(services.db, workspaceId, fileKey).catch((error: unknown) => {
    services.log.warn({ err: error, key: fileKey }, 'Failed to look up the file of a failed upload');
    return true;
  });
  if (!isKept) await removeObject(services, fileKey);
}

async function removeObject({ store, log }: Services, fileKey: string): Promise<void> {
  try {
    await store.remove(fileKey, { signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) });
  } catch (error) {
    log.warn({ err: error, key: fileKey }, 'Failed to remove the file of a failed upload; the sweep will remove it');
  }
}

/** Whether a row refers to the object. Waits for a commit that is still running, which holds the workspace's lock. */
function isCommitted(db: Database, workspaceId: number, fileKey: string): Promise<boolean> {
  return transact(db, async (tx) => {
    await tx.$queryRaw`select from workspaces where id = ${workspaceId} for update`;
    const rows = await tx.$queryRaw<unknown[]>`select 1 from stored_objects where key collate "C" = ${fileKey}`;
    return rows.length > 0;
  });
}

/**
 * Stores a file and then calls `commit` as `commitFile` does. Only a few chunks of the file are in memory at a time.
 * Aborting `signal` cancels the call, unless the file is already stored. The stream of a rejected file is destroyed.
 *
 * Throws 400 "File is required", "File is empty", "File is larger than ..." or the message of the rules; 500 "Upload
 * failed: storage service unavailable"; and the errors of `commit`.
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
  const { type, head } = await readMediaType(file, chunks, rules).catch((error: unknown) => {
    // The rest of the file is not read.
    file.stream.destroy();
    throw error;
  });

  const inspector = createInspector(type, rules);
  const fileKey = createObjectKey(workspaceId, rules.folder);
  await storeFile(services.store, fileKey, inspector.inspect(head, chunks), { contentType: type, signal });
  return commitFile(services, { workspaceId, fileKey }, () => commit({ ...inspector.properties(), fileKey, type }));
}

/** Reads the first bytes and determines the media type. Throws 400 if the rules do not accept it. */
async function readMediaType(
  file: IncomingFile,
  chunks: AsyncIterator<Buffer>,
  rules: FileRules,
): Promise<{ type: MediaType; head: Buffer }> {
  const head = await readHead(chunks);
  if (head.length === 0) throw badField('file', file.filename === '' ? 'File is required' : 'File is empty');
  const type = requireDeclaredType(file, rules);
  await requireContent(type, head, rules);
  return { type, head };
}

/** Returns the declared media type. Throws 400 if the rules do not accept it, or the name is that of another type. */
export function requireDeclaredType(
  { filename, declaredType }: Omit<IncomingFile, 'stream'>,
  { types, unsupported }: FileRules,
): MediaType {
  const type = hasForeignExtension(filename) ? null : readDeclaredType(declaredType, filename);
  if (type === null || !types.includes(type)) throw badField('file', unsupported);
  const named = typeOfExtension(filename);
  if (named !== null && named !== type)
    throw badField('file', `The file is declared as ${type}, but its name has the extension of ${named}`);
  return type;
}

/** Throws 400 if the first `HEAD_BYTES` of a file, or all bytes of a shorter one, contradict its declared type. */
export async function requireContent(
  type: MediaType,
  head: Buffer,
  { unsupported, requiresMp4Box = false }: FileRules,
): Promise<void> {
  if (await contradicts(type, head)) throw badField('file', unsupported);
  if (requiresMp4Box && type === 'video/mp4' && !beginsWithMp4Box(head)) throw badField('file', unsupported);
}

/** Reads at least `HEAD_BYTES`, or the whole of a shorter file. */
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

/** Creates an inspector, which counts and hashes the bytes that pass through it and reads the duration of a video. */
function createInspector(type: MediaType, { maxBytes, allowance }: FileRules) {
  const hash = createHash('sha256');
  const mp4 = type === 'video/mp4' ? createMp4DurationReader() : null;
  let size = 0;
  const inspectChunk = (chunk: Buffer): Buffer => {
    size += chunk.length;
    if (size > maxBytes) throw fileTooLarge(maxBytes);
    if (allowance && size > allowance.bytes) throw allowance.exceeded;
    hash.update(chunk);
    mp4?.push(chunk);
    return chunk;
  };
  return {
    async *inspect(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      yield inspectChunk(head);
      for await (const chunk of rest) yield inspectChunk(chunk);
    },
    properties: (): FileProperties => ({
      size,
      sha256: new Uint8Array(hash.digest()),
      duration: mp4?.duration() ?? null,
    }),
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
