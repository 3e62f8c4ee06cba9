/**
 * Which readers see an event in the live updates. Members see the events of the rooms, files and people that they can
 * list (docs/decisions/0041-live-updates.md).
 */
import { isAtLeast, type Role } from '../core/roles.ts';
import { includesScope, type ScopeResource } from '../core/scopes.ts';
import { type LoggedType, loggedTypes } from './catalogue.ts';

export type Viewer = {
  userId: number;
  role: Role;
  /** The scopes of an API key; null for a session, and for a key without scopes. */
  scopes: readonly string[] | null;
};

/**
 * - `members`: every member.
 * - `room hosts`: the user to whom the room belongs, the owner and the admins.
 */
type Audience = 'members' | 'room hosts';

type Rule = {
  audience: Audience;
  /** The resource for which an API key must have a scope that allows reading. */
  resource: ScopeResource;
};

const rules: Record<LoggedType, Rule> = {
  'room.created': { audience: 'members', resource: 'rooms' },
  'room.joined': { audience: 'room hosts', resource: 'rooms' },
  'room.left': { audience: 'room hosts', resource: 'rooms' },
  'recording.started': { audience: 'room hosts', resource: 'recordings' },
  'recording.completed': { audience: 'room hosts', resource: 'recordings' },
  'member.joined': { audience: 'members', resource: 'workspace' },
  'member.left': { audience: 'members', resource: 'workspace' },
  'library_item.uploaded': { audience: 'members', resource: 'library' },
  'library_item.updated': { audience: 'members', resource: 'library' },
  'library_item.deleted': { audience: 'members', resource: 'library' },
  'booking.created': { audience: 'members', resource: 'bookings' },
  'booking.rescheduled': { audience: 'members', resource: 'bookings' },
  'booking.cancelled': { audience: 'members', resource: 'bookings' },
  'contact.created': { audience: 'members', resource: 'contacts' },
};

/**
 * Whether the member sees an event of this type. `roomUserId` is the user to whom the room of the event belongs; null
 * if the event is not about a room, or if the room was deleted.
 */
export function maySee(viewer: Viewer, event: { type: string; roomUserId: number | null }): boolean {
  const isAdmin = isAtLeast(viewer.role, 'admin');
  // A type from a later version: this process does not know its rule.
  if (!isKnown(event.type)) return isAdmin && viewer.scopes === null;
  const { audience, resource } = rules[event.type];
  if (!includesScope(viewer.scopes, { resource, level: 'read' })) return false;
  return isAdmin || audience === 'members' || event.roomUserId === viewer.userId;
}

function isKnown(type: string): type is LoggedType {
  // `as`, because `includes` must accept any string, not only an event type.
  return (loggedTypes as readonly string[]).includes(type);
}
