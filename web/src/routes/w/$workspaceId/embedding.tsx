/** What pages of other products show of the workspace: their origins, and tokens for the library and the webhooks. */
import { createFileRoute } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { useHasRole } from '../../../lib/workspace.ts';
import { CreateEmbedToken } from './-developers/CreateEmbedToken.tsx';
import { EmbedOrigins } from './-developers/EmbedOrigins.tsx';
import { EmbedTokens } from './-developers/EmbedTokens.tsx';

export const Route = createFileRoute('/w/$workspaceId/embedding')({ component: EmbeddingPage });

function EmbeddingPage() {
  const mayWrite = useHasRole('admin');
  const [isCreating, setIsCreating] = useState(false);
  const create = () => setIsCreating(true);
  return (
    <>
      <PageHeader
        title="Embedding"
        text="Parts of this workspace in frames of your own pages"
        actions={
          mayWrite && (
            <Button
              tone="primary"
              icon={<Plus aria-hidden size={18} />}
              aria-keyshortcuts={CREATE_KEY}
              onClick={create}
            >
              New token
            </Button>
          )
        }
      />
      <RoleGate min="admin" to="manage embedding">
        <EmbedOrigins />
        <EmbedTokens onCreate={create} />
      </RoleGate>
      {isCreating && (
        <Dialog isWide onClose={() => setIsCreating(false)} title="New embed token">
          <CreateEmbedToken onDone={() => setIsCreating(false)} />
        </Dialog>
      )}
    </>
  );
}
