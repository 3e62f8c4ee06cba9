import type { NewEvent } from '../../events/catalogue.ts';

export type UploadedItem = {
  id: number;
  name: string;
  description: string;
  mime_type: string;
  size: number;
  duration: number | null;
  uploaded_by: number;
  uploaded_by_name: string;
  created_at: number;
};

/** The event about an item that is in the library now. */
export function itemUploaded(workspaceId: number, { id, ...item }: UploadedItem): NewEvent {
  return { type: 'library_item.uploaded', workspaceId, data: { workspace_id: workspaceId, item_id: id, ...item } };
}

export type DeletedItem = { id: number; name: string; mime_type: string; size: number };

/** The event about an item that was deleted. `by` is null if the retention policy deleted it. */
export function itemDeleted(
  workspaceId: number,
  { id, name, mime_type, size }: DeletedItem,
  by: { userId: number; name: string } | null,
): NewEvent {
  return {
    type: 'library_item.deleted',
    workspaceId,
    data: {
      workspace_id: workspaceId,
      item_id: id,
      name,
      mime_type,
      size,
      deleted_by: by?.userId ?? null,
      deleted_by_name: by?.name ?? null,
    },
  };
}
