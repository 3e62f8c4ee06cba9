import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { Services } from '../../services.ts';
import { findUpload, type Upload } from './upload-rows.ts';

/** Identifies who may continue an upload: a user with any session or key, or a key that belongs to a workspace. */
export function ownerOf({ userId, credential }: Pick<Actor, 'userId' | 'credential'>): string {
  return credential?.kind === 'key' && credential.isOfWorkspace ? `key:${credential.id}` : `user:${userId}`;
}

/**
 * Finds an upload of this owner; null means any owner. Throws the same 404 for an unknown upload, an expired one and
 * that of another owner.
 */
export async function findOwnUpload(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, recordingId, owner }: { workspaceId: number; recordingId: number | null; owner: string | null },
  id: string,
): Promise<Upload> {
  const [upload] = await db.sql.run(findUpload, { id, now: clock.now() });
  const isOwn =
    upload?.workspaceId === workspaceId &&
    upload.recordingId === recordingId &&
    (owner === null || upload.owner === owner);
  if (!upload || !isOwn) throw notFound('Upload');
  return upload;
}
