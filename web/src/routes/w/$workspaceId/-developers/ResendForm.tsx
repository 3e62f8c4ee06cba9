import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { CheckboxField, Form, SelectField, TextField } from '../../../../components/Form.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { nowSeconds } from '../../../../lib/clock.ts';
import { formatNumber } from '../../../../lib/format.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const times = [
  { value: String(HOUR), label: 'In the last hour' },
  { value: String(DAY), label: 'In the last 24 hours' },
  { value: String(7 * DAY), label: 'In the last 7 days' },
  { value: 'all', label: 'At any time' },
  { value: 'other', label: 'Between specific times …' },
];

/** Sends the failed and cancelled messages and the missed events since a given time. */
export function ResendForm({ webhookId, onDone }: { webhookId: number; onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState(String(DAY));
  // The same for each press of the button, so that a press after a lost answer repeats the call.
  const [openedAt] = useState(() => Math.floor(nowSeconds()));
  const resend = useMutation({
    mutationFn: (range: { since: number; until?: number; include_earlier: boolean }) =>
      client.webhooks.resendFailed.mutate({ id, webhookId, ...range }),
    async onSuccess({ count, has_more }) {
      await queryClient.invalidateQueries(trpc.webhooks.pathFilter());
      if (count === 0) showSuccess('Nothing was missed in this period');
      else showSuccess(count === 1 ? '1 message is being sent' : `${formatNumber(count)} messages are being sent`);
      // The form stays open for the rest.
      if (has_more === 0) onDone();
    },
  });

  function submit(values: FormData): void {
    const until = String(values.get('until') ?? '');
    const since = toSince(openedAt, chosen, String(values.get('since')));
    const include_earlier = values.get('earlier') !== null;
    resend.mutate({ since, ...(until !== '' && { until: toSeconds(until) }), include_earlier });
  }

  return (
    <Form onSubmit={submit} error={resend.error}>
      <SelectField
        name="period"
        label="Period"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
        options={times}
      />
      {chosen === 'other' && (
        <>
          <TextField name="since" label="Since" type="datetime-local" required />
          <TextField name="until" label="Until (optional)" type="datetime-local" />
        </>
      )}
      <CheckboxField name="earlier" label="Also events from before the webhook was registered" />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={resend.isPending}>
          {resend.data?.has_more === 1 ? 'Send more' : 'Send'}
        </Button>
      </DialogActions>
    </Form>
  );
}

function toSince(now: number, chosen: string, other: string): number {
  if (chosen === 'all') return 0;
  return chosen === 'other' ? toSeconds(other) : now - Number(chosen);
}

/** The value of a field is in the viewer's time zone, because it has none. */
function toSeconds(local: string): number {
  return Math.floor(new Date(local).getTime() / 1000);
}
