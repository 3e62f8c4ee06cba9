/**
 * `npm run acceptance -- https://host --token lns_... [--key lnk_...] [--profile smoke|full]`: checks a running
 * installation against the contract. Ends with 1 if an operation does not behave as documented.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = 'Usage: npm run acceptance -- <url> [--token <session>] [--key <API key>] [--profile smoke|full]';

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      token: { type: 'string', default: process.env.LYNXROOM_TOKEN },
      key: { type: 'string', default: process.env.LYNXROOM_KEY },
      profile: { type: 'string', default: 'smoke' },
    },
  });
  const url = positionals[0] ?? process.env.LYNXROOM_URL ?? '';
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new Error('Name the URL of the installation');
  if (!values.token) throw new Error('Pass the token of a session with --token or LYNXROOM_TOKEN');
  if (!['smoke', 'full'].includes(values.profile)) throw new Error('--profile must be smoke or full');
  return { url: new URL(url).origin, token: values.token, key: values.key ?? '', profile: values.profile };
}

function run({ url, token, key, profile }: ReturnType<typeof readOptions>): number {
  const names = { ACCEPTANCE_URL: url, ACCEPTANCE_TOKEN: token, ACCEPTANCE_KEY: key, ACCEPTANCE_PROFILE: profile };
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/acceptance/vitest.config.ts'];
  const cwd = fileURLToPath(new URL('../', import.meta.url));
  const { status } = spawnSync(process.execPath, [...args, '--reporter=verbose'], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...names },
  });
  return status ?? 1;
}

try {
  process.exitCode = run(readOptions());
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 2;
}
