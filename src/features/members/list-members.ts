import type { Actor } from '../../auth/identify.ts';
import type { Page } from '../../core/list-page.ts';
import type { Role } from '../../core/roles.ts';
import { secondsOf } from '../../db/columns.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { byTime, type ListOrder, type PageText, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bool, float, int, nullable, oneOf, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { ListMembersInput, Member } from './schemas.ts';

const params = { workspaceId: int, pattern: nullable(text) };
const fields = { id: int, name: text, email: text, email_verified: bool, role: oneOf<Role>(), joined_at: float };

const lists = {
  joined_at: { asc: listByJoining('asc'), desc: listByJoining('desc') },
  name: { asc: listByName('asc'), desc: listByName('desc') },
};

/** Lists the members of a workspace. `search` finds a part of the name or of the address. */
export async function listMembers(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { search, sort, order, ...page }: ListMembersInput,
): Promise<Page<Member>> {
  const pattern = search ? toLikePattern(search) : null;
  const read = { workspaceId, pattern };
  const filters = [workspaceId, pattern];
  const { entries, next_cursor } =
    sort === 'name'
      ? await readPage(db.sql, lists.name[order], read, page, filters)
      : await readPage(db.sql, lists.joined_at[order], read, page, filters);
  return { entries: entries.map(({ page_key, ...member }): Member => member), next_cursor };
}

function listByJoining(direction: ListOrder['direction']) {
  return pagedList(`list-members-by-joining-${direction}`, {
    order: byTime('m.joined_at', 'm.user_id', direction),
    params,
    returns: { ...fields, ...timeKey },
    sql: (page) => selectMembers(timeKeyOf('m.joined_at'), page),
  });
}

function listByName(direction: ListOrder['direction']) {
  return pagedList(`list-members-by-name-${direction}`, {
    order: { key: 'lower(u.name)', keyType: 'text', id: 'm.user_id', direction },
    params,
    returns: { ...fields, page_key: text },
    sql: (page) => selectMembers('lower(u.name) as page_key', page),
  });
}

function selectMembers(pageKey: string, { after, window }: PageText): string {
  return `
    select u.id, u.name, u.email, u.email_verified_at is not null as email_verified, m.role,
      ${secondsOf('m.joined_at')} as joined_at, ${pageKey}
    from members m join users u on u.id = m.user_id
    where m.workspace_id = $workspaceId and ($pattern is null or u.name ilike $pattern or u.email ilike $pattern)
    ${after} ${window}`;
}
