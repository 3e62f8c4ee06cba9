/**
 * Deletes old events and visits, as configured by the operator. This does not affect analytics, which reads precomputed
 * sums instead of these rows.
 */
import { DAY_MS } from '../../core/time.ts';
import type { Database } from '../../db/client.ts';
import { bool, int, nullable, type Sql, type Statement, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** Rows that one statement reads. It deletes and locks only these rows. */
const PAGE_SIZE = 1_000;

type Page = { last: string | null; isMore: boolean | null; deleted: number };
type PageParams = { workspaceId: number; after: string; before: Date };

/**
 * Declares a statement that prunes a page of the rows `t` of a workspace. Ordering by id is almost the same as ordering
 * by time, so pruning stops at a page that ends with a row that is too new to delete.
 */
function declarePruning(name: string, table: string, isOld: string) {
  return statement(name, {
    params: { workspaceId: int, after: text, before: time },
    returns: { last: nullable(text), isMore: nullable(bool), deleted: int },
    sql: `
      with page as materialized (
        select t.* from ${table} t
        where t.workspace_id = $workspaceId and t.id > $after::bigint order by t.id limit ${PAGE_SIZE}),
      deleted as (
        delete from ${table} o using page t
        where o.workspace_id = t.workspace_id and o.id = t.id and ${isOld} returning 1)
      select max(t.id)::text as last,
        count(*) = ${PAGE_SIZE} and (array_agg(t.created_at))[count(*)] < $before as "isMore",
        (select count(*)::int from deleted) as deleted
      from page t`,
  });
}

/** Keeps events that have not been relayed to webhooks yet. */
const pruneEventPage = declarePruning('prune-events', 'events', 't.created_at < $before and t.relayed_at is not null');
const pruneVisitPage = declarePruning(
  'prune-visits',
  'participants',
  "t.created_at < $before and o.status in ('left', 'refused') and coalesce(o.left_at, o.last_seen_at) < $before",
);
const pruneContactEventPage = declarePruning('prune-contact-events', 'contact_events', 't.created_at < $before');

const keepSums = statement('keep-sums-while-pruning', {
  params: {},
  returns: { setting: text },
  sql: "select set_config('lynxroom.keeps_sums', 'on', true) as setting",
});

const nextWorkspace = statement('find-workspace-to-prune', {
  params: { after: int },
  returns: { id: int },
  sql: 'select id from workspaces where id > $after order by id limit 1',
});

type Needs = Pick<Services, 'db' | 'clock' | 'settings'>;

/** Deletes events that are older than `eventRetentionDays`. Returns how many it deleted. */
export function pruneEvents({ db, clock, settings }: Needs): Promise<number> {
  return prune(db, beforeOf(clock, settings.eventRetentionDays), [pruneEventPage]);
}

/**
 * Deletes visits that ended more than `visitRetentionDays` ago, and contact events of that age. Returns how many rows
 * it deleted in total.
 */
export function pruneVisits({ db, clock, settings }: Needs): Promise<number> {
  return prune(db, beforeOf(clock, settings.visitRetentionDays), [pruneVisitPage, pruneContactEventPage]);
}

/** Returns the cutoff time: older rows are deleted. Returns null if rows are kept indefinitely. */
function beforeOf(clock: Services['clock'], days: number): Date | null {
  return days === 0 ? null : new Date(clock.now().getTime() - days * DAY_MS);
}

async function prune(
  db: Database,
  before: Date | null,
  pages: readonly Statement<PageParams, Page>[],
): Promise<number> {
  if (before === null) return 0;
  let deleted = 0;
  for (let workspaceId = 0; ; ) {
    const [workspace] = await db.sql.run(nextWorkspace, { after: workspaceId });
    if (workspace === undefined) return deleted;
    workspaceId = workspace.id;
    for (const page of pages) deleted += await pruneWorkspace(db, page, { workspaceId, before });
  }
}

async function pruneWorkspace(
  db: Database,
  statement: Statement<PageParams, Page>,
  which: Omit<PageParams, 'after'>,
): Promise<number> {
  let deleted = 0;
  for (let after = '0'; ; ) {
    const [page] = await db.sql.transact(async (sql: Sql) => {
      await sql.run(keepSums, {});
      return sql.run(statement, { ...which, after });
    });
    deleted += page?.deleted ?? 0;
    if (!page?.last || !page.isMore) return deleted;
    after = page.last;
  }
}
