import { useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { EmptyState } from '../components/EmptyState.tsx';
import { PageHeader } from '../components/PageHeader.tsx';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { CreateWorkspaceDialog } from '../frame/CreateWorkspaceDialog.tsx';
import { Frame } from '../frame/Frame.tsx';
import { JoinableWorkspaces } from '../frame/JoinableWorkspaces.tsx';
import { joinableOptions } from '../lib/joinable.ts';
import { requireAccount } from '../lib/session.ts';

export const Route = createFileRoute('/new-workspace')({ beforeLoad: requireAccount, component: NewWorkspacePage });

/** Where a user without a workspace begins. */
function NewWorkspacePage() {
  const [isCreating, setIsCreating] = useState(false);
  const joinable = useQuery(joinableOptions);
  if (joinable.isPending)
    return (
      <Frame navigation={null}>
        <SkeletonRows />
      </Frame>
    );
  return (
    <Frame navigation={null}>
      <PageHeader title="Workspaces" />
      <JoinableWorkspaces />
      <EmptyState
        icon={<Boxes aria-hidden size={28} />}
        title="You are not a member of any workspace"
        action={
          <Button tone="primary" onClick={() => setIsCreating(true)}>
            New workspace
          </Button>
        }
      >
        Create one, or ask somebody for an invitation to theirs.
      </EmptyState>
      {isCreating && <CreateWorkspaceDialog onClose={() => setIsCreating(false)} />}
    </Frame>
  );
}
