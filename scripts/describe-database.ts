/** Describes what a database has beyond tables and columns: functions, triggers, constraints, indexes, settings. */
import type { Client } from 'pg';

/** One statement. `table` is null if it belongs to no table. */
type Part = { table: string | null; sql: string };

/** What an extension or Prisma's record of migrations brings is left out. */
const OWN_TABLES = `
  select oid, relname as name, quote_ident(relname) as quoted, reloptions from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> '_prisma_migrations'`;

const ofExtension = (catalog: string, oid: string): string =>
  `exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${oid} and deptype = 'e')`;

/** Each query returns the column `sql`, and the name of the table where there is one, in a fixed order. */
const GLOBAL_QUERIES = [
  `select null as table, format('CREATE EXTENSION %I;', extname) as sql from pg_extension
   where extname <> 'plpgsql' order by extname collate "C"`,
  // Prisma's types and those of tables are no domains and enums of their own.
  `select null as table, format('CREATE DOMAIN %I AS %s%s;', t.typname, format_type(t.typbasetype, t.typtypmod),
     (select string_agg(' ' || pg_get_constraintdef(c.oid, true), '' order by c.conname collate "C")
      from pg_constraint c where c.contypid = t.oid)) as sql
   from pg_type t where t.typtype = 'd' and t.typnamespace = 'public'::regnamespace order by t.typname collate "C"`,
  `select null as table, format('CREATE SEQUENCE %I AS %s;', c.relname, format_type(s.seqtypid, null)) as sql
   from pg_sequence s join pg_class c on c.oid = s.seqrelid
   where not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid
                     and deptype in ('a', 'i'))
   order by c.relname collate "C"`,
  `select null as table, concat(
     (select string_agg(format(E'-- Called by the trigger %s of %s.\n', t.tgname, t.tgrelid::regclass), ''
        order by t.tgrelid::regclass::text collate "C", t.tgname collate "C")
      from pg_trigger t where t.tgfoid = p.oid),
     btrim(pg_get_functiondef(p.oid), E'\n'), ';') as sql
   from pg_proc p
   where p.pronamespace = 'public'::regnamespace and not ${ofExtension('pg_proc', 'p.oid')}
   order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`,
];

const TABLE_QUERIES = [
  `select name as table, format('ALTER TABLE %s SET (%s);', quoted, array_to_string(reloptions, ', ')) as sql
   from (${OWN_TABLES}) as own where reloptions is not null`,
  `select own.name as table, format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED ALWAYS AS (%s) STORED;', own.quoted,
     a.attname, pg_get_expr(d.adbin, d.adrelid, true)) as sql
   from (${OWN_TABLES}) as own join pg_attribute a on a.attrelid = own.oid and a.attgenerated = 's'
     join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   order by a.attname collate "C"`,
  // By kind: primary key, unique, check, exclusion, foreign key. Prisma's schema says which columns are not null.
  `select own.name as table, format(E'ALTER TABLE %s\n  %s;', own.quoted,
     string_agg(format('ADD CONSTRAINT %I %s', c.conname,
       regexp_replace(pg_get_constraintdef(c.oid, true), E'\n *', ' ', 'g')), E',\n  '
       order by position(c.contype in 'pucxf'), c.conname collate "C")) as sql
   from (${OWN_TABLES}) as own join pg_constraint c on c.conrelid = own.oid
   where c.contype in ('p', 'u', 'c', 'x', 'f') group by own.name, own.quoted`,
  `select own.name as table, replace(pg_get_indexdef(i.indexrelid, 0, true), ' WHERE ', E'\n  WHERE ') || ';' as sql
   from (${OWN_TABLES}) as own join pg_index i on i.indrelid = own.oid
     join pg_class c on c.oid = i.indexrelid
   where not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
   order by c.relname collate "C"`,
  `select own.name as table, pg_get_statisticsobjdef(s.oid) || ';' as sql
   from (${OWN_TABLES}) as own join pg_statistic_ext s on s.stxrelid = own.oid order by s.stxname collate "C"`,
  `select own.name as table, regexp_replace(pg_get_triggerdef(t.oid, true),
     ' (FOR EACH|WHEN \\(|EXECUTE FUNCTION)', E'\n  \\\\1', 'g') || ';' as sql
   from (${OWN_TABLES}) as own join pg_trigger t on t.tgrelid = own.oid
   where not t.tgisinternal order by t.tgname collate "C"`,
];

const HEADER = `-- What the migrations add up to, beyond the tables and columns of schema.prisma. Nothing runs it.
-- It is generated: change the database with a migration, then run \`npm run current-sql\`.
`;

/** Returns the content of prisma/current.sql for a database with all migrations. */
export async function toCurrentSql(client: Pick<Client, 'query'>): Promise<string> {
  return `${HEADER}\n${await describeDatabase(client)}`;
}

/**
 * Returns the functions, and then by table the settings, generated columns, constraints, indexes and triggers, as SQL
 * statements that PostgreSQL itself writes. Two databases with the same migrations have the same description.
 */
async function describeDatabase(client: Pick<Client, 'query'>): Promise<string> {
  const globals = await readParts(client, GLOBAL_QUERIES);
  const parts = await readParts(client, TABLE_QUERIES);
  const tables = [...new Set(parts.map(({ table }) => table ?? ''))].sort();
  const sections = tables.map((name) => {
    const statements = parts.filter(({ table }) => table === name).map(({ sql }) => sql);
    return `-- Table ${name}\n\n${statements.join('\n')}`;
  });
  return `${[...globals.map(({ sql }) => sql), ...sections].join('\n\n')}\n`;
}

async function readParts(client: Pick<Client, 'query'>, queries: readonly string[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (const query of queries) parts.push(...(await client.query<Part>(query)).rows);
  return parts;
}
