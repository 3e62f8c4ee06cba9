import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { Secret } from './Secret.tsx';
import { WebhookForm } from './WebhookForm.tsx';

const ReceiverCode = lazy(() => import('./ReceiverCode.tsx'));

/** The form for a new webhook, and then its secret. */
export function CreateWebhook({ onDone }: { onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.webhooks.list.pathFilter()),
    }),
  );
  if (create.isSuccess) {
    const { secret } = create.data.webhook;
    return (
      <Secret label="secret" value={secret} onDone={onDone}>
        <Suspense fallback={<SkeletonRows />}>
          <ReceiverCode secret={secret} />
        </Suspense>
      </Secret>
    );
  }
  return (
    <WebhookForm
      action="Create"
      error={create.error}
      isPending={create.isPending}
      onSubmit={(values) => create.mutate({ id, ...values })}
    />
  );
}
