/** Who may do what in a workspace. Rules are tiny named predicates; the procedures and functions only ask them. */
import { toEnum } from './enums.ts';

export const roles = ['owner', 'admin', 'member'] as const;

export type Role = (typeof roles)[number];

const rank: Record<Role, number> = { member: 1, admin: 2, owner: 3 };

/** Whether `role` is `least` or stands above it. */
export function isAtLeast(role: Role, min: Role): boolean {
  return rank[role] >= rank[min];
}

/** Owners remove anyone else, admins remove members. Leaving by oneself is another matter. */
export function mayRemove(actor: Role, target: Role): boolean {
  return actor === 'owner' ? target !== 'owner' : actor === 'admin' && target === 'member';
}

/** Owners give any role to anyone else; admins turn members into admins and touch neither admins nor the owner. */
export function mayChangeRole(actor: Role, target: Role, next: Role): boolean {
  return actor === 'owner' || (actor === 'admin' && target === 'member' && next !== 'owner');
}

/** The role column of a member as a Role. */
export function toRole(text: string): Role {
  return toEnum(roles, text, 'role');
}
