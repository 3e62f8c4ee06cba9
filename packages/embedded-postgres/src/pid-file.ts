import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The content of `postmaster.pid`, which a running PostgreSQL writes. */
export type PidFile = { pid: number; port: number; isReady: boolean };

const PORT_LINE = 3;
const STATUS_LINE = 7;

/** Reads `postmaster.pid`. Returns undefined if the file is missing or has no process id. */
export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const lines = (await readFile(pidFilePath(clusterDir), 'utf8').catch(() => '')).split('\n');
  // The id is negative while PostgreSQL runs in single-user mode.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isInteger(pid) || pid === 0) return undefined;
  return { pid, port: Number(lines[PORT_LINE]), isReady: lines[STATUS_LINE]?.trim() === 'ready' };
}

export function pidFilePath(clusterDir: string): string {
  return join(clusterDir, 'postmaster.pid');
}
