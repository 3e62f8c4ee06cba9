/** The workspaces of the user, and the one that the address names. */
import type { Outputs } from '@lynxroom/client';
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { allPagesOf } from './all-pages.ts';
import { client, trpc } from './client.ts';
import { isAtLeast, type Role } from './roles.ts';
import { local } from './storage.ts';

export type Workspace = Outputs['workspaces']['read']['workspace'];
export type WorkspaceSummary = Outputs['workspaces']['list']['workspaces'][number];

const LAST_KEY = 'lynxroom.workspace';

/** All workspaces of the user. */
export const workspaces = queryOptions({
  queryKey: [...trpc.workspaces.list.queryKey(), 'all'],
  queryFn: ({ signal }) =>
    allPagesOf(
      (cursor) => client.workspaces.list.query({ cursor }, { signal }),
      (page) => page.workspaces,
    ),
});

export function useWorkspaces(): readonly WorkspaceSummary[] {
  return useQuery(workspaces).data ?? [];
}

/** The query of the workspace with this ID. The answer also lists members; `limit` keeps that list to one. */
export function workspaceOptions(id: number) {
  return trpc.workspaces.read.queryOptions({ id, limit: 1 });
}

/** The workspace of a page below `/w/$workspaceId`. Its layout has read it. */
export function useWorkspace(): Workspace {
  return useSuspenseQuery(workspaceOptions(useWorkspaceId())).data.workspace;
}

/** The ID in the address, also of a frame. */
export function useWorkspaceId(): number {
  return Number(useParams({ strict: false, select: ({ workspaceId }) => workspaceId }));
}

/** Whether the user has this role in the workspace of the page, or a higher one. */
export function useHasRole(min: Role): boolean {
  return isAtLeast(useWorkspace().role, min);
}

export function rememberWorkspace(id: number): void {
  local.write(LAST_KEY, String(id));
}

/** Returns the workspace that this browser showed last, if the user is still a member, or else the first. */
export function pickWorkspace(list: readonly WorkspaceSummary[]): WorkspaceSummary | null {
  const last = Number(local.read(LAST_KEY));
  return list.find(({ id }) => id === last) ?? list[0] ?? null;
}
