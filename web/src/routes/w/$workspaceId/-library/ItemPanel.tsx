import type { LibraryItem } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { Tag, Trash2 } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, TextAreaField, TextField } from '../../../../components/Form.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { ItemDetails, ItemPreview } from './ItemPreview.tsx';
import { useDeleteItems, useSetLabel, useUpdateItem } from './items.ts';
import { LabelTag, NoLabels } from './LabelTag.tsx';
import { labelsOptions } from './labels.ts';

/** One item: its file, its name and description, and its labels. */
export function ItemPanel({ itemId, onClose }: { itemId: number; onClose: () => void }) {
  const { id } = useWorkspace();
  const item = useQuery(trpc.library.read.queryOptions({ id, itemId }));
  return (
    <Dialog isWide onClose={onClose} title={item.data?.item.name ?? 'Item'}>
      {item.isPending && <SkeletonRows count={3} />}
      {item.isError && (
        <ErrorPanel what="The item could not be loaded" error={item.error} onRetry={() => item.refetch()} />
      )}
      {item.isSuccess && (
        <>
          <ItemPreview item={item.data.item} />
          <ItemDetails item={item.data.item} />
          <Labels item={item.data.item} />
          <EditForm item={item.data.item} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function Labels({ item }: { item: LibraryItem }) {
  const { id } = useWorkspace();
  const labels = useQuery(labelsOptions(id));
  const setLabel = useSetLabel(id);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {item.labels.map((label) => (
        <LabelTag key={label.id} {...label} />
      ))}
      <Menu
        align="start"
        trigger={
          <Button size="small" icon={<Tag aria-hidden size={16} />}>
            Change labels
          </Button>
        }
      >
        {labels.data?.map((label) => {
          const isSet = item.labels.some((one) => one.id === label.id);
          return (
            <MenuItem key={label.id} onSelect={() => setLabel.mutate({ itemIds: [item.id], label, isSet: !isSet })}>
              <LabelTag {...label} />
              {isSet && <span className="text-sm text-muted">remove</span>}
            </MenuItem>
          );
        })}
        {labels.data?.length === 0 && <NoLabels />}
      </Menu>
    </div>
  );
}

function EditForm({ item, onClose }: { item: LibraryItem; onClose: () => void }) {
  const { id } = useWorkspace();
  const update = useUpdateItem(id);
  const deleteItems = useDeleteItems(id);

  function save(values: FormData): void {
    const [name, description] = [values.get('name'), values.get('description')].map(String);
    update.mutate({ itemId: item.id, name, description }, { onSuccess: () => showSuccess('Saved') });
  }

  return (
    <Form onSubmit={save} error={update.error}>
      <UnsavedChanges save={update} />
      <TextField name="name" label="Name" defaultValue={item.name} maxLength={255} required />
      <TextAreaField name="description" label="Description" defaultValue={item.description} maxLength={5000} />
      <DialogActions>
        <Button
          icon={<Trash2 aria-hidden size={16} />}
          onClick={() => {
            deleteItems.mutate([item.id]);
            onClose();
          }}
        >
          Delete
        </Button>
        <Button tone="primary" type="submit" isPending={update.isPending}>
          Save
        </Button>
      </DialogActions>
    </Form>
  );
}
