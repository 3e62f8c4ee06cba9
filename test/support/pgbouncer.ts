/** A real pgbouncer in front of the PostgreSQL of the tests, where it is installed. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { makeTempDir } from './temp-dir.ts';

/** Debian installs it in a directory that is only in root's PATH. */
const candidates = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
const NOBODY = 65534;

export type Pgbouncer = {
  /** Returns the URL of a database through pgbouncer. */
  urlOf(databaseUrl: string): string;
  stop(): Promise<void>;
};

/** The path of the program, or undefined. */
export const pgbouncerPath = candidates.map((dir) => join(dir, 'pgbouncer')).find((path) => existsSync(path));

/**
 * Starts pgbouncer with its defaults, apart from `settings`. It connects to the server of `databaseUrl`, with the role
 * of that URL, and accepts every client.
 */
export async function startPgbouncer(databaseUrl: string, settings: Record<string, string>): Promise<Pgbouncer> {
  if (pgbouncerPath === undefined) throw new Error('pgbouncer is not installed');
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const dir = await makeTempDir();
  const port = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const server = `host=${hostname} port=${serverPort} user=${username} password=${password}`;
  const config = join(dir, 'pgbouncer.ini');
  await writeFile(config, `[databases]\n* = ${server}\n[pgbouncer]\n${lines.join('\n')}\n`);
  await chmod(config, 0o644);
  // It does not run as root.
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(pgbouncerPath, ['--quiet', config], { ...identity, cwd: dir, stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const urlOf = (url: string): string => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href;
  await waitUntilItAccepts(urlOf(databaseUrl));
  return {
    urlOf,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function waitUntilItAccepts(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error('pgbouncer does not accept connections');
}
