/** `npm start` under a supervisor that signals npm alone: the server drains, and PostgreSQL ends with it. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { eventually } from '../support/eventually.ts';
import { type ServerProcess, startServerByNpm } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

// Each test starts two servers, which takes minutes on a busy machine. All waits end with an event.
vi.setConfig({ testTimeout: 10 * MINUTE_MS, hookTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

let dataDir: string;
let servers: ServerProcess[];

beforeEach(async () => {
  dataDir = await makeTempDir();
  servers = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.end('SIGTERM')));
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<{ server: ServerProcess; url: string; postgresPid: number }> {
  const server = startServerByNpm({ DATA_DIR: dataDir });
  servers.push(server);
  const url = await server.ready;
  const text = await readFile(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  return { server, url, postgresPid: Number(text.split('\n')[0]) };
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s to npm ends the server and its PostgreSQL', async (signal) => {
  const { server, url, postgresPid } = await start();
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  server.child.kill(signal);
  await server.ended;
  // The server stops PostgreSQL before it ends, and npm waits for the server.
  await eventually(async () => hasEnded(postgresPid));
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  // Nothing holds the data folder, and PostgreSQL was stopped properly.
  const again = await start();
  expect((await fetch(`${again.url}/ready`)).status).toBe(200);
  expect(again.server.output()).not.toMatch(/recover|in use/i);
});
