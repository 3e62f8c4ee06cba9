/**
 * The benchmark:
 *   npm run bench [-- part] [name=value ...]
 * docs/development.md lists the options. Each part writes its tables into a page of docs. It needs Linux with two CPUs
 * or more.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const CLIENT_CPU = '1';

const parts: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  requests: () => import('./requests/run.ts'),
  uploads: () => import('./uploads.ts'),
  webhooks: () => import('./webhooks-part.ts'),
  processes: () => import('./processes.ts'),
  growth: () => import('./growth.ts'),
  start: () => import('./start-time.ts'),
  fairness: () => import('./fairness/run.ts'),
  monitoring: () => import('./monitoring.ts'),
  console: () => import('./console.ts'),
  meetings: () => import('./meetings.ts'),
};

const [part = 'requests'] = process.argv.slice(2).filter((argument) => !argument.includes('='));
const load = parts[part];
if (load === undefined) {
  console.error(`Unknown part ${part}. The parts are: ${Object.keys(parts).join(', ')}`);
  process.exit(1);
}
// A start and a browser use all CPUs.
if (!['start', 'console', 'meetings'].includes(part)) pinToClientCpu();
const { run } = await load();
await run();
process.exit(0);

/** Moves this process, and thereby PostgreSQL, away from the CPU of the servers. */
function pinToClientCpu(): void {
  if (availableParallelism() < 2) return;
  spawnSync('taskset', ['-a', '-p', '-c', CLIENT_CPU, String(process.pid)], { stdio: 'ignore' });
}
