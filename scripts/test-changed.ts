/**
 * `npm run test:changed`: runs the tests that a change can break. The change is everything since the main branch,
 * committed or not. `-- --list` prints the files only.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findChangedTests } from './changed-tests.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const args = process.argv.slice(2);
const tests = findChangedTests(root, listChangedFiles());
if (args.includes('--list')) console.log(tests === null ? 'all tests' : tests.join('\n'));
else if (tests?.length === 0) console.log('Nothing has changed since the main branch');
else run(tests);

/** Runs the files, or all tests. */
function run(files: string[] | null): void {
  console.log(files === null ? 'The change can break any test: running all' : `Running ${files.length} test files`);
  const command = ['node_modules/vitest/vitest.mjs', 'run', ...args, ...(files ?? [])];
  process.exitCode = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** The files that differ from where this branch left the main branch, with new files. */
function listChangedFiles(): string[] {
  const base = findBase();
  const changed = git('diff', '--name-only', '--no-renames', base);
  const added = git('ls-files', '--others', '--exclude-standard');
  return [...new Set(`${changed}\n${added}`.split('\n').filter((path) => path !== ''))];
}

function findBase(): string {
  for (const branch of ['origin/main', 'main']) {
    try {
      return git('merge-base', 'HEAD', branch);
    } catch {
      // A clone may lack one of them.
    }
  }
  return 'HEAD';
}

function git(...command: string[]): string {
  return execFileSync('git', command, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
