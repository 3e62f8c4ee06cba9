/** Creates uploads that several requests continue. */
import { randomUUID } from 'node:crypto';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, badRequest, conflict, conflictForNow } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import { parseInput } from '../../core/validation.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { type FileRules, fileTooLong, requireDeclaredType } from '../../media/receive-file.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';
import { limitingLabelOf } from '../library/label-limit.ts';
import { UploadFields } from '../library/schemas.ts';
import { libraryRules } from '../library/upload.ts';
import { recordingRules } from '../recordings/store-recording-file.ts';
import { requireAllowance, requireRecordingUpload, type Uploader } from '../recordings/upload.ts';
import { parseMetadata } from './metadata.ts';
import { countUnfinished, type Upload } from './upload-rows.ts';

/** How long an upload can be continued after its last bytes. */
export const IDLE_MS = DAY_MS;
/** How many unfinished uploads one user, and one workspace, may have. */
const MAX_PER_USER = 50;
const MAX_PER_WORKSPACE = 1_000;

/** The headers of the request that creates an upload. */
export type NewUpload = { length: string | undefined; deferLength: string | undefined; metadata: string | undefined };

export type CreatedUpload = { id: string; expiresAt: Date };

/**
 * For whom the file is stored. `createdBy` is null for the holder of the recording's upload token, and `labelId` is the
 * label that an item gets.
 */
type Owner = { workspaceId: number; createdBy: number | null; recordingId: number | null; labelId: number | null };

/**
 * Creates an upload of a file to the library. Throws 400 for wrong headers and for a type that the library does not
 * store, 403 if the actor is no longer a member, 409 if a quota is reached or the user has too many unfinished
 * uploads, and 413 if the file is too large.
 */
export function createLibraryUpload(services: Services, actor: Actor, headers: NewUpload): Promise<CreatedUpload> {
  const { settings } = services;
  const { metadata } = headers;
  const { name, description } = parseMetadata(metadata ?? '');
  parseInput(UploadFields, { name, description });
  const by = {
    workspaceId: actor.workspaceId,
    createdBy: actor.userId,
    recordingId: null,
    labelId: limitingLabelOf(actor),
  };
  return createUpload(services, by, headers, libraryRules(settings), async (tx, length) => {
    const workspace = await lockWorkspaceAs(tx, actor, 'member');
    requireWithinQuota(settings.quotas, 'items', workspace.item_count + 1);
    await requireRoom(services, tx, by, workspace.stored_bytes, length);
  });
}

/**
 * Creates an upload of the file of a recording. Throws the errors of `createLibraryUpload`, 404 if the recording has
 * been deleted, 409 if the recording has a file, has failed or has an unfinished upload, and 429 if the participants of
 * the room may not store more bytes.
 */
export async function createRecordingUpload(
  services: Services,
  uploader: Uploader,
  headers: NewUpload,
): Promise<CreatedUpload> {
  const { settings } = services;
  const { recordingId, uploadedBy } = uploader;
  const { workspaceId } = uploader.key;
  const createdBy = 'kind' in uploadedBy ? null : uploadedBy.userId;
  const by = { createdBy, workspaceId, recordingId, labelId: null };
  await requireRecordingUpload(services, uploader);
  return createUpload(services, by, headers, recordingRules(settings), async (tx, length) => {
    const workspace = await lockWorkspace(tx, workspaceId, 'Recording');
    // With the workspace locked, so that uploads that begin at once do not all claim the same bytes.
    if (length !== null) await requireAllowance(services, sqlIn(tx), uploader, length);
    // An upload that nobody has continued is replaced, because its creator may not have received its URL. The sweep
    // removes the bytes of one that has expired.
    const isReplaced = {
      OR: [{ expiresAt: { lte: services.clock.now() } }, { received: 0, requests: 0, lease: null }],
    };
    const unfinished = { workspaceId, recordingId, result: null };
    await tx.upload.deleteMany({ where: { ...unfinished, ...isReplaced } });
    if ((await tx.upload.count({ where: unfinished })) > 0)
      throw conflict('The recording has an unfinished upload: continue or cancel it');
    await requireRoom(services, tx, by, workspace.stored_bytes, length);
  });
}

