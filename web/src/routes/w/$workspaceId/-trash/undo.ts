/** Takes back a move to the trash. */
import type { Outputs } from '@lynxroom/client';
import { client, queryClient, trpc } from '../../../../lib/client.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';

export type TrashEntry = Outputs['trash']['list']['entries'][number];

/** Says that these were moved to the trash, and offers to restore them. Says nothing if somebody else was faster. */
export function offerUndo(id: number, entries: readonly TrashEntry[]): void {
  void refreshTrash();
  if (entries.length === 0) return;
  const message = entries.length === 1 ? 'Moved to the trash' : `${entries.length} moved to the trash`;
  showSuccess(message, { label: 'Undo', onSelect: () => void undo(id, entries) });
}

async function undo(id: number, entries: readonly TrashEntry[]): Promise<void> {
  try {
    await client.trash.restore.mutate({ id, entry_ids: entries.map((entry) => entry.id) });
  } catch (error) {
    showError('Could not restore', error);
  }
  await refreshTrash();
}

/** Reads again what changes when something leaves the trash, or comes there. */
export async function refreshTrash(): Promise<void> {
  await Promise.all(
    [trpc.trash, trpc.library, trpc.recordings, trpc.rooms, trpc.meetings].map((router) =>
      queryClient.invalidateQueries(router.pathFilter()),
    ),
  );
}
