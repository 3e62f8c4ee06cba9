import { z } from 'zod';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import {
  count,
  id,
  integerBetween,
  integerFrom,
  MAX_INT32,
  multilineText,
  optional,
  searchText,
  singleLineText,
  unixSeconds,
  withDefault,
} from '../../core/validation.ts';
import { libraryTypes } from '../../media/file-type.ts';

export const MAX_ITEM_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 5000;
/** The maximum number of items on a page. */
export const MAX_LISTED_ITEMS = 100;

export const ItemLabel = z
  .object({ id, name: z.string(), color: z.string().meta({ example: '#6366f1' }) })
  .meta({ id: 'ItemLabel', description: 'A label of an item' });
export type ItemLabel = z.infer<typeof ItemLabel>;

export const LibraryItem = z
  .object({
    id,
    workspace_id: id,
    uploaded_by: id.nullable().describe('User ID of the uploader; null if the user was deleted'),
    uploaded_by_name: z.string(),
    name: z.string().describe('Display name').meta({ example: 'Contract 2026.pdf' }),
    description: z.string(),
    file_url: z.string().nullable().describe('Always null. Use the download operation'),
    poster_url: z
      .string()
      .nullable()
      .describe('URL of the operation that returns the poster; it changes with the poster. null without a poster'),
    mime_type: z.enum(libraryTypes),
    size: integerFrom(0).describe('Bytes'),
    duration: integerFrom(0, MAX_INT32).nullable().describe('Seconds, for videos; null if unknown'),
    labels: z.array(ItemLabel).describe('Ordered by creation time of the label'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .meta({ id: 'LibraryItem', description: 'A file in the media library' });
export type LibraryItem = z.infer<typeof LibraryItem>;

export const ListItemsInput = z.object({
  search: searchText().describe('Part of the name; case-insensitive').optional(),
  label: id.describe('Only items with this label (label ID)').optional(),
  sort: z.enum(['date', 'name', 'size']).default('date').describe('Sort field; names are compared case-insensitively'),
  order: z.enum(['asc', 'desc']).default('desc').describe('`asc`: smallest, earliest or A first; `desc`: the reverse'),
  limit: integerBetween(1, MAX_LISTED_ITEMS).default(50).describe('Maximum number of items'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of items to skip'),
  cursor,
});
export type ListItemsInput = z.infer<typeof ListItemsInput>;

export const ItemInput = z.object({ itemId: requestedId.describe('Library item ID') });
export type ItemInput = z.infer<typeof ItemInput>;

/** Returns the schema of the field that controls what browsers do with a file. */
function dispositionField(byDefault: 'attachment' | 'inline') {
  return z
    .enum(['attachment', 'inline'])
    .default(byDefault)
    .describe('`attachment`: browsers save the file; `inline`: browsers display it');
}

export const DownloadInput = ItemInput.extend({ disposition: dispositionField('attachment') });
export type DownloadInput = z.infer<typeof DownloadInput>;

export const FileInput = ItemInput.extend({ disposition: dispositionField('inline') });

const NAME_EMPTY = 'Name cannot be empty';

export const UpdateItemInput = ItemInput.extend({
  name: optional(
    singleLineText(MAX_ITEM_NAME_LENGTH).min(1, { error: NAME_EMPTY }).describe('Display name; cannot be empty'),
  ),
  description: multilineText(MAX_DESCRIPTION_LENGTH)
    .describe('The new description, at most 5,000 characters; null or an empty string removes it')
    .nullable()
    .transform((text) => text ?? '')
    .optional(),
}).meta({ id: 'UpdateLibraryItemRequest' });
export type UpdateItemInput = z.infer<typeof UpdateItemInput>;

const name = singleLineText(MAX_ITEM_NAME_LENGTH).describe(
  'Display name. If missing or blank, it defaults to the original filename, or to the title of the recording',
);
const description = multilineText(MAX_DESCRIPTION_LENGTH).describe('At most 5,000 characters');

/** The text fields of an upload. A blank name is replaced. */
export const UploadFields = z.object({
  name: withDefault(name, ''),
  description: withDefault(description, ''),
});
export type UploadFields = z.infer<typeof UploadFields>;

export const AssignLabelInput = ItemInput.extend({ labelId: requestedId.describe('Label ID') }).meta({
  id: 'AssignLabelRequest',
});
export type AssignLabelInput = z.infer<typeof AssignLabelInput>;

/** The maximum numbers of items and labels in one call. */
const MAX_CHANGED_ITEMS = 100;
const MAX_CHANGED_LABELS = 20;

const itemIds = z
  .array(id)
  .min(1, { error: 'item_ids must name at least one item', abort: true })
  .max(MAX_CHANGED_ITEMS, { abort: true })
  .transform((ids) => [...new Set(ids)])
  .describe(`1 to ${MAX_CHANGED_ITEMS} item IDs; duplicates are dropped`);
const labelIds = z
  .array(requestedId)
  .max(MAX_CHANGED_LABELS, { abort: true })
  .transform((ids) => [...new Set(ids)])
  .default([]);

export const DeleteItemsInput = z.object({ item_ids: itemIds }).meta({ id: 'DeleteLibraryItemsRequest' });
export type DeleteItemsInput = z.infer<typeof DeleteItemsInput>;

export const LabelItemsInput = z
  .object({
    item_ids: itemIds,
    add_label_ids: labelIds.describe(`At most ${MAX_CHANGED_LABELS} labels to assign (label IDs)`),
    remove_label_ids: labelIds.describe(`At most ${MAX_CHANGED_LABELS} labels to remove (label IDs)`),
  })
  .refine(({ add_label_ids, remove_label_ids }) => !add_label_ids.some((one) => remove_label_ids.includes(one)), {
    path: ['remove_label_ids'],
    error: 'A label cannot be both added and removed',
  })
  .meta({ id: 'LabelLibraryItemsRequest' });
export type LabelItemsInput = z.infer<typeof LabelItemsInput>;

export const BulkResult = z
  .object({
    item_ids: z.array(id).describe('The items that exist and were changed or deleted, in the order of the request'),
    not_found: z.array(id).describe('The remaining items, which do not exist in the workspace'),
  })
  .meta({ id: 'LibraryBulkResponse' });
export type BulkResult = z.infer<typeof BulkResult>;

export const Download = z
  .object({
    url: z.string().describe('The URL serves the file without authentication and supports range requests'),
    expires_at: unixSeconds.describe(
      'When the URL expires (by default, 15 minutes after its creation), as a Unix timestamp in seconds',
    ),
  })
  .meta({ id: 'Download' });
export type Download = z.infer<typeof Download>;

export const ItemsAnswer = z
  .object({
    items: z.array(LibraryItem),
    total: count.describe('Number of matching items, independent of limit, offset and cursor'),
    next_cursor: nextCursor,
  })
  .meta({ id: 'LibraryPage' });
export type ItemsAnswer = z.infer<typeof ItemsAnswer>;
export const ItemAnswer = z.object({ item: LibraryItem }).meta({ id: 'LibraryItemResponse' });
export const ItemLabelsAnswer = z.object({ labels: z.array(ItemLabel) }).meta({ id: 'ItemLabelsResponse' });
