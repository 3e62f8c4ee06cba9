/** The roles in a workspace, and the permission rules as named predicates. */
import { toEnum } from './enums.ts';

export const roles = ['owner', 'admin', 'member'] as const;

export type Role = (typeof roles)[number];

const rank: Record<Role, number> = { member: 1, admin: 2, owner: 3 };

/** Whether `role` is `min` or higher. */
export function isAtLeast(role: Role, min: Role): boolean {
  return rank[role] >= rank[min];
}

/** Whether the actor may remove another member. An owner may remove anyone; an admin may remove only members. */
export function mayRemove(actor: Role, target: Role): boolean {
  return actor === 'owner' ? target !== 'owner' : actor === 'admin' && target === 'member';
}

/**
 * Whether the actor may give the role `next` to another member. An owner may give any role to anyone. An admin may turn
 * members into admins, but cannot change the role of an admin or the owner.
 */
export function mayChangeRole(actor: Role, target: Role, next: Role): boolean {
  return actor === 'owner' || (actor === 'admin' && target === 'member' && next !== 'owner');
}

/** Converts the role column of a member. */
export function toRole(text: string): Role {
  return toEnum(roles, text, 'role');
}
