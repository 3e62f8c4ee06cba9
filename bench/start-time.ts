/**
 * Measures how long `node src/server.ts` takes until `/ready` responds, with everything installed and an existing data
 * directory, so with the embedded PostgreSQL:
 *   npm run bench -- start [rounds=5] [compare=<commit or directory>]
 * A commit is checked out into a temporary worktree. Rounds are interleaved.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import { serverLimits } from './server-limits.ts';
import { cpuMs, freePort, peakMib, spread } from './upload-servers.ts';

type Checkout = { name: string; root: string; dataDir: string };
type Start = { ms: number; cpuMs: number; peakMib: number };

const POLL_MS = 5;
const root = fileURLToPath(new URL('..', import.meta.url));

export async function run(): Promise<void> {
  const { rounds = '5', compare, write } = readOptions();
  await using cleanup = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'lynxroom-start-'));
  // PostgreSQL does not run as root, and its account must be able to enter.
  chmodSync(folder, 0o755);
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const checkouts: Checkout[] = [{ name: 'this checkout', root, dataDir: join(folder, 'data') }];
  if (compare !== undefined) {
    const other = existsSync(compare) ? compare : checkOut(compare, join(folder, 'other'), cleanup);
    checkouts.push({ name: compare, root: other, dataDir: join(folder, 'other-data') });
  }
  // The first start creates the data directory.
  for (const checkout of checkouts) await start(checkout);
  const starts = new Map<Checkout, Start[]>(checkouts.map((checkout) => [checkout, []]));
  for (let round = 0; round < Number(rounds); round += 1)
    for (const checkout of round % 2 === 0 ? checkouts : checkouts.toReversed())
      starts.get(checkout)?.push(await start(checkout));

  const others = starts.get(checkouts[1] ?? { name: '', root: '', dataDir: '' });
  const rows = [...starts].map(([{ name }, values]) => [
    name,
    spread(values.map(({ ms }) => ms)),
    spread(values.map(({ cpuMs }) => cpuMs)),
    spread(values.map(({ peakMib }) => peakMib)),
    others === undefined
      ? ''
      : spread(
          values.map(({ ms }, round) => ms / (others[round]?.ms ?? Number.NaN)),
          2,
        ),
  ]);
  const head = ['Start', 'until ready, ms', 'CPU, ms', 'peak memory, MiB', 'time against the last row'];
  const text = `${describeRun(`${rounds} starts each; median (range).`)}\n\n${toTable(head, rows)}`;
  await writeSection('performance.md', 'start', text, write !== '0');
}

/** Creates a worktree of a commit with everything installed. Returns its directory. */
function checkOut(commit: string, directory: string, cleanup: AsyncDisposableStack): string {
  execute('git', ['worktree', 'add', '--detach', '--force', directory, commit], root);
  cleanup.defer(() => execute('git', ['worktree', 'remove', '--force', directory], root));
  const lockOf = (checkout: string): string => readFileSync(join(checkout, 'package-lock.json'), 'utf8');
  if (lockOf(directory) === lockOf(root)) execute('cp', ['-a', 'node_modules', directory], root);
  execute(process.execPath, ['scripts/setup.mjs'], directory);
  return directory;
}

function execute(command: string, args: string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** Starts the server, waits until it is ready, and stops it. */
async function start(checkout: Checkout): Promise<Start> {
  const port = await freePort();
  const env = { ...process.env, ...serverLimits, PORT: String(port), DATA_DIR: checkout.dataDir };
  const begin = performance.now();
  const child = spawn(process.execPath, ['src/server.ts'], { cwd: checkout.root, env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  while (!(await isReady(port))) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${checkout.name} did not start`);
    await sleep(POLL_MS);
  }
  const ms = performance.now() - begin;
  const { pid = 0 } = child;
  const started = { ms, cpuMs: cpuMs(pid), peakMib: peakMib(pid) };
  child.kill('SIGTERM');
  await exited;
  return started;
}

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
  return response?.ok ?? false;
}
