/** Data directories, servers and queries for the tests of one file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/index.ts';
import { fixturePath, type RunningScript, runScript } from './scripts.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };

type ServerReport = { url?: string; error?: string; message?: string };

export type Harness = {
  /** A directory that every account can enter. */
  base: string;
  /** Copies a data directory whose database has the table `notes` with one row, because initdb is slow. */
  createDataDir(): Promise<string>;
  /** Starts PostgreSQL from this process. */
  start(dataDir: string): Promise<EmbeddedPostgres>;
  /** Starts PostgreSQL from a separate process. */
  startServer(dataDir: string, script?: string, wrapper?: readonly string[]): RunningScript;
  stopServers(): Promise<void>;
  close(): Promise<void>;
};

export async function createHarness(): Promise<Harness> {
  const base = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(base, 0o755);
  const template = join(base, 'template');
  const stateDir = join(base, 'state');
  let servers: RunningScript[] = [];

  function start(dataDir: string): Promise<EmbeddedPostgres> {
    return startEmbeddedPostgres({ dataDir, stateDir, database: 'example', log });
  }

  const postgres = await start(template);
  await query(postgres.url, 'CREATE TABLE notes (text TEXT)');
  await query(postgres.url, `INSERT INTO notes VALUES ('first')`);
  await postgres.stop();

  async function stopServers(): Promise<void> {
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    servers = [];
  }

  return {
    base,
    start,
    stopServers,
    async createDataDir() {
      const dataDir = await mkdtemp(join(base, 'data-'));
      await chmod(dataDir, 0o755);
      // `cp -a` keeps the owner, which Node's own copy does not.
      await once(spawn('cp', ['-a', `${template}/postgres`, dataDir]), 'exit');
      return dataDir;
    },
    startServer(dataDir, script = fixturePath('run-server.ts'), wrapper = []) {
      const server = runScript(script, [dataDir, stateDir], wrapper);
      servers.push(server);
      return server;
    },
    async close() {
      await stopServers();
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** Runs one statement on a new connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function readReport(server: RunningScript): Promise<ServerReport> {
  return JSON.parse(await server.firstLine) as ServerReport; // The fixture prints this shape.
}

export async function readUrl(server: RunningScript): Promise<string> {
  const { url, message } = await readReport(server);
  if (url === undefined) throw new Error(message ?? 'The server printed no URL');
  return url;
}

export async function readPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8'), 10);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
