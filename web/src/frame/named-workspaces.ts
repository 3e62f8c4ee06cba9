/** The workspaces of the user, by the names under which the user knows them. */
import { useAccount } from '../lib/session.ts';
import { useWorkspaces, type WorkspaceSummary } from '../lib/workspace.ts';
import { toWorkspaceName } from '../lib/workspace-name.ts';

export function useNamedWorkspaces(): readonly WorkspaceSummary[] {
  const userId = useAccount()?.id;
  return useWorkspaces().map((workspace) => ({
    ...workspace,
    name: workspace.owner_id === userId ? workspace.name : toWorkspaceName(workspace),
  }));
}
