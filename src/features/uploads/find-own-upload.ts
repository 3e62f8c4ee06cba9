import { notFound } from '../../core/errors.ts';
import type { Services } from '../../services.ts';
import { findUpload, type Upload } from './upload-rows.ts';

/** The database cannot even look for some other texts, such as one with a NUL. */
const UPLOAD_ID = /^[\w-]{1,64}$/;

/**
 * Finds an upload of this user; null means any user. Throws the same 404 for an unknown upload, an expired one and that
 * of another user.
 */
export async function findOwnUpload(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, recordingId, userId }: { workspaceId: number; recordingId: number | null; userId: number | null },
  id: string,
): Promise<Upload> {
  if (!UPLOAD_ID.test(id)) throw notFound('Upload');
  const [upload] = await db.sql.run(findUpload, { id, now: clock.now() });
  const isOwn =
    upload?.workspaceId === workspaceId &&
    upload.recordingId === recordingId &&
    (userId === null || upload.createdBy === userId);
  if (!upload || !isOwn) throw notFound('Upload');
  return upload;
}
