import type { Outputs } from '@lynxroom/client';

export type Role = Outputs['workspaces']['read']['workspace']['role'];

const rank: Record<Role, number> = { member: 1, admin: 2, owner: 3 };

export const roleLabels: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member' };

/** Whether `role` is `min` or higher. */
export function isAtLeast(role: Role, min: Role): boolean {
  return rank[role] >= rank[min];
}
