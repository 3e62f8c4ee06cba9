/** Receiving a file into the library: stream, verify, store, commit; whatever fails before that leaves nothing. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Actor } from '../../auth/identify.ts';
import { AppError, badField, storageUnavailable } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { parseInput } from '../../core/validation.ts';
import { type Database, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';
import { type ObjectStore, StorageUnavailableError } from '../../storage/object-store.ts';
import { lockWorkspace, requireRoleNow } from '../members/lock-workspace.ts';
import { contradicts, declaredKind, HEAD_BYTES } from './file-kind.ts';
import { createMp4DurationReader } from './mp4-duration.ts';
import { type LibraryItem, type MediaType, MOST_NAME, UploadFields } from './schemas.ts';

/** 100 MiB: exactly this passes. */
export const MOST_BYTES = 104_857_600;

/** A request that failed does not wait longer for the store; the sweep does the rest. */
const CLEAN_UP_MS = 5_000;

/** The parts of an upload, as they arrive. */
export type IncomingUpload = {
  /** Resolves at the head of the file part; rejects where the body has none. */
  file: Promise<{ stream: Readable; filename: string; declaredType: string | undefined }>;
  /** Resolves at the end of the body; fields may stand before and after the file. */
  fields: Promise<Record<string, string>>;
  /** Aborted, with the reason, when the rest of the body will not come. */
  signal: AbortSignal;
};

type FileFacts = { size: number; sha256: Uint8Array<ArrayBuffer>; duration: number | null };

export const fileTooLarge = (): AppError => badField('file', 'File is larger than 100 MB');
const unsupported = () => badField('file', 'Only PDF and MP4 files are supported');

/** Reads chunks until there are `HEAD_BYTES`, or all. */
const readHead = async (chunks: AsyncIterator<Buffer>): Promise<Buffer> => {
  const head: Buffer[] = [];
  let size = 0;
  while (size < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head.push(next.value);
    size += next.value.length;
  }
  return Buffer.concat(head);
};

/** Passes the file on while counting, hashing and looking for the length of a video. */
const createInspector = (type: MediaType) => {
  const hash = createHash('sha256');
  const mp4 = type === 'video/mp4' ? createMp4DurationReader() : null;
  let size = 0;
  const inspect = (chunk: Buffer): Buffer => {
    size += chunk.length;
    if (size > MOST_BYTES) throw fileTooLarge();
    hash.update(chunk);
    mp4?.push(chunk);
    return chunk;
  };
  return {
    async *pass(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      yield inspect(head);
      for await (const chunk of rest) yield inspect(chunk);
    },
    facts: (): FileFacts => ({ size, sha256: new Uint8Array(hash.digest()), duration: mp4?.duration() ?? null }),
  };
};

/** The original filename as a display name: one line without control characters, cut to what a name may have. */
const nameFromFilename = (filename: string): string => {
  const line = filename
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  const characters = [...line];
  if (characters.length <= MOST_NAME) return line || 'Untitled';
  const extension = /\.[a-z0-9]{1,8}$/i.exec(line)?.[0] ?? '';
  return characters.slice(0, MOST_NAME - extension.length).join('') + extension;
};

type NewItem = UploadFields & FileFacts & { fileKey: string; type: MediaType };

/** Writes the row and its event in one transaction. */
const commitItem = ({ db, clock }: Services, actor: Actor, item: NewItem): Promise<LibraryItem> =>
  transact(db, async (tx) => {
    // The upload may have taken minutes: is the uploader still a member?
    await lockWorkspace(tx, actor.workspaceId);
    await requireRoleNow(tx, actor, 'member');
    const now = clock.now();
    const { name, description, size, duration } = item;
    const { id } = await tx.libraryItem.create({
      data: {
        workspaceId: actor.workspaceId,
        uploadedBy: actor.userId,
        name,
        description,
        fileKey: item.fileKey,
        mimeType: item.type,
        size,
        sha256: item.sha256,
        duration,
        createdAt: now,
        updatedAt: now,
      },
      select: { id: true },
    });
    const created_at = toUnixSeconds(now);
    const common = { name, description, mime_type: item.type, size, duration, created_at };
    const uploader = { uploaded_by: actor.userId, uploaded_by_name: actor.name };
    await emit(tx, now, {
      type: 'library_item.uploaded',
      workspaceId: actor.workspaceId,
      data: { workspace_id: actor.workspaceId, item_id: id, ...common, ...uploader },
    });
    const { workspaceId: workspace_id } = actor;
    return { id, workspace_id, ...common, ...uploader, file_url: null, labels: [], updated_at: created_at };
  });

const storeFile = async (
  store: ObjectStore,
  fileKey: string,
  chunks: AsyncIterable<Buffer>,
  options: { contentType: string; signal: AbortSignal },
): Promise<void> => {
  try {
    await store.put(fileKey, Readable.from(chunks, { objectMode: false }), options);
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    throw storageUnavailable('Upload failed: storage service unavailable', error);
  }
};

/** Whether the row is there. Waits for a commit of it that is still under way, which holds the lock that this asks for. */
const isCommitted = (db: Database, { workspaceId }: Actor, fileKey: string): Promise<boolean> =>
  transact(db, async (tx) => {
    await tx.$queryRaw`select from workspaces where id = ${workspaceId} for update`;
    return (await tx.libraryItem.count({ where: { fileKey } })) > 0;
  });

/**
 * Removes the file of an upload that failed for `reason` after it was stored. A connection that breaks at the commit
 * does not tell whether there is a row now; where there is, the file stays. What cannot be done here the sweep does.
 */
const discardFile = async ({ db, store, log }: Services, actor: Actor, fileKey: string, reason: unknown) => {
  try {
    const isRefused = reason instanceof AppError;
    if (isRefused || !(await isCommitted(db, actor, fileKey)))
      await store.remove(fileKey, { signal: AbortSignal.timeout(CLEAN_UP_MS) });
  } catch (error) {
    log.warn({ err: error, key: fileKey }, 'The file of a failed upload is left to the sweep');
  }
};

/**
 * Stores the file of an upload and adds it to the library. Emits `library_item.uploaded`.
 * At no time is more than a few chunks of the file in memory. Once the body is whole the item is committed, whether
 * anyone still waits for the answer or not.
 *
 * Throws 400 "File is required", "Only PDF and MP4 files are supported", "File is larger than 100 MB", or for a field;
 * 403 and 404 where the membership or the workspace ended meanwhile; 500 "Upload failed: storage service unavailable".
 */
export const uploadItem = async (services: Services, actor: Actor, upload: IncomingUpload): Promise<LibraryItem> => {
  const { stream, filename, declaredType } = await upload.file;
  const type = declaredKind(declaredType, filename);
  const chunks: AsyncIterableIterator<Buffer> = stream[Symbol.asyncIterator]();
  const head = await readHead(chunks);
  if (head.length === 0) throw badField('file', filename === '' ? 'File is required' : 'File is empty');
  if (type === null || (await contradicts(type, head))) throw unsupported();

  const inspector = createInspector(type);
  const fileKey = createObjectKey(actor.workspaceId, 'library');
  const options = { contentType: type, signal: upload.signal };
  await storeFile(services.store, fileKey, inspector.pass(head, chunks), options);
  try {
    const fields = parseInput(UploadFields, await upload.fields);
    const name = fields.name || nameFromFilename(filename);
    return await commitItem(services, actor, { ...fields, name, ...inspector.facts(), fileKey, type });
  } catch (error) {
    await discardFile(services, actor, fileKey, error);
    throw error;
  }
};
