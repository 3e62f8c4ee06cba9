/** The webhooks in a frame. The form for a new one is no dialog: it is longer than a frame may be high. */
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { LIVE_POLL_MS } from '../../lib/live.ts';
import { useWorkspaceId } from '../../lib/workspace.ts';
import { CreateWebhook } from '../w/$workspaceId/-developers/CreateWebhook.tsx';
import type { MessageFilters } from '../w/$workspaceId/-developers/message-filters.ts';
import { WebhookDetails } from '../w/$workspaceId/-developers/WebhookDetails.tsx';
import { WebhookTable } from '../w/$workspaceId/-developers/WebhookTable.tsx';
import { webhooksOptions } from '../w/$workspaceId/-developers/webhooks.ts';

export default function WebhooksFrame() {
  const [view, setView] = useState<'list' | 'new' | number>('list');
  if (view !== 'list') {
    return (
      <>
        <p className="mb-2">
          <Button size="small" tone="quiet" icon={<ArrowLeft aria-hidden size={16} />} onClick={() => setView('list')}>
            Webhooks
          </Button>
        </p>
        {view === 'new' ? (
          <>
            <PageHeader title="New webhook" />
            <CreateWebhook onDone={() => setView('list')} />
          </>
        ) : (
          <OpenWebhook webhookId={view} />
        )}
      </>
    );
  }
  return (
    <>
      <PageHeader
        title="Webhooks"
        text="URLs to which the events of this workspace are posted"
        actions={
          <Button tone="primary" icon={<Plus aria-hidden size={18} />} onClick={() => setView('new')}>
            New webhook
          </Button>
        }
      />
      <WebhookTable
        nameOf={({ id, name }) => (
          <button type="button" className="link text-left font-medium" onClick={() => setView(id)}>
            {name}
          </button>
        )}
      />
    </>
  );
}

function OpenWebhook({ webhookId }: { webhookId: number }) {
  const id = useWorkspaceId();
  const [filters, setFilters] = useState<MessageFilters>({});
  const webhook = useQuery({
    ...webhooksOptions(id),
    refetchInterval: LIVE_POLL_MS,
    select: (list) => list.find((one) => one.id === webhookId) ?? null,
  });
  if (webhook.isPending) return <SkeletonRows />;
  if (webhook.isError) {
    return (
      <ErrorPanel what="The webhook could not be loaded" error={webhook.error} onRetry={() => webhook.refetch()} />
    );
  }
  if (webhook.data === null) return <EmptyState title="There is no such webhook">It was deleted.</EmptyState>;
  return <WebhookDetails webhook={webhook.data} filters={filters} onFilter={setFilters} />;
}
