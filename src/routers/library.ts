import type { Actor } from '../auth/identify.ts';
import { Ok } from '../core/shapes.ts';
import { deleteItems, labelItems } from '../features/library/bulk.ts';
import { assignLabel, unassignLabel } from '../features/library/item-labels.ts';
import { readItemPoster, setItemPoster } from '../features/library/item-poster.ts';
import { createDownload, deleteItem, updateItem } from '../features/library/items.ts';
import { listItems, openItem } from '../features/library/read-items.ts';
import {
  AssignLabelInput,
  BulkResult,
  DeleteItemsInput,
  Download,
  DownloadInput,
  FileInput,
  ItemAnswer,
  ItemInput,
  ItemLabelsAnswer,
  ItemsAnswer,
  LabelItemsInput,
  ListItemsInput,
  UpdateItemInput,
  UploadFields,
} from '../features/library/schemas.ts';
import { MAX_ITEM_BYTES, uploadItem } from '../features/library/upload.ts';
import { appendBytes, readUpload } from '../features/uploads/append-bytes.ts';
import { cancelUpload } from '../features/uploads/cancel-upload.ts';
import { createLibraryUpload } from '../features/uploads/create-upload.ts';
import { findOwnUpload } from '../features/uploads/find-own-upload.ts';
import { libraryTypes } from '../media/file-type.ts';
import type { Context } from '../trpc/context.ts';
import { posterReading, posterRequest, posterRules, sendPoster } from '../trpc/poster-operations.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { rawOperation, requirePathId, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';
import { tusOperations } from '../trpc/tus-operations.ts';

const tags = ['Media library'];

const OF_TOKEN = 'An embed token that uploads sets it once, of items that were added since the token was made.';

/** The operations of a resumable upload. */
export const libraryUploads = tusOperations({
  router: 'library',
  path: '/api/workspaces/{id}/library/uploads',
  params: WorkspaceParams,
  tags,
  outcome:
    'When the last byte is stored, the file is added to the library, and `library_item.uploaded` is emitted. A PDF ' +
    'or MP4 of at most 100 MB (by default).',
  who: 'Any member.',
  access: workspaceMember('member'),
  create: createLibraryUpload,
  find: (services, actor, id) =>
    findOwnUpload(services, { workspaceId: actor.workspaceId, recordingId: null, userId: actor.userId }, id),
  uploads: { append: appendBytes, read: readUpload, cancel: cancelUpload },
});

/** What `download` returns as JSON, and `file` redirects to. */
function signFile({ ctx, input }: { ctx: Context & { actor: Actor }; input: DownloadInput }): Promise<Download> {
  return createDownload(ctx.services, ctx.actor, input, ctx.services.settings.publicUrl ?? ctx.origin);
}

