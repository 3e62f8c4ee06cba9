/** What the command palette finds: entries of `sources`, which need no request, and what the service found. */
import type { Outputs } from '@lynxroom/client';
import type { LinkProps } from '@tanstack/react-router';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { isAtLeast } from '../lib/roles.ts';
import type { Workspace, WorkspaceSummary } from '../lib/workspace.ts';
import { accountPages, navigation, setup } from '../navigation.ts';

/** The headings, in their order. */
export const groups = ['Pages', 'Workspaces', 'Rooms', 'Library'] as const;

export type PaletteEntry = {
  /** Unique among all entries. */
  key: string;
  group: (typeof groups)[number];
  label: string;
  /** More about it, shown beside the label. */
  hint?: string;
  /** A page of the console, or the path of a document that has to be loaded. */
  link: Pick<LinkProps, 'to' | 'params' | 'search'> | string;
};

export type PaletteScope = {
  /** The workspace of the page; null outside of a workspace. */
  workspace: Workspace | null;
  workspaces: readonly WorkspaceSummary[];
};

/** Returns what matches a text, from what the browser has already. */
type PaletteSource = (text: string, scope: PaletteScope) => PaletteEntry[];

/** In the order of the groups. */
export const sources: readonly PaletteSource[] = [findPages, findAccountPages, findWorkspaces];

function findPages(text: string, { workspace }: PaletteScope): PaletteEntry[] {
  if (workspace === null) return [];
  return [...navigation, ...setup]
    .flatMap(({ entries }) => entries)
    .filter(({ label, min = 'member' }) => includes(label, text) && isAtLeast(workspace.role, min))
    .map(({ label, to }) => ({
      key: `page ${to}`,
      group: 'Pages',
      label,
      link: { to, params: { workspaceId: String(workspace.id) } },
    }));
}

function findAccountPages(text: string): PaletteEntry[] {
  return accountPages
    .filter(({ label }) => includes(label, text))
    .map(({ label, to }) => ({ key: `account ${to}`, group: 'Pages', label, hint: 'Account', link: { to } }));
}

function findWorkspaces(text: string, { workspaces }: PaletteScope): PaletteEntry[] {
  return workspaces
    .filter(({ name }) => includes(name, text))
    .slice(0, 20)
    .map(({ id, name }) => ({
      key: `workspace ${id}`,
      group: 'Workspaces',
      label: name,
      link: { to: FIRST_PAGE, params: { workspaceId: String(id) } },
    }));
}

/** The rooms and library items that the service found in a workspace. */
export function toEntries(id: number, { rooms, items }: Outputs['workspaces']['search']): PaletteEntry[] {
  const workspaceId = String(id);
  return [
    ...rooms.flatMap(({ name, display_name }): PaletteEntry[] => [
      {
        key: `room ${name}`,
        group: 'Rooms',
        label: display_name ?? name,
        ...(display_name !== null && { hint: name }),
        link: { to: '/w/$workspaceId/rooms/$roomName', params: { workspaceId, roomName: name } },
      },
      { key: `join ${name}`, group: 'Rooms', label: `Join ${display_name ?? name}`, link: `/room/${name}` },
    ]),
    ...items.map(
      (item): PaletteEntry => ({
        key: `item ${item.id}`,
        group: 'Library',
        label: item.name,
        hint: item.mime_type === 'video/mp4' ? 'MP4' : 'PDF',
        link: { to: '/w/$workspaceId/library', params: { workspaceId }, search: { item: item.id } },
      }),
    ),
  ];
}

/** Whether `label` contains `text`. The case of letters does not matter. */
export function includes(label: string, text: string): boolean {
  return label.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());
}
