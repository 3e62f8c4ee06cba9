/** The webhooks of the workspace, and the form for a new one. */
import { createFileRoute, Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { CreateWebhook } from './-developers/CreateWebhook.tsx';
import { WebhookTable } from './-developers/WebhookTable.tsx';

export const Route = createFileRoute('/w/$workspaceId/webhooks/')({ component: WebhooksPage });

function WebhooksPage() {
  const workspaceId = String(useWorkspaceId());
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
        <WebhookTable
          nameOf={({ id, name }) => (
            <Link
              to="/w/$workspaceId/webhooks/$webhookId"
              params={{ workspaceId, webhookId: String(id) }}
              className="link font-medium"
            >
              {name}
            </Link>
          )}
        />
      </RoleGate>
      {isCreating && (
        <Dialog isWide onClose={() => setIsCreating(false)} title="New webhook">
          <CreateWebhook onDone={() => setIsCreating(false)} />
        </Dialog>
      )}
    </>
  );
}
