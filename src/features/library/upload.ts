import type { Actor } from '../../auth/identify.ts';
import { parseInput } from '../../core/validation.ts';
import { type LibraryType, libraryTypes } from '../../media/file-type.ts';
import { type FileRules, type IncomingUpload, receiveFile } from '../../media/receive-file.ts';
import type { Services, Settings } from '../../services.ts';
import { addItem } from './add-item.ts';
import { toItemName } from './item-name.ts';
import { limitingLabelOf } from './label-limit.ts';
import { type LibraryItem, UploadFields } from './schemas.ts';

/** 100 MiB. A file of exactly this size is accepted. */
export const MAX_ITEM_BYTES = 104_857_600;

const rules: FileRules<LibraryType> = {
  folder: 'library',
  types: libraryTypes,
  unsupported: 'Only PDF and MP4 files are supported',
  maxBytes: MAX_ITEM_BYTES,
};

/** The rules for files that several requests upload. Their size may be larger. */
export function libraryRules({ maxItemBytes }: Settings): FileRules<LibraryType> {
  return { ...rules, maxBytes: maxItemBytes };
}

/**
 * Stores an uploaded file and adds it to the library. Emits `library_item.uploaded`. After the whole body has arrived,
 * adds the item even if the client disconnects.
 *
 * Throws the errors of `receiveFile` and `addItem`, and 400 for an invalid field.
 */
export async function uploadItem(services: Services, actor: Actor, upload: IncomingUpload): Promise<LibraryItem> {
  const file = await upload.file;
  const { workspaceId } = actor;
  return receiveFile(services, { workspaceId, file, rules, signal: upload.signal }, async (stored) => {
    const fields = parseInput(UploadFields, await upload.fields);
    const name = fields.name || toItemName(file.filename);
    return addItem(services, actor, { ...fields, ...stored, name, labelId: limitingLabelOf(actor) });
  });
}
