import { Ok } from '../core/shapes.ts';
import { assignLabel, unassignLabel } from '../features/library/item-labels.ts';
import { createDownload, deleteItem, updateItem } from '../features/library/items.ts';
import { listItems, readItem } from '../features/library/read-items.ts';
import {
  AssignLabelInput,
  Download,
  ItemAnswer,
  ItemInput,
  ItemLabelsAnswer,
  ItemsAnswer,
  ListItemsInput,
  UpdateItemInput,
  UploadFields,
} from '../features/library/schemas.ts';
import { MAX_ITEM_BYTES, uploadItem } from '../features/library/upload.ts';
import { mediaTypes } from '../media/file-type.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { rawOperation, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';

const tags = ['Media library'];

export const libraryRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library',
        tags,
        summary: 'List and search the library',
        description: 'A page of items, and how many match in all. Ties in the order are broken by id.',
      },
    })
    .input(ListItemsInput)
    .output(ItemsAnswer)
    .query(({ ctx, input }) => listItems(ctx.services, ctx.actor, input)),

  read: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Read an item',
        description: 'One item of the library.',
      },
    })
    .input(ItemInput)
    .output(ItemAnswer)
    .query(async ({ ctx, input }) => ({ item: await readItem(ctx.services.db, ctx.actor, input) })),

  download: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/library/{itemId}/download',
        tags,
        summary: 'Get a download URL',
        description:
          'A URL that serves the file as an attachment for 15 minutes, to whoever has it, also if the caller is removed meanwhile. It ends at once when the item is deleted.',
      },
    })
    .input(ItemInput)
    .output(Download)
    .query(({ ctx, input }) =>
      createDownload(ctx.services, ctx.actor, input, ctx.services.settings.publicUrl ?? ctx.origin),
    ),

  update: inWorkspace('member')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Rename or describe an item',
        description: 'Only sent fields change.',
      },
    })
    .input(UpdateItemInput)
    .output(ItemAnswer)
    .mutation(async ({ ctx, input }) => ({ item: await updateItem(ctx.services, ctx.actor, input) })),

  delete: inWorkspace('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/library/{itemId}',
        tags,
        summary: 'Delete an item',
        description: 'Deletes the item and its file. Emits `library_item.deleted`.',
      },
    })
    .input(ItemInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteItem(ctx.services, ctx.actor, input)),

  assignLabel: inWorkspace('member')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/library/{itemId}/labels',
        tags,
        summary: 'Put a label on an item',
        description: 'Answers all labels of the item. Assigning twice changes nothing.',
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
        summary: 'Take a label off an item',
        description: 'Answers the labels that remain. Taking off what is not on it changes nothing.',
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
    'Any member. A PDF or MP4 of at most 100 MB (104,857,600 bytes), as multipart/form-data. The parts may come in any order. The type that the part declares decides, or the file extension where it declares none. A file whose bytes are of another type is refused. Emits `library_item.uploaded`. After 500 "Upload failed: storage service unavailable" nothing is stored.',
  access: workspaceMember('member'),
  request: {
    kind: 'multipart',
    types: mediaTypes,
    fileDescription: 'application/pdf (.pdf) or video/mp4 (.mp4)',
    fields: UploadFields,
    maxFileBytes: () => MAX_ITEM_BYTES,
  },
  response: { kind: 'json', schema: ItemAnswer, description: 'The new item' },
  handle: async ({ services, caller, body }) => ({ item: await uploadItem(services, caller, body) }),
});
