import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Form, SelectField, TextField } from '../../../../components/Form.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { nowSeconds } from '../../../../lib/clock.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const times = [
  { value: String(HOUR), label: 'In the last hour' },
  { value: String(DAY), label: 'In the last 24 hours' },
  { value: String(7 * DAY), label: 'In the last 7 days' },
  { value: 'all', label: 'At any time' },
  { value: 'other', label: 'Since a specific time …' },
];

/** Sends all failed and cancelled messages again that were created since a given time. */
export function ResendForm({ webhookId, onDone }: { webhookId: number; onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState(String(DAY));
  // The same for each press of the button, so that a press after a lost answer repeats the call.
  const [openedAt] = useState(() => Math.floor(nowSeconds()));
  const resend = useMutation({
    mutationFn: (since: number) => client.webhooks.resendFailed.mutate({ id, webhookId, since }),
    async onSuccess({ count }) {
      await queryClient.invalidateQueries(trpc.webhooks.pathFilter());
      if (count === 0) showSuccess('There are no failed messages from this period');
      else showSuccess(count === 1 ? '1 message is being sent again' : `${count} messages are being sent again`);
      onDone();
    },
  });

  function submit(values: FormData): void {
    resend.mutate(toSince(openedAt, chosen, String(values.get('since'))));
  }

  return (
    <Form onSubmit={submit} error={resend.error}>
      <SelectField
        name="period"
        label="Created"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
        options={times}
      />
      {chosen === 'other' && <TextField name="since" label="Since" type="datetime-local" required />}
      <DialogActions>
        <Button type="submit" tone="primary" isPending={resend.isPending}>
          Send again
        </Button>
      </DialogActions>
    </Form>
  );
}

/** `other` is in the viewer's time zone, because the field has none. */
function toSince(now: number, chosen: string, other: string): number {
  if (chosen === 'all') return 0;
  return chosen === 'other' ? Math.floor(new Date(other).getTime() / 1000) : now - Number(chosen);
}
