/** The servers that the benchmark compares. All run on CPU 0, one of them at work at a time. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScript } from '../upload-servers.ts';
import type { Api } from './operations.ts';

export type TargetName = 'limit' | 'rows-kept' | 'naive-rest' | 'naive-trpc' | 'duties' | 'ours-rest' | 'ours-trpc';

export type Target = { pid: number; url: string; api: Api; stop(): Promise<void> };

export type Databases = { limit: string; ours: string; folder: string };

export const targetNames: readonly TargetName[] = [
  ...(['limit', 'rows-kept', 'naive-rest', 'naive-trpc'] as const),
  ...(['duties', 'ours-rest', 'ours-trpc'] as const),
];

const bench = fileURLToPath(new URL('..', import.meta.url));
const naive = join(bench, 'naive');

/** Starts the servers. `ours-trpc` is the same process as `ours-rest`. */
export async function startTargets(
  names: readonly TargetName[],
  databases: Databases,
  cleanup: AsyncDisposableStack,
): Promise<Map<TargetName, Target>> {
  const targets = new Map<TargetName, Target>();
  for (const name of names) {
    const ours = [...targets].find(([other]) => name.startsWith('ours') && other.startsWith('ours'))?.[1];
    const started = ours ?? (await start(name, databases));
    if (!ours) cleanup.defer(started.stop);
    targets.set(name, { ...started, api: apis[name] });
  }
  return targets;
}

const apis: Record<TargetName, Api> = {
  limit: 'limitRest',
  'rows-kept': 'limitRest',
  'naive-rest': 'limitRest',
  'naive-trpc': 'limitTrpc',
  duties: 'rest',
  'ours-rest': 'rest',
  'ours-trpc': 'trpc',
};

function start(name: TargetName, databases: Databases) {
  const limit = { DATABASE_URL: databases.limit };
  if (name === 'limit') return startScript(join(bench, 'limit.ts'), limit);
  if (name === 'rows-kept') return startScript(join(bench, 'limit.ts'), { ...limit, SHAPE: 'rows' });
  if (name === 'duties') return startScript(join(bench, 'duties/main.ts'), { DATABASE_URL: databases.ours });
  if (name.startsWith('ours')) return startOurs(databases.ours, databases.folder);
  installNaive();
  return startScript(join(naive, name === 'naive-rest' ? 'rest.ts' : 'trpc.ts'), limit);
}

/** Starts our server, or that of another checkout, without the limits that a benchmark would reach. */
export function startOurs(
  databaseUrl: string,
  folder: string,
  env: Record<string, string> = {},
  cpu = '0',
  checkout = join(bench, '..'),
) {
  return startScript(
    join(checkout, 'src/server.ts'),
    {
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(folder, 'files'),
      DATABASE_POOL_SIZE: '16',
      LOG_LEVEL: 'info',
      RATE_LIMIT_SIGNED_IN: '100000000',
      RATE_LIMIT_PUBLIC: '100000000',
      BOOKINGS_PER_NETWORK: '0',
      BOOKINGS_PER_HOST: '0',
      ...Object.fromEntries(['ROOMS', 'LABELS', 'ITEMS', 'CONTACTS'].map((name) => [`QUOTA_${name}`, '0'])),
      ...env,
    },
    cpu,
  );
}

/** Installs the packages that only the naive server needs, when it first runs. */
function installNaive(): void {
  if (existsSync(join(naive, 'generated/client.ts'))) return;
  console.log('Installing the naive server (half a minute) …');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // Generating needs no engine, but the CLI downloads one unless this names a file.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' };
  for (const [command, args] of [
    ['npm', ['ci', ...quiet]],
    ['npx', ['prisma', 'generate']],
  ] as const) {
    const { status } = spawnSync(command, args, { cwd: naive, env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`Failed to install the naive server: ${command} ended with ${status}`);
  }
}
