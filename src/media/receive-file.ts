/** Receives a file: checks it and stores it while it streams in, then commits. A failure leaves no object behind. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError, badField, storageUnavailable } from '../core/errors.ts';
import { type Database, transact } from '../db/client.ts';
import { sqlIn } from '../db/sql.ts';
import { int, statement, text } from '../db/statements.ts';
import type { Services } from '../services.ts';
import { createObjectKey } from '../storage/create-object-key.ts';
import { type ObjectStore, StorageUnavailableError } from '../storage/object-store.ts';
import { hasForeignExtension } from './file-extension.ts';
import {
  beginsWithEbml,
  beginsWithMp4Box,
  contradicts,
  describeKind,
  HEAD_BYTES,
  type MediaType,
  readDeclaredType,
  typeOfExtension,
} from './file-type.ts';
import { formatBytes } from './format-bytes.ts';
import { ANSWER_MS, type Duration, readDuration } from './read-duration.ts';

/** How long a failed request waits for the store to remove the object. After that, the sweep removes it. */
const REMOVE_TIMEOUT_MS = 5_000;
/** How much of the beginning of a file is kept. Most videos tell their duration there. */
const KEPT_BYTES = 256 * 1024;

/** A file as it arrives, with the name and the media type that the client declares. */
export type IncomingFile = { stream: Readable; filename: string; declaredType: string | undefined };

/** A video as it arrives from a server, whose headers and addresses often name the wrong type: its bytes decide. */
export type UndeclaredVideo = { stream: Readable };

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
export type FileRules<Type extends MediaType = MediaType> = {
  folder: 'library' | 'recordings';
  types: readonly Type[];
  /** Whether an MP4 must begin with an MP4 box. By default, bytes of no known type are accepted. */
  requiresMp4Box?: boolean;
  /** The message for a file of another type. */
  unsupported: string;
  /** A file of exactly this size is accepted. */
  maxBytes: number;
  /** A smaller limit that depends on other files, with the error for a larger file. */
  allowance?: { bytes: number; exceeded: AppError };
};

type FileProperties = { size: number; sha256: Uint8Array<ArrayBuffer>; head: Buffer };

