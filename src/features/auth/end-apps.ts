/** Ends the connected apps of an account. */
import { type AuditActor, recordAudits } from '../../audit/record-audit.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, json, statement, text } from '../../db/statements.ts';

const refs = json<readonly { workspace_id: number | null; id: number | null }[]>();

/** Ends the connected apps with these IDs. */
export const endApps = statement('end-apps', {
  plansAnew: true,
  params: { refs },
  sql: `
    delete from oauth_grants g using jsonb_to_recordset($refs) as r (workspace_id int, id int)
    where g.workspace_id = r.workspace_id and g.id = r.id`,
});

const endAppsOfUser = statement('end-apps-of-user', {
  params: { userId: int },
  returns: { workspace_id: int, id: int, name: text },
  sql: `
    delete from oauth_grants g using oauth_clients c where g.user_id = $userId and c.id = g.client_id
    returning g.workspace_id, g.id, c.name`,
});

/**
 * Ends all connected apps of a user, for example because the password changes, and records it in the logs of their
 * workspaces. Returns how many there were. Call it after the user has been locked: connecting an app waits for this
 * lock.
 */
export async function endAppsOf(tx: Tx, userId: number, at: Date, actor: AuditActor): Promise<number> {
  const ended = await sqlIn(tx).run(endAppsOfUser, { userId });
  await recordAudits(
    sqlIn(tx),
    ended.map(({ workspace_id: workspaceId, id, name }) => ({
      workspaceId,
      at,
      actor,
      action: 'app.disconnected',
      target: { kind: 'app', id, name },
    })),
  );
  return ended.length;
}
