import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { RetentionPreview, retentionDays, toDays } from '../-settings/RetentionPreview.tsx';

/** How long items are kept. */
export function RetentionDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      title="Retention"
      description="Older items are deleted with their files, once a day. This cannot be undone."
    >
      <RetentionForm onClose={onClose} />
    </Dialog>
  );
}

function RetentionForm({ onClose }: { onClose: () => void }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<string | null>(null);
  const policy = useQuery(trpc.retention.read.queryOptions({ id }));
  const set = useMutation(
    trpc.retention.set.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.retention.pathFilter());
        showSuccess('The retention was changed');
        onClose();
      },
    }),
  );
  const days = toDays(chosen);
  const preview = useQuery({
    ...trpc.retention.preview.queryOptions({ id, days: days ?? 365 }),
    enabled: days !== null,
  });
  if (policy.isPending) return <SkeletonRows count={1} />;
  if (policy.isError) return <ErrorPanel error={policy.error} onRetry={() => policy.refetch()} />;
  return (
    <Form
      error={set.error}
      onSubmit={(values) => {
        set.mutate({ id, media_retention_days: toDays(String(values.get('media_retention_days'))) });
      }}
    >
      <UnsavedChanges save={set} />
      <SelectField
        name="media_retention_days"
        label="Keep items for"
        defaultValue={policy.data.media_retention_days ?? ''}
        onChange={(event) => setChosen(event.currentTarget.value)}
        options={retentionDays}
      />
      {days !== null && <RetentionPreview preview={preview.data} one="item" many="items" />}
      <DialogActions>
        <Button tone="primary" type="submit" isPending={set.isPending}>
          Save
        </Button>
      </DialogActions>
    </Form>
  );
}
