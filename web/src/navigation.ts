/** The pages of a workspace, in the order of the side navigation and of the command palette. */
import type { LinkProps } from '@tanstack/react-router';
import {
  CalendarClock,
  CalendarDays,
  ChartColumn,
  Contact,
  DoorOpen,
  FolderOpen,
  Gauge,
  KeyRound,
  type LucideIcon,
  Plug,
  ScrollText,
  Settings,
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

export const navigation: readonly NavigationGroup[] = [
  {
    label: 'Work',
    entries: [
      { label: 'Library', to: '/w/$workspaceId/library', icon: FolderOpen },
      { label: 'Rooms', to: '/w/$workspaceId/rooms', icon: DoorOpen },
      { label: 'Contacts', to: '/w/$workspaceId/contacts', icon: Contact },
      { label: 'Analytics', to: '/w/$workspaceId/analytics', icon: ChartColumn },
    ],
  },
  {
    label: 'Appointments',
    entries: [
      { label: 'Bookings', to: '/w/$workspaceId/bookings', icon: CalendarDays },
      { label: 'Booking pages', to: '/w/$workspaceId/booking-pages', icon: CalendarClock },
    ],
  },
  {
    label: 'Developers',
    entries: [
      { label: 'API keys', to: '/w/$workspaceId/api-keys', icon: KeyRound, min: 'admin' },
      { label: 'Webhooks', to: '/w/$workspaceId/webhooks', icon: Webhook, min: 'admin' },
      { label: 'Connections', to: '/w/$workspaceId/connections', icon: Plug, min: 'owner' },
    ],
  },
  {
    label: 'Workspace',
    entries: [
      { label: 'Members', to: '/w/$workspaceId/members', icon: Users },
      { label: 'Usage', to: '/w/$workspaceId/usage', icon: Gauge },
      { label: 'Audit log', to: '/w/$workspaceId/audit', icon: ScrollText, min: 'admin' },
      { label: 'Settings', to: '/w/$workspaceId/settings', icon: Settings },
    ],
  },
];

/** Where a workspace begins. */
export const FIRST_PAGE = '/w/$workspaceId/library';
