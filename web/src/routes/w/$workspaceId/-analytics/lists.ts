/** Which list shows what a bar counts. */
import { linkOptions } from '@tanstack/react-router';

type Range = { starts_at: number; ends_at: number };
type Filters = { type: string; room?: number; page?: number };

/** The contact events of a range. */
export function toEvents(id: number, { starts_at: from, ends_at: to }: Range, filters: Filters) {
  return linkOptions({
    to: '/w/$workspaceId/activity',
    params: { workspaceId: String(id) },
    search: { ...filters, from, to },
  });
}

/** The contacts that were created in a range. */
export function toContacts(id: number, { starts_at: from, ends_at: to }: Range) {
  return linkOptions({ to: '/w/$workspaceId/contacts', params: { workspaceId: String(id) }, search: { from, to } });
}

export type ListLink = ReturnType<typeof toEvents> | ReturnType<typeof toContacts>;
