/** The public shape of an API key. */
import { toUnixSeconds } from '../../core/time.ts';
import type { ApiKey } from './schemas.ts';

export const keyColumns = {
  id: true,
  workspaceId: true,
  name: true,
  keyPrefix: true,
  createdBy: true,
  isOfWorkspace: true,
  scopes: true,
  allowedNetworks: true,
  isActive: true,
  expiresAt: true,
  lastUsedAt: true,
  lastUsedAddress: true,
  createdAt: true,
  rotatedAt: true,
  previousKeyPrefix: true,
  previousExpiresAt: true,
  previousLastUsedAt: true,
  previousLastUsedAddress: true,
  creator: { select: { name: true } },
} as const;

export type KeyRow = {
  id: number;
  workspaceId: number;
  name: string;
  keyPrefix: string;
  createdBy: number;
  isOfWorkspace: boolean;
  scopes: string[];
  allowedNetworks: string[];
  isActive: boolean;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedAddress: string | null;
  createdAt: Date;
  rotatedAt: Date | null;
  previousKeyPrefix: string | null;
  previousExpiresAt: Date | null;
  previousLastUsedAt: Date | null;
  previousLastUsedAddress: string | null;
  creator: { name: string };
};

export function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    key_prefix: row.keyPrefix,
    created_by: row.createdBy,
    created_by_name: row.creator.name,
    belongs_to: row.isOfWorkspace ? 'workspace' : 'user',
    scopes: emptyToNull(row.scopes),
    allowed_networks: emptyToNull(row.allowedNetworks),
    is_active: row.isActive ? 1 : 0,
    expires_at: toSeconds(row.expiresAt),
    last_used_at: toSeconds(row.lastUsedAt),
    last_used_address: row.lastUsedAddress,
    created_at: toUnixSeconds(row.createdAt),
    rotated_at: toSeconds(row.rotatedAt),
    previous_key: toPreviousKey(row),
  };
}

function toPreviousKey(row: KeyRow): ApiKey['previous_key'] {
  if (row.previousKeyPrefix === null || row.previousExpiresAt === null) return null;
  return {
    key_prefix: row.previousKeyPrefix,
    expires_at: toUnixSeconds(row.previousExpiresAt),
    last_used_at: toSeconds(row.previousLastUsedAt),
    last_used_address: row.previousLastUsedAddress,
  };
}

function emptyToNull(list: string[]): string[] | null {
  return list.length === 0 ? null : list;
}

function toSeconds(time: Date | null): number | null {
  return time && toUnixSeconds(time);
}
