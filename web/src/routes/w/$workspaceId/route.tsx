import { createFileRoute, notFound, Outlet, redirect } from '@tanstack/react-router';
import { useEffect } from 'react';
import { NotFound, PageError } from '../../../components/ErrorPanel.tsx';
import { Frame } from '../../../frame/Frame.tsx';
import { WorkspaceNavigation } from '../../../frame/WorkspaceNavigation.tsx';
import { queryClient } from '../../../lib/client.ts';
import { refusalWith } from '../../../lib/errors.ts';
import { useLive } from '../../../lib/live.ts';
import { requireAccount } from '../../../lib/session.ts';
import { rememberWorkspace, useWorkspaceId, workspaceOptions, workspaces } from '../../../lib/workspace.ts';

export const Route = createFileRoute('/w/$workspaceId')({
  beforeLoad: requireAccount,
  async loader({ params: { workspaceId } }) {
    if (!/^[1-9]\d{0,8}$/.test(workspaceId)) throw notFound();
    try {
      // In one request: calls made at the same time are batched.
      await Promise.all([
        queryClient.ensureQueryData(workspaceOptions(Number(workspaceId))),
        queryClient.ensureQueryData(workspaces),
      ]);
    } catch (error) {
      // Users who are not members must learn nothing about the workspace.
      if (refusalWith(error, 'WORKSPACE_REQUIRES_SECOND_FACTOR') || refusalWith(error, 'WORKSPACE_REQUIRES_PROVIDER'))
        throw redirect({ to: '/sign-in-required/$workspaceId', params: { workspaceId } });
      if (refusalWith(error, 'NOT_FOUND') || refusalWith(error, 'FORBIDDEN')) throw notFound();
      throw error;
    }
  },
  component: WorkspaceLayout,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

function WorkspaceLayout() {
  const id = useWorkspaceId();
  useLive(id);
  useEffect(() => rememberWorkspace(id), [id]);
  return (
    <Frame navigation={<WorkspaceNavigation />}>
      <Outlet />
    </Frame>
  );
}
