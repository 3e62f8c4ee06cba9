/** Reads what lies in the trash. */
import type { Actor } from '../../auth/identify.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { isAtLeast, type Role } from '../../core/roles.ts';
import { creatorNameOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, ints, nullable, oneOf, type Sql, statement, text, texts } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { TRASH_DAYS, type TrashEntry, type TrashKind, trashKinds } from './schemas.ts';

/** The role that may delete things of a kind. It may also restore them, and delete them for good. */
const minRoles: Readonly<Record<TrashKind, Role>> = {
  library_item: 'member',
  recording: 'admin',
  room: 'admin',
};

const entryFields = {
  id: int,
  kind: oneOf<TrashKind>(),
  resource_id: int,
  name: text,
  size: float,
  created_at: float,
  trashed_by: nullable(int),
  trashed_by_name: text,
  trashed_at: float,
  expires_at: float,
};
// The entries of its recordings have the bytes of a room.
const sizeOf = `
      case t.kind when 'room' then (
        select coalesce(sum(c.size), 0) from trash_entries c
        where c.workspace_id = t.workspace_id and c.room_id = t.resource_id and c.with_room)
      else t.size end::float8`;
// The display name of a room may have the name of a guest, so it is read from the room, from which it can be erased.
const nameOf = `case when t.kind = 'recording' then
      coalesce(nullif(t.record->>'title', ''), r.display_name, t.name) else t.name end`;
const entryColumns = `
    t.id, t.kind, t.resource_id, ${nameOf} as name, ${sizeOf} as size, ${secondsOf('t.created_at')} as created_at,
      t.trashed_by, ${creatorNameOf('u.name')} as trashed_by_name, ${secondsOf('t.trashed_at')} as trashed_at,
      ${secondsOf(`t.trashed_at + interval '${TRASH_DAYS} days'`)} as expires_at`;
const entryTables = `trash_entries t left join users u on u.id = t.trashed_by
      left join rooms r on r.workspace_id = t.workspace_id and r.id = t.room_id`;

const entriesOf = pagedList('list-trash', {
  order: byTime('t.trashed_at', 't.id', 'desc'),
  params: { workspaceId: int, kinds: texts },
  returns: { ...entryFields, ...timeKey },
  sql: ({ after, window }) => `
    select ${entryColumns}, ${timeKeyOf('t.trashed_at')} from ${entryTables}
    where t.workspace_id = $workspaceId and t.kind = any($kinds) and not t.with_room ${after} ${window}`,
});

const entriesById = statement('read-trash-entries', {
  params: { workspaceId: int, kinds: texts, entryIds: ints },
  returns: entryFields,
  sql: `
    select ${entryColumns} from ${entryTables}
    where t.workspace_id = $workspaceId and t.kind = any($kinds) and t.id = any($entryIds)
      and not t.with_room order by t.id`,
});

/** The kinds of things that the actor may restore and delete. */
export function kindsOf({ role }: Pick<Actor, 'role'>): TrashKind[] {
  return trashKinds.filter((kind) => isAtLeast(role, minRoles[kind]));
}

/** The lowest role that may do this with things of all these kinds. */
export function minRoleOf(kinds: readonly TrashKind[]): Role {
  const roles = kinds.map((kind) => minRoles[kind]);
  return roles.reduce((highest, role) => (isAtLeast(role, highest) ? role : highest), 'member');
}

/** Lists what the actor may restore, newest first. */
export function listTrash({ db }: Pick<Services, 'db'>, actor: Actor, page: ListPageInput): Promise<Page<TrashEntry>> {
  const { workspaceId } = actor;
  const kinds = kindsOf(actor);
  return readPage(db.sql, entriesOf, { workspaceId, kinds }, page, [workspaceId, ...kinds]);
}

/** Returns those of the entries that exist and that the actor may restore. */
export function readEntries(sql: Sql, actor: Actor, entryIds: readonly number[]): Promise<TrashEntry[]> {
  return sql.run(entriesById, { workspaceId: actor.workspaceId, kinds: kindsOf(actor), entryIds: [...entryIds] });
}
