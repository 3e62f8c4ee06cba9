/** What a workspace uses of its quotas. */
import type { Actor } from '../../auth/identify.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { QuotaName } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import type { Usage } from './schemas.ts';

/** Returns how much of each quota is used. `workspaces` counts those that the actor owns. */
export async function readUsage(
  { db, settings }: Pick<Services, 'db' | 'settings'>,
  { workspaceId, userId }: Actor,
): Promise<Usage> {
  const rows = await db.$queryRaw<Record<QuotaName, bigint | number>[]>`
    select w.room_count as rooms, w.library_item_count as items, w.stored_bytes as bytes,
      (select count(*) from workspaces where owner_id = ${userId}) as workspaces,
      (select count(*) from members where workspace_id = w.id) as members,
      (select count(*) from labels where workspace_id = w.id) as labels,
      (select coalesce(sum(count), 0) from contact_days where workspace_id = w.id)::bigint as contacts,
      (select count(*) from api_keys where workspace_id = w.id) as "apiKeys",
      (select count(*) from webhooks where workspace_id = w.id) as webhooks,
      (select count(*) from meeting_connections where workspace_id = w.id) as connections
    from workspaces w where w.id = ${workspaceId}`;
  const row = onlyRow(rows);
  const toEntry = (name: QuotaName) => ({ used: Number(row[name]), quota: settings.quotas[name] || null });
  return {
    workspaces: toEntry('workspaces'),
    members: toEntry('members'),
    rooms: toEntry('rooms'),
    labels: toEntry('labels'),
    items: toEntry('items'),
    bytes: toEntry('bytes'),
    contacts: toEntry('contacts'),
    api_keys: toEntry('apiKeys'),
    webhooks: toEntry('webhooks'),
    connections: toEntry('connections'),
  };
}
