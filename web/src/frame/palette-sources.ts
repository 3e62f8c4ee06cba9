/** What the command palette finds: entries of `sources`, which need no request, and what the service found. */
import type { Outputs } from '@lynxroom/client';
import type { LinkProps } from '@tanstack/react-router';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { isAtLeast } from '../lib/roles.ts';
import { setTheme } from '../lib/theme.ts';
import type { Workspace, WorkspaceSummary } from '../lib/workspace.ts';
import { accountPages, navigation, setup } from '../navigation.ts';

/** The headings, in their order. */
export const groups = [
  'Pages',
  'Actions',
  'Workspaces',
  'Rooms',
  'Library',
  'Recordings',
  'Contacts',
  'Members',
] as const;

export type PaletteEntry = {
  /** Unique among all entries. */
  key: string;
  group: (typeof groups)[number];
  label: string;
  /** More about it, shown beside the label. */
  hint?: string;
  /** A page of the console, the path of a document that has to be loaded, or what is done. */
  target: Pick<LinkProps, 'to' | 'params' | 'search'> | string | (() => void);
};

export type PaletteScope = {
  /** The workspace of the page; null outside of a workspace. */
  workspace: Workspace | null;
  workspaces: readonly WorkspaceSummary[];
  signOut: () => void;
};

/** Returns what matches a text, from what the browser has already. */
type PaletteSource = (text: string, scope: PaletteScope) => PaletteEntry[];

/** In the order of the groups. */
export const sources: readonly PaletteSource[] = [findPages, findAccountPages, findActions, findWorkspaces];

function findPages(text: string, { workspace }: PaletteScope): PaletteEntry[] {
  if (workspace === null) return [];
  return [...navigation, ...setup]
    .flatMap(({ entries }) => entries)
    .filter(({ label, min = 'member' }) => includes(label, text) && isAtLeast(workspace.role, min))
    .map(({ label, to }) => ({
      key: `page ${to}`,
      group: 'Pages',
      label,
      target: { to, params: { workspaceId: String(workspace.id) } },
    }));
}

function findAccountPages(text: string): PaletteEntry[] {
  return accountPages
    .filter(({ label }) => includes(label, text))
    .map(({ label, to }) => ({ key: `account ${to}`, group: 'Pages', label, hint: 'Account', target: { to } }));
}

function findActions(text: string, { workspace, signOut }: PaletteScope): PaletteEntry[] {
  const actions: Omit<PaletteEntry, 'key' | 'group'>[] = [
    ...(workspace === null ? [] : actionsIn(workspace)),
    { label: 'Dark', hint: 'Theme', target: () => setTheme('dark') },
    { label: 'Light', hint: 'Theme', target: () => setTheme('light') },
    { label: 'Sign out', target: signOut },
  ];
  return actions
    .filter(({ label }) => includes(label, text))
    .map((action) => ({ ...action, key: `action ${action.label}`, group: 'Actions' }));
}

function actionsIn({ id, role }: Workspace): Omit<PaletteEntry, 'key' | 'group'>[] {
  const params = { workspaceId: String(id) };
  const upload = { label: 'Upload a file', target: { to: '/w/$workspaceId/library', params } } as const;
  if (!isAtLeast(role, 'admin')) return [upload];
  return [
    { label: 'New room', target: { to: '/w/$workspaceId/rooms', params, search: { dialog: 'new' } } },
    upload,
    { label: 'Invite by mail', target: { to: '/w/$workspaceId/members', params, search: { dialog: 'mail' } } },
  ];
}

function findWorkspaces(text: string, { workspaces }: PaletteScope): PaletteEntry[] {
  return workspaces
    .filter(({ name }) => includes(name, text))
    .slice(0, 20)
    .map(({ id, name }) => ({
      key: `workspace ${id}`,
      group: 'Workspaces',
      label: name,
      target: { to: FIRST_PAGE, params: { workspaceId: String(id) } },
    }));
}

export type Found = Outputs['workspaces']['search'] & {
  recordings: Outputs['recordings']['listInWorkspace']['recordings'];
  contacts: Outputs['contacts']['list']['contacts'];
  members: Outputs['members']['list']['members'];
};

/** What the service found in a workspace. */
export function toEntries(id: number, { rooms, items, recordings, contacts, members }: Found): PaletteEntry[] {
  const workspaceId = String(id);
  return [
    ...rooms.flatMap(({ name, display_name }): PaletteEntry[] => [
      {
        key: `room ${name}`,
        group: 'Rooms',
        label: display_name ?? name,
        ...(display_name !== null && { hint: name }),
        target: { to: '/w/$workspaceId/rooms/$roomName', params: { workspaceId, roomName: name } },
      },
      { key: `join ${name}`, group: 'Rooms', label: `Join ${display_name ?? name}`, target: `/room/${name}` },
    ]),
    ...items.map(
      (item): PaletteEntry => ({
        key: `item ${item.id}`,
        group: 'Library',
        label: item.name,
        hint: item.mime_type === 'video/mp4' ? 'MP4' : 'PDF',
        target: { to: '/w/$workspaceId/library', params: { workspaceId }, search: { item: item.id } },
      }),
    ),
    ...recordings.map(
      (recording): PaletteEntry => ({
        key: `recording ${recording.id}`,
        group: 'Recordings',
        label: recording.title ?? `Recording ${recording.id}`,
        target: {
          to: '/w/$workspaceId/recordings/$recordingId',
          params: { workspaceId, recordingId: String(recording.id) },
        },
      }),
    ),
    ...contacts.map(
      (contact): PaletteEntry => ({
        key: `contact ${contact.id}`,
        group: 'Contacts',
        label: contact.name,
        hint: contact.email,
        target: { to: '/w/$workspaceId/contacts/$contactId', params: { workspaceId, contactId: String(contact.id) } },
      }),
    ),
    ...members.map(
      (member): PaletteEntry => ({
        key: `member ${member.id}`,
        group: 'Members',
        label: member.name,
        hint: member.email,
        target: { to: '/w/$workspaceId/members', params: { workspaceId }, search: { search: member.email } },
      }),
    ),
  ];
}

/** Whether `label` contains `text`. The case of letters does not matter. */
export function includes(label: string, text: string): boolean {
  return label.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());
}
