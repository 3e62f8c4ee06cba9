/** What the command palette finds. Pages add what they have to `sources`. */
import type { LinkProps } from '@tanstack/react-router';
import { client } from '../lib/client.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { isAtLeast } from '../lib/roles.ts';
import type { Workspace, WorkspaceSummary } from '../lib/workspace.ts';
import { accountPages, navigation } from '../navigation.ts';

export type PaletteEntry = {
  /** Unique among all entries. */
  key: string;
  label: string;
  /** What kind of thing it is, shown beside the label. */
  kind: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
};

export type PaletteScope = {
  /** The workspace of the page; null outside of a workspace. */
  workspace: Workspace | null;
  workspaces: readonly WorkspaceSummary[];
  signal: AbortSignal;
};

/** Returns what matches a text. Each source is asked again as the user types, 150 ms after the last key. */
export type PaletteSource = (text: string, scope: PaletteScope) => PaletteEntry[] | Promise<PaletteEntry[]>;

export const sources: readonly PaletteSource[] = [findPages, findWorkspaces, findAccountPages, findInWorkspace];

function findPages(text: string, { workspace }: PaletteScope): PaletteEntry[] {
  if (workspace === null) return [];
  return navigation
    .flatMap(({ entries }) => entries)
    .filter(({ label, min = 'member' }) => includes(label, text) && isAtLeast(workspace.role, min))
    .map(({ label, to }) => ({
      ...{ key: `page ${to}`, label, kind: 'Page' },
      link: { to, params: { workspaceId: String(workspace.id) } },
    }));
}

function findWorkspaces(text: string, { workspaces }: PaletteScope): PaletteEntry[] {
  return workspaces
    .filter(({ name }) => includes(name, text))
    .slice(0, 20)
    .map(({ id, name }) => ({
      ...{ key: `workspace ${id}`, label: name, kind: 'Workspace' },
      link: { to: FIRST_PAGE, params: { workspaceId: String(id) } },
    }));
}

function findAccountPages(text: string): PaletteEntry[] {
  return accountPages
    .filter(({ label }) => includes(label, text))
    .map(({ label, to }) => ({ key: `account ${to}`, label, kind: 'Account', link: { to } }));
}

/** Rooms and items of the library, by their names. */
async function findInWorkspace(text: string, { workspace, signal }: PaletteScope): Promise<PaletteEntry[]> {
  const search = text.trim();
  if (workspace === null || search === '') return [];
  const { rooms, items } = await client.workspaces.search.query({ id: workspace.id, search }, { signal });
  const workspaceId = String(workspace.id);
  return [
    ...rooms.map(
      ({ id, name, display_name }): PaletteEntry => ({
        ...{ key: `room ${id}`, label: display_name ?? name, kind: 'Room' },
        link: { to: '/w/$workspaceId/rooms/$roomName', params: { workspaceId, roomName: name } },
      }),
    ),
    ...items.map(
      ({ id, name }): PaletteEntry => ({
        ...{ key: `item ${id}`, label: name, kind: 'Library' },
        link: { to: '/w/$workspaceId/library', params: { workspaceId }, search: { item: id } },
      }),
    ),
  ];
}

/** Whether `label` contains `text`, whatever the case. */
export function includes(label: string, text: string): boolean {
  return label.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());
}