export const libraryRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library',
        tags,
        summary: 'List and search the library',
        successDescription: 'A page of items, and the total number of matching items',
        description: 'Returns a page of items and the total number of matching items. Ties are broken by ID.',
      },
    })
    .input(ListItemsInput)
    .output(ItemsAnswer)
    .query(({ ctx, input }) => listItems(ctx.services, ctx.actor, input, ctx.origin)),

  read: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Read an item',
        successDescription: 'The item',
        description: 'Any member.',
      },
    })
    .input(ItemInput)
    .output(ItemAnswer)
    .query(async ({ ctx, input }) => ({ item: await openItem(ctx.services, ctx.actor, input, ctx.origin) })),

  download: inWorkspace('member')
    .meta({
      noStore: true,
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library/{itemId}/download',
        tags,
        summary: 'Get a download URL',
        successDescription: 'The download URL',
        description:
          'Returns a URL from which anyone can download the file for 15 minutes (by default), even if the caller ' +
          'leaves the workspace. The URL stops working when the item is deleted.',
      },
    })
    .input(DownloadInput)
    .output(Download)
    .query(signFile),

  file: inWorkspace('member')
    .meta({
      redirectsTo: 'url',
      noStore: true,
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library/{itemId}/file',
        tags,
        summary: 'Open the file of an item',
        successDescription: 'The download URL, if the `Accept` header contains `application/json`',
        description:
          'Redirects each time to a new URL that serves the file for 15 minutes (by default), to anyone who has the ' +
          'URL. The path of this operation stays the same, so a video element, a link or a page that is open for ' +
          'long can use it. Browsers display the file, unless `disposition` is `attachment`. A caller whose `Accept` ' +
          'header contains `application/json` gets the URL as JSON.',
      },
    })
    .input(FileInput)
    .output(Download)
    .query(signFile),

  update: inWorkspace('member')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Update an item',
        successDescription: 'The updated item',
        description: 'Changes only the fields that are sent.',
      },
    })
    .input(UpdateItemInput)
    .output(ItemAnswer)
    .mutation(async ({ ctx, input }) => ({ item: await updateItem(ctx.services, ctx.actor, input, ctx.origin) })),

  delete: inWorkspace('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Delete an item',
        successDescription: 'The item and its file are deleted',
        description: 'Deletes the item and its file. Emits `library_item.deleted`.',
      },
    })
    .input(ItemInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteItem(ctx.services, ctx.actor, input)),

  deleteMany: inWorkspace('member')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/library/delete',
        tags,
        summary: 'Delete several items',
        successDescription: 'The IDs of deleted items, and of items that do not exist',
        description:
          'Deletes up to 100 items and their files in one transaction. `not_found` lists the items that do not ' +
          'exist. Emits `library_item.deleted` for each deleted item.',
      },
    })
    .input(DeleteItemsInput)
    .output(BulkResult)
    .mutation(({ ctx, input }) => deleteItems(ctx.services, ctx.actor, input)),

  labelMany: inWorkspace('member')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/library/labels',
        tags,
        summary: 'Change the labels of several items',
        successDescription: 'The IDs of changed items, and of items that do not exist',
        description:
          'Assigns labels to up to 100 items, and removes labels from them, in one transaction. `not_found` lists ' +
          'the items that do not exist. If one of the labels does not exist, returns 404 "Label not found" and ' +
          'changes nothing.',
      },
    })
    .input(LabelItemsInput)
    .output(BulkResult)
    .mutation(({ ctx, input }) => labelItems(ctx.services, ctx.actor, input)),

  assignLabel: inWorkspace('member')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/library/{itemId}/labels',
        tags,
        summary: 'Assign a label to an item',
        successDescription: 'All labels of the item',
        description: 'Returns all labels of the item. Assigning a label again changes nothing.',
      },
    })
    .input(AssignLabelInput)
    .output(ItemLabelsAnswer)
    .mutation(async ({ ctx, input }) => ({ labels: await assignLabel(ctx.services, ctx.actor, input) })),

  unassignLabel: inWorkspace('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/library/{itemId}/labels/{labelId}',
        tags,
        summary: 'Remove a label from an item',
        successDescription: 'The remaining labels of the item',
        description: 'Returns the remaining labels. Removing a label that is not assigned changes nothing.',
      },
    })
    .input(AssignLabelInput)
    .output(ItemLabelsAnswer)
    .mutation(async ({ ctx, input }) => ({ labels: await unassignLabel(ctx.services, ctx.actor, input) })),
});

export const libraryUpload = rawOperation({
  name: 'library.upload',
  method: 'POST',
  path: '/api/workspaces/{id}/library',
  params: WorkspaceParams,
  tags,
  summary: 'Upload a file',
  description:
    'Any member. Uploads a PDF or MP4 of at most 100 MB (104,857,600 bytes) as multipart/form-data. The parts can ' +
    'come in any order. The content type of the part `file` determines the type of the file; if it is missing or ' +
    'generic, the file extension does. A file is rejected if its content or its extension belongs to a different ' +
    'type. Emits `library_item.uploaded`. 500 "Upload failed: storage service unavailable" means that nothing was ' +
    'stored.',
  access: workspaceMember('member'),
  request: {
    kind: 'multipart',
    name: 'UploadLibraryItemRequest',
    types: libraryTypes,
    fileDescription: 'application/pdf (.pdf) or video/mp4 (.mp4)',
    exampleFile: 'contract.pdf',
    fields: UploadFields,
    maxFileBytes: () => MAX_ITEM_BYTES,
  },
  response: { kind: 'json', schema: ItemAnswer, description: 'The new item' },
  refusals: [409],
  handle: async ({ services, caller, body }) => ({ item: await uploadItem(services, caller, body) }),
});

const ItemParams = WorkspaceParams.extend(ItemInput.shape);

export const libraryPoster = rawOperation({
  ...posterReading,
  name: 'library.poster',
  path: '/api/workspaces/{id}/library/{itemId}/poster',
  params: ItemParams,
  tags,
  summary: 'Read the poster of an item',
  description: `Any member. ${posterReading.description}`,
  access: workspaceMember('member', 'itemId'),
  handle: async ({ services, caller, params, ...call }) =>
    sendPoster(await readItemPoster(services, caller, { itemId: requirePathId(params, 'itemId') }), call),
});

export const librarySetPoster = rawOperation({
  name: 'library.setPoster',
  method: 'PUT',
  path: '/api/workspaces/{id}/library/{itemId}/poster',
  params: ItemParams,
  tags,
  summary: 'Set the poster of an item',
  description: `Any member. ${posterRules} Emits \`library_item.updated\` to live updates. ${OF_TOKEN}`,
  access: workspaceMember('member', 'itemId'),
  request: posterRequest,
  response: { kind: 'json', schema: ItemAnswer, description: 'The item with its new poster' },
  refusals: [404],
  handle: async ({ services, caller, params, body, origin }) => ({
    item: await setItemPoster(services, caller, { itemId: requirePathId(params, 'itemId') }, body, origin),
  }),
});
