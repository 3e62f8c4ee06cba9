/** The webhooks of the workspace, and the form for a new one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button } from '../../../components/Button.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { trpc } from '../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../lib/live.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { Secret } from './-developers/Secret.tsx';
import { WebhookForm } from './-developers/WebhookForm.tsx';
import { describeState, toEvents, webhooksOptions } from './-developers/webhooks.ts';

const ReceiverCode = lazy(() => import('./-developers/ReceiverCode.tsx'));

export const Route = createFileRoute('/w/$workspaceId/webhooks/')({ component: WebhooksPage });

function WebhooksPage() {
  const mayWrite = useHasRole('admin');
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Webhooks"
        text="URLs to which the events of this workspace are posted"
        actions={
          mayWrite && (
            <Button
              tone="primary"
              icon={<Plus aria-hidden size={18} />}
              aria-keyshortcuts={CREATE_KEY}
              onClick={() => setIsCreating(true)}
            >
              New webhook
            </Button>
          )
        }
      />
      <RoleGate min="admin" to="manage the webhooks">
        <WebhookTable />
      </RoleGate>
      {isCreating && (
        <Dialog isWide onClose={() => setIsCreating(false)} title="New webhook">
          <CreateForm onDone={() => setIsCreating(false)} />
        </Dialog>
      )}
    </>
  );
}

function WebhookTable() {
  const { id } = useWorkspace();
  const webhooks = useQuery({ ...webhooksOptions(id), refetchInterval: LIVE_POLL_MS });
  return (
    <WholeTable
      caption="Webhooks"
      list={webhooks}
      rowsOf={(data) => data}
      failure="The webhooks could not be loaded"
      empty={
        <EmptyState icon={<WebhookIcon aria-hidden size={32} />} title="There are no webhooks yet">
          A webhook tells your program what happens here: a guest joins, a recording is ready, a meeting is booked.
        </EmptyState>
      }
      keyOf={(webhook) => webhook.id}
      columns={[
        {
          heading: 'Name',
          className: 'min-w-48',
          cell: (webhook) => (
            <>
              <Link
                to="/w/$workspaceId/webhooks/$webhookId"
                params={{ workspaceId: String(id), webhookId: String(webhook.id) }}
                className="link font-medium"
              >
                {webhook.name}
              </Link>
              <span className="block text-sm text-muted">{webhook.url}</span>
            </>
          ),
        },
        {
          heading: 'State',
          className: 'min-w-32',
          cell: (webhook) => {
            const { tone, label } = describeState(webhook);
            return <Badge tone={tone}>{label}</Badge>;
          },
        },
        { heading: 'Events', isNumber: true, cell: (webhook) => toEvents(webhook).length },
        {
          heading: 'Last attempt',
          cell: ({ last_delivery_at: at }) => (at === null ? 'None yet' : <Time at={at} />),
        },
      ]}
    />
  );
}

function CreateForm({ onDone }: { onDone: () => void }) {
  const { id } = useWorkspace();
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
