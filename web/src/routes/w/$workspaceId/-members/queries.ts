/** What the page of members reads. */
import type { Inputs } from '@lynxroom/client';
import { queryClient, trpc } from '../../../../lib/client.ts';
import { isAtLeast } from '../../../../lib/roles.ts';
import { workspaceOptions } from '../../../../lib/workspace.ts';

export type MemberFilter = Pick<Inputs['members']['list'], 'search' | 'sort' | 'order'>;

export function membersOptions(id: number, filter: MemberFilter = {}) {
  return trpc.members.list.infiniteQueryOptions(
    { id, limit: 50, ...filter },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** Selects the members of a workspace, with any filter. */
export function allMembersOf(id: number) {
  return trpc.members.list.infiniteQueryFilter({ id });
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
