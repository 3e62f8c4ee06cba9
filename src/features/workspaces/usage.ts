/** Reports how much of its quotas a workspace uses. */
import type { Actor } from '../../auth/identify.ts';
import { exactCount } from '../../db/counters.ts';
import { onlyRow } from '../../db/only-row.ts';
import { float, int, statement } from '../../db/statements.ts';
import type { QuotaName } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import type { Usage } from './schemas.ts';

const findUsage = statement('find-usage', {
  params: { workspaceId: int, userId: int },
  returns: {
    rooms: int,
    items: int,
    bytes: float,
    contacts: int,
    workspaces: int,
    members: int,
    labels: int,
    apiKeys: int,
    webhooks: int,
    connections: int,
  },
  sql: `
    select ${exactCount('rooms')} + w.trashed_room_count as rooms, w.library_item_count + w.trashed_item_count as items,
      w.stored_bytes::float8 as bytes,
      ${exactCount('contacts')} as contacts,
      (select count(*)::int from workspaces where owner_id = $userId) as workspaces,
      (select count(*)::int from members where workspace_id = w.id) as members,
      (select count(*)::int from labels where workspace_id = w.id) as labels,
      (select count(*)::int from api_keys where workspace_id = w.id) as "apiKeys",
      (select count(*)::int from webhooks where workspace_id = w.id) as webhooks,
      (select count(*)::int from meeting_connections where workspace_id = w.id) as connections
    from workspaces w where w.id = $workspaceId`,
});

/** Returns how much of each quota is used. `workspaces` counts the workspaces that the actor owns. */
export async function readUsage(
  { db, settings }: Pick<Services, 'db' | 'settings'>,
  { workspaceId, userId }: Actor,
): Promise<Usage> {
  const row = onlyRow(await db.sql.run(findUsage, { workspaceId, userId }));
  const toEntry = (name: QuotaName) => ({ used: row[name], quota: settings.quotas[name] || null });
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
