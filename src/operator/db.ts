/** `lynxroom db`: prints the URL of the database, or opens psql. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError, type Context } from '@lynxroom/cli';
import { createLog, findRunning, readSettings, withDatabase } from './settings.ts';

export async function printUrl(context: Context): Promise<undefined> {
  const config = readSettings(context);
  const url = config.DATABASE_DIRECT_URL ?? config.DATABASE_URL ?? (await findRunning(config, createLog(context)));
  if (url === null) {
    throw new CliError(
      `No server is running on the data directory ${config.DATA_DIR}, so its PostgreSQL is not running either: ` +
        'run npm start, or npm run database for PostgreSQL alone',
    );
  }
  context.print({ url }, url);
  return undefined;
}

/** Resolves with the exit code of psql. */
export async function runPsql(context: Context): Promise<number> {
  const config = readSettings(context);
  return withDatabase(config, createLog(context), async (connectionString) => {
    // Other users of the machine can see arguments, but not the environment.
    const url = new URL(connectionString);
    // PostgreSQL also accepts the password as a parameter, which takes precedence.
    const password = url.searchParams.get('password') ?? decodeURIComponent(url.password);
    if (url.searchParams.has('password')) {
      url.searchParams.delete('password');
      // psql does not decode a +.
      url.search = url.search.replaceAll('+', '%20');
    }
    url.password = '';
    const env = { ...context.env, ...(password !== '' && { PGPASSWORD: password }) };
    const psql = spawn('psql', [url.href, ...context.args], { stdio: 'inherit', env });
    try {
      // `as`: the first argument of `close` is the exit status, or null.
      const [status] = (await once(psql, 'close')) as [number | null];
      return status ?? 1;
    } catch (cause) {
      throw new CliError('psql is not installed (on Debian: apt-get install postgresql-client)', { cause });
    }
  });
}
