import type { Role } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Workspace } from './schemas.ts';

/** The columns that the functions below need. */
export const workspaceColumns = {
  id: true,
  name: true,
  slug: true,
  ownerId: true,
  isPersonal: true,
  mediaRetentionDays: true,
  createdAt: true,
  embedOrigins: true,
} as const;

export type WorkspaceRow = {
  id: number;
  name: string;
  slug: string;
  ownerId: number;
  isPersonal: boolean;
  mediaRetentionDays: number | null;
  createdAt: Date;
  embedOrigins: readonly string[];
};

/** Returns the workspace as a member with this role sees it. */
export function toWorkspace(row: WorkspaceRow, role: Role): Workspace {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    owner_id: row.ownerId,
    created_at: toUnixSeconds(row.createdAt),
    media_retention_days: row.mediaRetentionDays,
    role,
    is_personal: row.isPersonal ? 1 : 0,
    embed_origins: [...row.embedOrigins],
  };
}
