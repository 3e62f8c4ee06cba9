import { useQueryClient } from '@tanstack/react-query';
import { ConfirmDialog } from '../../../../components/Dialog.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import type { BookingPage } from './hours.ts';

type DeletePageDialogProps = { page: BookingPage; onClose: () => void; onDeleted?: () => Promise<void> };

export function DeletePageDialog({ page, onClose, onDeleted }: DeletePageDialogProps) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${page.title}?`}
      text="Its link stops working, and its past bookings are deleted too. Upcoming bookings must be cancelled first. This cannot be undone."
      action="Delete"
      onConfirm={async () => {
        await client.bookingPages.delete.mutate({ id, pageId: page.id });
        await onDeleted?.();
        await Promise.all([
          queryClient.invalidateQueries(trpc.bookingPages.pathFilter()),
          queryClient.invalidateQueries(trpc.bookings.pathFilter()),
        ]);
        showSuccess('The booking page was deleted');
      }}
    />
  );
}
