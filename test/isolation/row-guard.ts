/**
 * Row-level security as an instrument: in the database of one test, a policy on every table with workspaces counts, and
 * aborts, each statement that reaches a row of a forbidden workspace. The service itself has no policies.
 */
import pg from 'pg';
import type { TestApp } from '../support/test-app.ts';

export type RowGuard = {
  /**
   * From now on, of the existing workspaces only these may be reached, and of those of the caller only who is a member:
   * that is how a role is found. New workspaces may be reached.
   */
  allowOnly(workspaceIds: readonly number[], callerId?: number): Promise<void>;
  /** From now on, all may be reached. */
  allowAll(): Promise<void>;
  /** How many rows were reached, also by statements that were rolled back and by errors that were caught. */
  countViolations(): Promise<number>;
  close(): Promise<void>;
};

/** The error of a statement that reaches a forbidden row. */
export const REACHED = /reached workspace \d+ in \w+/;

/**
 * The planner is kept from reading whole tables to join them. Conditions on the workspace are then evaluated before the
 * policy, because comparing integers is leakproof, and cheaper. Autovacuum is off, because plans would otherwise
 * depend on when it collects statistics.
 */
const SETUP = `
  create schema guard;
  create table guard.forbidden (workspace_id int primary key, is_callers boolean not null);
  create sequence guard.violations;
  create function guard.may_reach(relation text, id int) returns boolean
  language plpgsql volatile security definer set search_path = guard as $$
  begin
    if not exists (
      select from forbidden where workspace_id = id and not (is_callers and relation = 'members')
    ) then return true; end if;
    -- A sequence keeps its value when the transaction is rolled back.
    perform nextval('violations');
    raise exception 'reached workspace % in %', id, relation;
  end $$;
  grant usage on schema guard to public;
  do $$
  declare relation record;
  begin
    for relation in
      select table_name as name, column_name as column from information_schema.columns
      where table_schema = 'public'
        and (column_name = 'workspace_id' or (table_name, column_name) = ('workspaces', 'id'))
    loop
      execute format('alter table %I enable row level security', relation.name);
      execute format('alter table %I force row level security', relation.name);
      execute format('alter table %I set (autovacuum_enabled = off)', relation.name);
      execute format('create policy guard on %I using (guard.may_reach(%L, %I))', relation.name, relation.name,
        relation.column);
    end loop;
    execute format('alter database %I set enable_seqscan = off', current_database());
    execute format('alter database %I set enable_hashjoin = off', current_database());
    execute format('alter database %I set enable_mergejoin = off', current_database());
  end $$`;

/** Installs the policies, and ends the connections of the application, so that new ones have the settings. */
export async function installRowGuard(app: TestApp): Promise<RowGuard> {
  const client = new pg.Client({ connectionString: app.superuserUrl });
  await client.connect();
  await client.query(SETUP);
  await client.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
  return {
    async allowOnly(workspaceIds, callerId) {
      await client.query('begin; delete from guard.forbidden');
      await client.query(
        `insert into guard.forbidden
         select id, exists (select from members where workspace_id = id and user_id = $2)
         from workspaces where id <> all($1::int[])`,
        [workspaceIds, callerId],
      );
      await client.query('commit');
    },
    async allowAll() {
      await client.query('delete from guard.forbidden');
    },
    async countViolations() {
      const { rows } = await client.query('select last_value - 1 + is_called::int as count from guard.violations');
      return Number(rows[0].count);
    },
    close: () => client.end(),
  };
}
