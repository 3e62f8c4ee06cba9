import { toUnixSeconds } from '../../core/time.ts';
import type { Contact } from './schemas.ts';

export type ContactRow = { id: number; workspaceId: number; name: string; email: string; createdAt: Date };

/** The columns of a `ContactRow`. */
export const contactColumns = { id: true, workspaceId: true, name: true, email: true, createdAt: true } as const;

/** Maps a row to its public shape. */
export function toContact(row: ContactRow): Contact {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    email: row.email,
    created_at: toUnixSeconds(row.createdAt),
  };
}
