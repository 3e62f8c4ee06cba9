/**
 * Which readers see an event in the live updates. Members see the events of the rooms, files and people that they can
 * list (docs/decisions/0041-live-updates.md).
 */
import { isAtLeast, type Role } from '../core/roles.ts';
import { includesScope } from '../core/scopes.ts';
import { isLoggedType, loggedEvents } from './catalogue.ts';

export type Viewer = {
  userId: number;
  role: Role;
  /** The scopes of an API key; null for a session, and for a key without scopes. */
  scopes: readonly string[] | null;
};

/**
 * Whether the member sees an event of this type. `roomUserId` is the user to whom the room of the event belongs; null
 * if the event is not about a room, or if the room was deleted.
 */
export function maySee(viewer: Viewer, event: { type: string; roomUserId: number | null }): boolean {
  const isAdmin = isAtLeast(viewer.role, 'admin');
  // A type from a later version: this process does not know its rule.
  if (!isLoggedType(event.type)) return isAdmin && viewer.scopes === null;
  const { audience, resource } = loggedEvents[event.type];
  if (!includesScope(viewer.scopes, { resource, level: 'read' })) return false;
  return isAdmin || audience === 'members' || event.roomUserId === viewer.userId;
}
