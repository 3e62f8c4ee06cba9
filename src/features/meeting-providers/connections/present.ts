/** The public shape of a connection. */
import { toUnixSeconds } from '../../../core/time.ts';
import { toProviderKind } from '../adapters/index.ts';
import type { MeetingConnection } from './schemas.ts';

export const connectionColumns = {
  id: true,
  workspaceId: true,
  ingestId: true,
  name: true,
  provider: true,
  mediaOrigin: true,
  createdBy: true,
  createdAt: true,
  updatedAt: true,
  lastEventAt: true,
} as const;

type ConnectionRow = {
  id: number;
  workspaceId: number;
  ingestId: string;
  name: string;
  provider: string;
  mediaOrigin: string | null;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
  lastEventAt: Date | null;
};

/** `origin` is the origin of `ingest_url`. */
export function toConnection(row: ConnectionRow, origin: string): MeetingConnection {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    provider: toProviderKind(row.provider),
    ingest_url: `${origin}/api/ingest/${row.ingestId}`,
    media_url: row.mediaOrigin,
    created_by: row.createdBy,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
    last_event_at: row.lastEventAt && toUnixSeconds(row.lastEventAt),
  };
}
