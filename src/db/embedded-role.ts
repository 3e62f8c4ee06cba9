/** The role with which the service uses its embedded PostgreSQL. It owns the database and is not a superuser. */
import { createHmac } from 'node:crypto';
import pg from 'pg';

const ROLE = 'lynxroom';

/**
 * Makes the role the owner of everything that the superuser owns in the database, apart from extensions, whose owner
 * cannot be changed. Databases that earlier versions created belong entirely to the superuser. The sequence of a column
 * gets its new owner together with the table.
 */
const TAKE_OWNERSHIP = `DO $$
DECLARE command text;
BEGIN
  FOR command IN
    WITH own_schemas AS (
      SELECT oid, nspname, nspowner FROM pg_namespace
      WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    ), dependent AS (
      SELECT classid, objid, deptype FROM pg_depend WHERE deptype IN ('e', 'a', 'i')
    )
    SELECT format('SCHEMA %I', nspname) FROM own_schemas WHERE nspowner = current_user::regrole
    UNION ALL
    SELECT format('TABLE %s', c.oid::regclass) FROM pg_class c JOIN own_schemas s ON s.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND relowner = current_user::regrole AND NOT EXISTS (
      SELECT FROM dependent WHERE classid = 'pg_class'::regclass AND objid = c.oid
        AND (deptype = 'e' OR relkind = 'S'))
    UNION ALL
    SELECT format('ROUTINE %s', p.oid::regprocedure) FROM pg_proc p JOIN own_schemas s ON s.oid = pronamespace
    WHERE proowner = current_user::regrole AND NOT EXISTS (
      SELECT FROM dependent WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
    UNION ALL
    SELECT format('TYPE %s', t.oid::regtype) FROM pg_type t JOIN own_schemas s ON s.oid = typnamespace
    WHERE typtype IN ('d', 'e', 'r') AND typowner = current_user::regrole AND NOT EXISTS (
      SELECT FROM dependent WHERE classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e')
  LOOP
    EXECUTE format('ALTER %s OWNER TO ${ROLE}', command);
  END LOOP;
END $$`;

/**
 * Creates the role if it is missing, and makes it the owner of the database and of everything in it. Returns the role's
 * connection string. Nobody else may use the database at the same time.
 */
export async function prepareRole(superuserUrl: string): Promise<string> {
  const url = urlOfRole(superuserUrl);
  const { password, pathname } = new URL(url);
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [ROLE]);
    if (rowCount === 0) await client.query(`CREATE ROLE ${ROLE}`);
    const attributes = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
    await client.query(`ALTER ROLE ${ROLE} WITH ${attributes} PASSWORD '${password}'`);
    const database = pg.escapeIdentifier(decodeURIComponent(pathname.slice(1)));
    await client.query(`ALTER DATABASE ${database} OWNER TO ${ROLE}`);
    await client.query(TAKE_OWNERSHIP);
  } finally {
    await client.end();
  }
  return url;
}

/** Returns the role's connection string. Its password is derived from that of the superuser, and so is not stored. */
export function urlOfRole(superuserUrl: string): string {
  const url = new URL(superuserUrl);
  const password = createHmac('sha256', url.password).update(ROLE).digest('hex');
  return Object.assign(url, { username: ROLE, password }).href;
}
