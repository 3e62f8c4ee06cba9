/** What the page of members reads. */
import { queryClient, trpc } from '../../../../lib/client.ts';
import { isAtLeast } from '../../../../lib/roles.ts';
import { workspaceOptions } from '../../../../lib/workspace.ts';

export function membersOptions(id: number) {
  return trpc.workspaces.read.infiniteQueryOptions({ id, limit: 50 }, { getNextPageParam: (page) => page.next_cursor });
}

export function invitationsOptions(id: number) {
  return trpc.invitations.list.infiniteQueryOptions(
    { id, limit: 20 },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** Loads the page before it is shown, so that nothing moves. */
export async function loadMembers(id: number): Promise<void> {
  const { workspace } = await queryClient.ensureQueryData(workspaceOptions(id));
  await Promise.all([
    queryClient.prefetchInfiniteQuery(membersOptions(id)),
    isAtLeast(workspace.role, 'admin') && queryClient.prefetchInfiniteQuery(invitationsOptions(id)),
  ]);
}
