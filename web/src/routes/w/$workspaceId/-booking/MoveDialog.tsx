import type { Outputs } from '@lynxroom/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { trpc } from '../../../../lib/client.ts';
import { toLocalInput, viewerZone } from '../../../../lib/format.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

type Booking = Outputs['bookings']['list']['bookings'][number];

/** Moves a meeting to any time at which its host is free. */
export function MoveDialog({ booking, onClose }: { booking: Booking; onClose: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const move = useMutation(
    trpc.bookings.rescheduleByTeam.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.bookings.pathFilter());
        showSuccess('The meeting was moved');
        onClose();
      },
    }),
  );
  return (
    <Dialog
      onClose={onClose}
      title={`Move the meeting with ${booking.name}`}
      description="You can choose any time at which the host has no other meeting. The guest is told by mail."
    >
      <Form
        error={move.error}
        onSubmit={(values) => {
          const starts_at = Math.floor(new Date(String(values.get('starts_at'))).getTime() / 1000);
          move.mutate({ id, bookingId: booking.id, starts_at });
        }}
      >
        <TextField
          name="starts_at"
          label="New time"
          type="datetime-local"
          required
          hint={`In your time zone (${viewerZone})`}
          defaultValue={toLocalInput(booking.starts_at)}
        />
        <DialogActions>
          <Button type="submit" tone="primary" isPending={move.isPending}>
            Move
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
