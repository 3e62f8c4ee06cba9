import type { Actor } from '../../auth/identify.ts';
import { includesScope } from '../../core/scopes.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { int, nullable, oneOf, statement, text } from '../../db/statements.ts';
import type { LibraryType } from '../../media/file-type.ts';
import type { Services } from '../../services.ts';
import type { SearchAnswer, SearchInput } from './schemas.ts';

const params = { workspaceId: int, pattern: text, limit: int };

/**
 * A search compares this many rooms, the newest ones, without an index. Each comparison takes a few microseconds. A
 * trigram index, as for library items, would cost about 70 µs for each new room, and rooms are created far more often
 * than they are searched.
 */
export const MAX_SEARCHED_ROOMS = 20_000;

const rooms = statement('search-rooms', {
  params,
  returns: { id: int, name: text, display_name: nullable(text) },
  sql: `
    with newest as (
      select id, name, display_name, last_used_at from rooms where workspace_id = $workspaceId
      order by created_at desc, id desc limit ${MAX_SEARCHED_ROOMS})
    select id, name, display_name from newest
    where name ilike $pattern or display_name ilike $pattern
    order by last_used_at desc, id desc limit $limit`,
});

// First finds the items with the index `library_items_search`, and then sorts them in the order of the library list.
const items = statement('search-items-of-workspace', {
  params,
  returns: { id: int, name: text, mime_type: oneOf<LibraryType>() },
  sql: `
    with matching as materialized (
      select id, name, mime_type, created_at from library_items
      where workspace_id::bigint = $workspaceId::bigint and name ilike $pattern)
    select id, name, mime_type from matching order by created_at desc, id desc limit $limit`,
});

/**
 * Searches a workspace's rooms and library items by name, for a command palette. Searches only the 20,000 newest rooms
 * of the workspace. The most recently used rooms and the most recently added items come first. A key finds only what
 * its scopes let it read. The two searches run in parallel.
 */
export async function searchWorkspace(
  { db }: Pick<Services, 'db'>,
  { workspaceId, credential }: Actor,
  { search, limit }: SearchInput,
): Promise<SearchAnswer> {
  const values = { workspaceId, pattern: toLikePattern(search), limit };
  const [foundRooms, foundItems] = await db.sql.runBoth(
    (sql) => sql.run(rooms, values),
    (sql) => sql.run(items, values),
  );
  const held = credential?.kind === 'key' ? credential.scopes : null;
  const mayRead = (resource: 'rooms' | 'library') => includesScope(held, { resource, level: 'read' });
  return { rooms: mayRead('rooms') ? foundRooms : [], items: mayRead('library') ? foundItems : [] };
}
