/** The pages of a workspace and of the account, in the order of the side navigation and of the command palette. */
import type { LinkProps } from '@tanstack/react-router';
import {
  AppWindow,
  CalendarClock,
  CalendarDays,
  ChartColumn,
  CircleUser,
  Contact,
  DoorOpen,
  FileDown,
  Film,
  FolderOpen,
  Gauge,
  History,
  House,
  KeyRound,
  type LucideIcon,
  MonitorSmartphone,
  Palette,
  Plug,
  ScrollText,
  Settings,
  ShieldCheck,
  Trash2,
  Users,
  Webhook,
} from 'lucide-react';
import type { Role } from './lib/roles.ts';

export type NavigationEntry = {
  label: string;
  to: NonNullable<LinkProps['to']>;
  icon: LucideIcon;
  /** The role that the page needs. Others do not see the entry. */
  min?: Role;
};

export type NavigationGroup = { label: string; entries: readonly NavigationEntry[] };

/** What everybody does every day. */
export const navigation: readonly NavigationGroup[] = [
  { label: 'Start', entries: [{ label: 'Home', to: '/w/$workspaceId', icon: House }] },
  {
    label: 'Meetings',
    entries: [
      { label: 'Rooms', to: '/w/$workspaceId/rooms', icon: DoorOpen },
      { label: 'Upcoming and past', to: '/w/$workspaceId/meetings', icon: History },
    ],
  },
  {
    label: 'Files',
    entries: [
      { label: 'Recordings', to: '/w/$workspaceId/recordings', icon: Film },
      { label: 'Library', to: '/w/$workspaceId/library', icon: FolderOpen },
      { label: 'Trash', to: '/w/$workspaceId/trash', icon: Trash2 },
    ],
  },
  {
    label: 'Booking',
    entries: [
      { label: 'Bookings', to: '/w/$workspaceId/bookings', icon: CalendarDays },
      { label: 'Booking pages', to: '/w/$workspaceId/booking-pages', icon: CalendarClock },
    ],
  },
  {
    label: 'People',
    entries: [
      { label: 'Contacts', to: '/w/$workspaceId/contacts', icon: Contact },
      { label: 'Analytics', to: '/w/$workspaceId/analytics', icon: ChartColumn },
    ],
  },
];

/** What is set up now and then, below a line. */
export const setup: readonly NavigationGroup[] = [
  {
    label: 'Developers',
    entries: [
      { label: 'API keys', to: '/w/$workspaceId/api-keys', icon: KeyRound, min: 'admin' },
      { label: 'Webhooks', to: '/w/$workspaceId/webhooks', icon: Webhook, min: 'admin' },
      { label: 'Embedding', to: '/w/$workspaceId/embedding', icon: AppWindow, min: 'admin' },
      { label: 'Connections', to: '/w/$workspaceId/connections', icon: Plug, min: 'owner' },
    ],
  },
  {
    label: 'Workspace',
    entries: [
      { label: 'Members', to: '/w/$workspaceId/members', icon: Users },
      { label: 'Usage', to: '/w/$workspaceId/usage', icon: Gauge },
      { label: 'Audit log', to: '/w/$workspaceId/audit', icon: ScrollText, min: 'admin' },
      { label: 'Branding', to: '/w/$workspaceId/branding', icon: Palette, min: 'owner' },
      { label: 'Settings', to: '/w/$workspaceId/settings', icon: Settings },
    ],
  },
];

/** The pages of the account. */
export const accountPages: readonly NavigationEntry[] = [
  { label: 'Profile', to: '/account', icon: CircleUser },
  { label: 'Security', to: '/account/security', icon: ShieldCheck },
  { label: 'Sessions', to: '/account/sessions', icon: MonitorSmartphone },
  { label: 'Connected apps', to: '/account/apps', icon: Plug },
  { label: 'Activity', to: '/account/activity', icon: History },
  { label: 'Your data', to: '/account/data', icon: FileDown },
];
