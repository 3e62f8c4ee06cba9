/** Lets people join workspaces by the domain of their own confirmed address. */
import type { Caller } from '../../auth/identify.ts';
import { notFound, unauthorized } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { mailDomainIn } from '../../core/mail-domains.ts';
import { removedAddressIn } from '../../core/removed-address.ts';
import { toRole } from '../../core/roles.ts';
import { transact } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { addMember } from '../members/add-member.ts';
import { toWorkspace, workspaceColumns } from './present.ts';
import type { JoinableWorkspace, JoinByDomainInput, Workspace } from './schemas.ts';

/**
 * SQL for the workspaces `w` that the user `u` may join. The addresses are compared each time: the domain lets nobody
 * in any more once the owner has another one. Whom a member has removed needs an invitation.
 */
const joinable = `
    from users u
      join workspaces w on w.join_domain = ${mailDomainIn('u.email')}
      join users o on o.id = w.owner_id
    where u.id = $userId and u.email_verified_at is not null and o.email_verified_at is not null
      and o.locked_at is null and ${mailDomainIn('o.email')} = w.join_domain
      and not exists (
        select from removed_members r
        where r.workspace_id = w.id
          and (r.user_id = u.id or r.address_hash = ${removedAddressIn('w.id', 'u.email')}))`;

const joinableWorkspaces = pagedList('list-joinable-workspaces', {
  order: byTime('w.created_at', 'w.id', 'asc'),
  params: { userId: int },
  returns: { id: int, name: text, owner_name: text, ...timeKey },
  sql: ({ after, window }) => `
    select w.id, w.name, o.name as owner_name, ${timeKeyOf('w.created_at')} ${joinable}
      and not exists (select from members m where m.workspace_id = w.id and m.user_id = u.id)
    ${after} ${window}`,
});

/** Lists the workspaces that the caller may join by the domain of their address and has not joined, oldest first. */
export async function listJoinable(
  { db }: Pick<Services, 'db'>,
  { userId }: Caller,
  page: ListPageInput,
): Promise<Page<JoinableWorkspace>> {
  const { entries, next_cursor } = await readPage(db.sql, joinableWorkspaces, { userId }, page, []);
  return { entries: entries.map(({ page_key, ...workspace }) => workspace), next_cursor };
}

/** Keeps the domain from being changed, members from being removed, and the workspace from being deleted. */
const lockByDomain = statement('lock-workspace-by-domain', {
  params: { workspaceId: int, userId: int },
  returns: { id: int },
  sql: `
    select id from workspaces
    where id = $workspaceId and join_domain = (select ${mailDomainIn('email')} from users where id = $userId)
    for share`,
});

/** A statement of its own: one that waited for the lock would see who was removed meanwhile as not removed. */
const findJoinable = statement('find-joinable-workspace', {
  params: { workspaceId: int, userId: int },
  returns: { id: int },
  sql: `select w.id ${joinable} and w.id = $workspaceId`,
});

/**
 * Adds the caller as a member and emits `member.joined`. Changes nothing if they are already a member. Throws 404
 * "Workspace not found" if the domain of their address does not let them in, and 409 if the workspace has reached its
 * quota.
 */
export async function joinByDomain(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { id: workspaceId }: JoinByDomainInput,
): Promise<Workspace> {
  const key = { workspaceId, userId: caller.userId };
  try {
    return await transact(services.db, async (tx) => {
      const [locked] = await sqlIn(tx).run(lockByDomain, key);
      const [found] = locked ? await sqlIn(tx).run(findJoinable, key) : [];
      if (!found) throw notFound('Workspace');
      const workspace = await tx.workspace.findUniqueOrThrow({ where: { id: workspaceId }, select: workspaceColumns });
      await addMember(services, tx, workspace, caller, { role: 'member', by: 'domain' });
      const member = await tx.member.findUniqueOrThrow({ where: { workspaceId_userId: key }, select: { role: true } });
      return toWorkspace(workspace, toRole(member.role));
    });
  } catch (error) {
    // The caller's account has been deleted.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}