/** Checks the headers, calls `admit` in the transaction, and adds the row. */
async function createUpload(
  { db, clock }: Services,
  { workspaceId, createdBy, recordingId, labelId }: Owner,
  { length: lengthHeader, deferLength, metadata = '' }: NewUpload,
  rules: FileRules,
  admit: (tx: Tx, length: number | null) => Promise<void>,
): Promise<CreatedUpload> {
  const length = readLength(lengthHeader, deferLength);
  const { filename = '', filetype } = parseMetadata(metadata);
  const mediaType = requireDeclaredType({ filename, declaredType: filetype }, rules);
  requireAllowedLength(length, rules.maxBytes);
  const id = randomUUID();
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + IDLE_MS);
  await transact(db, async (tx) => {
    await admit(tx, length);
    const fileKey = createObjectKey(workspaceId, rules.folder);
    const who = { workspaceId, recordingId, createdBy, labelId };
    await tx.upload.create({
      data: {
        id,
        ...who,
        metadata,
        mediaType,
        fileKey,
        length,
        createdAt: now,
        expiresAt,
        defersLength: length === null,
      },
    });
  });
  return { id, expiresAt };
}

function readLength(length: string | undefined, deferLength: string | undefined): number | null {
  if ((length === undefined) === (deferLength === undefined))
    throw badRequest('Either Upload-Length or Upload-Defer-Length is required');
  if (length !== undefined) return readByteCount('Upload-Length', length);
  if (deferLength !== '1') throw badField('Upload-Defer-Length', 'Upload-Defer-Length must be 1');
  return null;
}

/** Returns the number of bytes in a header. Throws 400 if it is not a non-negative integer. */
export function readByteCount(name: string, value: string | undefined): number {
  const count = Number(value);
  if (value === undefined || !/^\d{1,15}$/.test(value) || !Number.isSafeInteger(count))
    throw badField(name, `${name} must be a non-negative integer`);
  return count;
}

/** Throws 400 for an empty file and 413 for one of more than `maxBytes`. */
export function requireAllowedLength(length: number | null, maxBytes: number): void {
  if (length === 0) throw badField('Upload-Length', 'File is empty');
  if (length !== null && length > maxBytes) throw fileTooLong(maxBytes);
}

/** Throws 409 if the user or the workspace has too many unfinished uploads, or would exceed the quota of bytes. */
async function requireRoom(
  services: Services,
  tx: Tx,
  { createdBy, workspaceId }: Owner,
  storedBytes: number,
  length: number | null,
): Promise<void> {
  const now = services.clock.now();
  const unfinished = await sqlIn(tx).run(countUnfinished, { workspaceId, createdBy, id: null, now });
  const [{ ofWorkspace, ofUser, bytes } = NONE] = unfinished;
  // A recording has one unfinished upload, so the holders of upload tokens need no limit.
  if (ofUser >= MAX_PER_USER || ofWorkspace >= MAX_PER_WORKSPACE)
    throw conflictForNow('There are too many unfinished uploads: finish or cancel some of them');
  // What others upload counts with its full length, so that many uploads together stay within the quota.
  requireWithinQuota(services.settings.quotas, 'bytes', storedBytes + bytes + (length ?? 1));
}

const NONE = { ofWorkspace: 0, ofUser: 0, bytes: 0 };

/**
 * Throws 409 unless the quota of bytes has room for `bytes` of an upload besides what is stored and the other
 * unfinished uploads, and 404 if the workspace was deleted. Locks the workspace.
 */
export async function requireRoomFor(services: Services, tx: Tx, upload: Upload, bytes: number): Promise<void> {
  const others = await countOthers(services, tx, upload);
  requireWithinQuota(services.settings.quotas, 'bytes', others + bytes);
}

/**
 * Returns how many bytes an upload may have in all, so that the quota of bytes is not exceeded. Throws 404 if the
 * workspace was deleted. Locks the workspace.
 */
export async function countRoomFor(services: Services, tx: Tx, upload: Upload): Promise<number> {
  return Math.max(0, services.settings.quotas.bytes - (await countOthers(services, tx, upload)));
}

/** What is stored, and what the other unfinished uploads will store, without what this upload has stored already. */
async function countOthers({ clock }: Services, tx: Tx, { id, workspaceId, finishedBytes }: Upload): Promise<number> {
  const { stored_bytes } = await lockWorkspace(tx, workspaceId, 'Upload');
  const params = { workspaceId, createdBy: null, id, now: clock.now() };
  const [{ bytes: others } = NONE] = await sqlIn(tx).run(countUnfinished, params);
  return stored_bytes + others - finishedBytes;
}
