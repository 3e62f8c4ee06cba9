import type { Services } from '../../services.ts';
import { removeDiscardedObject } from '../../storage/discarded-objects.ts';
import { deleteUpload, type Upload } from './upload-rows.ts';

/** Ends an upload and discards its bytes. What a complete upload has added to the library or a recording stays. */
export async function cancelUpload(services: Services, { id }: Pick<Upload, 'id'>): Promise<void> {
  await services.uploads.stop(id);
  const [deleted] = await services.db.sql.run(deleteUpload, { id });
  if (deleted?.stored) await removeDiscardedObject(services, deleted.fileKey, deleted.stored);
}
