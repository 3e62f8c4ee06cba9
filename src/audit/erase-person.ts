import { int, nullable, type Sql, statement } from '../db/statements.ts';

/**
 * Erases the user's name and addresses from the entries in which they are the actor, and the details of entries about
 * their membership. The ids remain. Without `workspaceId`, erases them in all logs.
 */
const erase = statement('erase-audit-details', {
  params: { userId: int, workspaceId: nullable(int) },
  returns: { erased: int },
  sql: `
    with actors as (
      select workspace_id, id from audit_log
      where actor_user_id = $userId and actor_user_id is not null and actor_details is not null
        and ($workspaceId is null or workspace_id = $workspaceId)),
    members as (
      select workspace_id, id from audit_log
      where target_kind = 'member' and target_id = $userId and details is not null
        and ($workspaceId is null or workspace_id = $workspaceId)),
    entries as (
      select workspace_id, id, bool_or(is_actor) as is_actor, bool_or(is_target) as is_target
      from (select *, true as is_actor, false as is_target from actors
        union all select *, false, true from members) found
      group by 1, 2),
    erased as (
      update audit_log a set actor_details = case when not e.is_actor then a.actor_details end,
        actor_salt = case when not e.is_actor then a.actor_salt end,
        details = case when not e.is_target then a.details end,
        details_salt = case when not e.is_target then a.details_salt end
      from entries e where a.workspace_id = e.workspace_id and a.id = e.id returning 1)
    select count(*)::int as erased from erased`,
});

/**
 * Erases the personal fields of a user in the audit log of a workspace, or of all workspaces (null). Their hashes stay,
 * so the chain can still be verified. Returns the number of entries.
 */
export async function erasePerson(sql: Sql, userId: number, workspaceId: number | null): Promise<number> {
  const [row] = await sql.run(erase, { userId, workspaceId });
  return row?.erased ?? 0;
}
