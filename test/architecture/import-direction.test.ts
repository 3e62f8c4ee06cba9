/** The linter's import rules must catch what they are there for: a pattern that matches nothing would pass in silence. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'lynxroom-lint-'));
afterAll(() => rmSync(project, { recursive: true }));

cpSync(fromRoot('biome.json'), join(project, 'biome.json'));

/** What the linter says of a file that has one import, in a project with our configuration and nothing else. */
const lint = (path: string, specifier: string): string => {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `import { thing } from '${specifier}';\n\nthing();\n`);
  const biome = fromRoot('node_modules/@biomejs/biome/bin/biome');
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', '--vcs-enabled=false', path], {
    cwd: project,
    encoding: 'utf8',
  });
  return stdout + stderr;
};

const refused: [path: string, specifier: string][] = [
  ['src/core/probe.ts', '../db/client.ts'],
  ['src/core/probe.ts', 'fastify'],
  ['src/db/probe.ts', '../auth/identify.ts'],
  ['src/storage/probe.ts', '../routers/labels/labels.ts'],
  ['src/events/probe.ts', '../trpc.ts'],
  ['src/auth/probe.ts', '../http/rest.ts'],
  ['src/delivery/probe.ts', '../routers/labels/labels.ts'],
  ['src/providers/probe.ts', '../db/client.ts'],
  ['src/providers/probe.ts', '../routers/ingest/apply-facts.ts'],
  ['src/providers/probe.ts', 'undici'],
  ['src/routers/labels/probe.ts', '../../trpc.ts'],
  ['src/routers/labels/probe.ts', '@trpc/server'],
  ['src/routers/labels/probe.ts', './router.ts'],
  ['src/routers/labels/router.ts', '../library/router.ts'],
  ['src/routers/labels/router.ts', '../../http/rest.ts'],
  ['src/trpc.ts', './routers/index.ts'],
  ['src/http/probe.ts', '../app.ts'],
  ['src/app.ts', './config.ts'],
];

test.each(refused)('%s may not import %s', (path, specifier) => {
  expect(lint(path, specifier)).toContain('noRestrictedImports');
});

const allowed: [path: string, specifier: string][] = [
  ['src/db/probe.ts', '../core/log.ts'],
  ['src/storage/probe.ts', '../db/client.ts'],
  ['src/providers/probe.ts', '../core/time.ts'],
  ['src/routers/labels/probe.ts', '../../auth/identify.ts'],
  ['src/routers/labels/router.ts', '../../trpc.ts'],
  ['src/routers/workspaces/probe.ts', '../members/present.ts'],
];

test.each(allowed)('%s may import %s', (path, specifier) => {
  expect(lint(path, specifier)).toContain('Checked 1 file');
  expect(lint(path, specifier)).not.toContain('noRestrictedImports');
});
