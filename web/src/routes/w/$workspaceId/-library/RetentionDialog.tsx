import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';

const days = [7, 30, 60, 90, 180, 365] as const;

/** How long items are kept. */
export function RetentionDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onClose}
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
  if (policy.isPending) return <SkeletonRows count={1} />;
  if (policy.isError) return <ErrorPanel error={policy.error} onRetry={() => policy.refetch()} />;
  return (
    <Form
      error={set.error}
      onSubmit={(values) => {
        const chosen = days.find((count) => String(count) === values.get('media_retention_days'));
        set.mutate({ id, media_retention_days: chosen ?? null });
      }}
    >
      <SelectField
        name="media_retention_days"
        label="Keep items for"
        defaultValue={policy.data.media_retention_days ?? ''}
        options={[
          { value: '', label: 'Forever' },
          ...days.map((count) => ({ value: String(count), label: `${count} days` })),
        ]}
      />
      <DialogActions>
        <Button tone="primary" type="submit" isPending={set.isPending}>
          Save
        </Button>
      </DialogActions>
    </Form>
  );
}