/** A stored file to which no row refers yet. `size` is in bytes. `duration` is in whole seconds, or null if unknown. */
export type StoredFile<Type extends MediaType = MediaType> = Omit<FileProperties, 'head'> &
  Duration & { fileKey: string; type: Type };

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
async function discardUncommitted(
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

const awaitCommit = statement('await-commit-of-file', {
  params: { workspaceId: int },
  sql: 'select from workspaces where id = $workspaceId for update',
});

const findStored = statement('find-stored-object', {
  params: { fileKey: text },
  returns: { key: text },
  sql: 'select key from stored_objects where key collate "C" = $fileKey',
});

/** Whether a row refers to the object. Waits for a commit that is still running, which holds the workspace's lock. */
function isCommitted(db: Database, workspaceId: number, fileKey: string): Promise<boolean> {
  return transact(db, async (tx) => {
    const sql = sqlIn(tx);
    await sql.run(awaitCommit, { workspaceId });
    return (await sql.run(findStored, { fileKey })).length > 0;
  });
}

/**
 * Stores a file and then calls `commit` as `commitFile` does. Only a few chunks of the file are in memory at a time.
 * Aborting `signal` cancels the call, unless the file is already stored. The stream of a rejected file is destroyed.
 *
 * Throws 400 "File is required", "File is empty", "File is larger than ..." or the message of the rules; 500 "Upload
 * failed: storage service unavailable"; and the errors of `commit`.
 */
export async function receiveFile<Result, Type extends MediaType>(
  services: Services,
  {
    workspaceId,
    file,
    rules,
    signal,
  }: { workspaceId: number; file: IncomingFile | UndeclaredVideo; rules: FileRules<Type>; signal: AbortSignal },
  commit: (stored: StoredFile<Type>) => Promise<Result>,
): Promise<Result> {
  const chunks: AsyncIterableIterator<Buffer> = file.stream[Symbol.asyncIterator]();
  const { type, head } = await readMediaType(file, chunks, rules).catch((error: unknown) => {
    // The rest of the file is not read.
    file.stream.destroy();
    throw error;
  });

  const inspector = createInspector(rules, type === 'application/pdf' ? 0 : KEPT_BYTES);
  const fileKey = createObjectKey(workspaceId, rules.folder);
  await storeFile(services.store, fileKey, inspector.inspect(head, chunks), { contentType: type, signal });
  return commitFile(services, { workspaceId, fileKey }, async () => {
    const { head, ...properties } = inspector.properties();
    const { size } = properties;
    const duration = await readDuration(services, { workspaceId, fileKey, size, type, head }, ANSWER_MS);
    return commit({ ...properties, ...duration, fileKey, type });
  });
}

/** Reads the first bytes and determines the media type. Throws 400 if the rules do not accept it. */
async function readMediaType<Type extends MediaType>(
  file: IncomingFile | UndeclaredVideo,
  chunks: AsyncIterator<Buffer>,
  rules: FileRules<Type>,
): Promise<{ type: Type; head: Buffer }> {
  const head = await readHead(chunks);
  const isDeclared = 'filename' in file;
  if (head.length === 0)
    throw badField('file', isDeclared && file.filename === '' ? 'File is required' : 'File is empty');
  const type = isDeclared ? findDeclaredType(file, rules) : findVideoType(head, rules);
  if (type === null) throw await unsupportedFile(rules, head);
  await requireContent(type, head, rules);
  return { type, head };
}

/** Returns the declared media type. Throws 400 if the rules do not accept it, or the name is that of another type. */
export function requireDeclaredType<Type extends MediaType>(
  file: Omit<IncomingFile, 'stream'>,
  rules: FileRules<Type>,
): Type {
  const type = findDeclaredType(file, rules);
  if (type === null) throw badField('file', rules.unsupported);
  return type;
}

/** Returns null if the rules do not accept the declared type. Throws 400 if the name is that of another type. */
function findDeclaredType<Type extends MediaType>(
  { filename, declaredType }: Omit<IncomingFile, 'stream'>,
  { types }: FileRules<Type>,
): Type | null {
  const named = typeOfExtension(filename);
  const isAccepted = (type: MediaType | null): boolean => types.some((accepted) => accepted === type);
  if (hasForeignExtension(filename) || (named !== null && !isAccepted(named))) return null;
  const declared = readDeclaredType(declaredType, filename);
  const type = types.find((accepted) => accepted === declared) ?? null;
  if (type !== null && named !== null && named !== type)
    throw badField('file', `The file is declared as ${type}, but its name has the extension of ${named}`);
  return type;
}

/** Returns the type that the first bytes can only be, or null if the rules do not accept it. */
function findVideoType<Type extends MediaType>(head: Buffer, { types }: FileRules<Type>): Type | null {
  const type = beginsWithEbml(head) ? 'video/webm' : 'video/mp4';
  return types.find((accepted) => accepted === type) ?? null;
}

/** Throws 400 if the first `HEAD_BYTES` of a file, or all bytes of a shorter one, contradict its declared type. */
export async function requireContent(type: MediaType, head: Buffer, rules: FileRules): Promise<void> {
  const { requiresMp4Box = false } = rules;
  const isRefused =
    (await contradicts(type, head)) || (requiresMp4Box && type === 'video/mp4' && !beginsWithMp4Box(head));
  if (isRefused) throw await unsupportedFile(rules, head);
}

/** The error for a file of another type. A second issue says what the file is, if it is recognized. */
async function unsupportedFile({ unsupported, types }: FileRules, head: Buffer): Promise<AppError> {
  const kind = await describeKind(head, types);
  const messages = kind === null ? [unsupported] : [unsupported, kind];
  return new AppError('BAD_REQUEST', unsupported, { issues: messages.map((message) => ({ path: 'file', message })) });
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

/** Creates an inspector, which counts and hashes the bytes that pass through it, and keeps the first of them. */
function createInspector({ maxBytes, allowance }: FileRules, keptBytes: number) {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  const inspectChunk = (chunk: Buffer): Buffer => {
    if (size < keptBytes) head.push(Buffer.from(chunk.subarray(0, keptBytes - size)));
    size += chunk.length;
    if (size > maxBytes) throw fileTooLarge(maxBytes);
    if (allowance && size > allowance.bytes) throw allowance.exceeded;
    hash.update(chunk);
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
      head: Buffer.concat(head),
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
