/** One webhook: its state, its messages and their attempts. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDialog, Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../lib/live.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { isStatus, type MessageFilters } from './-developers/message-filters.ts';
import { Secret } from './-developers/Secret.tsx';
import { WebhookDetails } from './-developers/WebhookDetails.tsx';
import { type SentEvent, type Webhook, webhooksOptions } from './-developers/webhooks.ts';

export const Route = createFileRoute('/w/$workspaceId/webhooks/$webhookId')({
  validateSearch: (search: Record<string, unknown>): MessageFilters => ({
    ...(isStatus(search.status) && { status: search.status }),
    // `as`: the service refuses an event that does not exist.
    ...(typeof search.event === 'string' && { event: search.event as SentEvent }),
  }),
  component: WebhookPage,
});

function WebhookPage() {
  const { id, role } = useWorkspace();
  const webhookId = Number(Route.useParams().webhookId);
  const webhooks = useQuery({
    ...webhooksOptions(id),
    refetchInterval: LIVE_POLL_MS,
    enabled: role !== 'member',
    select: (list) => list.find((webhook) => webhook.id === webhookId) ?? null,
  });
  if (role !== 'member' && webhooks.isSuccess && webhooks.data !== null) return <Details webhook={webhooks.data} />;
  return (
    <>
      <PageHeader title="Webhook" />
      <RoleGate min="admin" to="manage the webhooks">
        {webhooks.isPending && <SkeletonRows />}
        {webhooks.isError && (
          <ErrorPanel
            what="The webhook could not be loaded"
            error={webhooks.error}
            onRetry={() => webhooks.refetch()}
          />
        )}
        {webhooks.data === null && (
          <EmptyState title="There is no such webhook">
            It may have been deleted.{' '}
            <Link to="/w/$workspaceId/webhooks" params={{ workspaceId: String(id) }} className="link">
              All webhooks
            </Link>
          </EmptyState>
        )}
      </RoleGate>
    </>
  );
}

type Question = 'rotate' | 'delete';

function Details({ webhook }: { webhook: Webhook }) {
  const { id, role } = useWorkspace();
  const navigate = useNavigate({ from: Route.fullPath });
  const [question, setQuestion] = useState<Question | null>(null);
  return (
    <>
      <p className="mb-2">
        <Link to="/w/$workspaceId/webhooks" params={{ workspaceId: String(id) }} className="link">
          Webhooks
        </Link>
      </p>
      <WebhookDetails
        webhook={webhook}
        filters={Route.useSearch()}
        onFilter={(filters) => navigate({ search: filters, replace: true })}
        actions={
          <>
            <MenuItem onSelect={() => setQuestion('rotate')}>Rotate the secret</MenuItem>
            {role === 'owner' && (
              <MenuItem isDanger onSelect={() => setQuestion('delete')}>
                Delete
              </MenuItem>
            )}
          </>
        }
      />
      {question === 'rotate' && <RotateDialog webhook={webhook} onClose={() => setQuestion(null)} />}
      {question === 'delete' && <DeleteDialog webhook={webhook} onClose={() => setQuestion(null)} />}
    </>
  );
}

type OwnDialogProps = { webhook: Webhook; onClose: () => void };

function RotateDialog({ webhook, onClose }: OwnDialogProps) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) {
    return (
      <Dialog onClose={onClose} title="The new secret">
        <Secret label="secret" value={secret} onDone={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Rotate the secret of ${webhook.name}?`}
      text="For 24 hours, messages are signed with the new secret and with this one. Any older secret stops working at once."
      action="Rotate"
      tone="primary"
      onConfirm={async () => {
        const { webhook: rotated } = await client.webhooks.rotateSecret.mutate({ id, webhookId: webhook.id });
        setSecret(rotated.secret);
        await queryClient.invalidateQueries(trpc.webhooks.list.pathFilter());
      }}
      closes={false}
    />
  );
}

function DeleteDialog({ webhook, onClose }: OwnDialogProps) {
  const { id } = useWorkspace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${webhook.name}?`}
      text="Its messages are deleted too, and waiting messages are not sent. This cannot be undone."
      action="Delete"
      onConfirm={async () => {
        await client.webhooks.delete.mutate({ id, webhookId: webhook.id });
        await navigate({ to: '/w/$workspaceId/webhooks', params: { workspaceId: String(id) } });
        await queryClient.invalidateQueries(trpc.webhooks.list.pathFilter());
        showSuccess('The webhook was deleted');
      }}
    />
  );
}
