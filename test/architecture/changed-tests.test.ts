/** `npm run test:changed` finds the tests of what has changed, and leaves the others out. */
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findChangedTests } from '../../scripts/changed-tests.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function find(...paths: string[]): string[] | null {
  return findChangedTests(root, paths);
}

test('a change to a feature runs its tests, those of the features that call it, and those about operations', () => {
  const tests = find('src/features/library/item-labels.ts');
  expect(tests).toEqual(
    expect.arrayContaining([
      'test/library/items.test.ts',
      'test/contract/operations/library.test.ts',
      'test/contract/paths.test.ts',
      'test/recordings/manage.test.ts',
      'test/http/queries.test.ts',
      'test/architecture/layers.test.ts',
    ]),
  );
  const folders = new Set(tests?.map((path) => path.split('/')[1]));
  expect(
    [...folders].filter((name) => ['webhook-delivery', 'runtime', 'bookings', 'cli'].includes(name ?? '')),
  ).toEqual([]);
});

test('every feature and router has tests of its own', () => {
  const sources = globSync(['src/features/*', 'src/routers/*.ts'], { cwd: root }).filter(
    (path) => !/index\.ts$/.test(path),
  );
  expect(sources.length).toBeGreaterThan(50);
  const about = new Set(find('src/routers/nothing.ts'));
  for (const path of sources) {
    const own = (find(path.endsWith('.ts') ? path : `${path}/any.ts`) ?? []).filter((file) => !about.has(file));
    expect(own.length, path).toBeGreaterThan(0);
  }
});

test('a change to what everything uses runs all tests', () => {
  for (const path of [
    'src/db/client.ts',
    'src/runtime/app.ts',
    'prisma/schema.prisma',
    'test/support/http.ts',
    'package.json',
  ])
    expect([path, find(path)]).toEqual([path, null]);
  expect(find('src/routers/labels.ts', 'src/core/time.ts')).toBeNull();
});

test('a changed test runs, and a test that names a changed file runs', () => {
  expect(find('test/rooms/rooms.test.ts')).toEqual(['test/rooms/rooms.test.ts']);
  expect(find('scripts/describe-database.ts')).toContain('test/db/current-sql.test.ts');
  expect(find('packages/embedded-postgres/src/index.ts')?.some((path) => path.startsWith('packages/'))).toBe(true);
});

test('a guide runs the tests of guides', () => {
  expect(find('docs/rooms.md')).toEqual(expect.arrayContaining(['test/docs/pages.test.ts']));
});

test('the files that it finds exist', () => {
  const tests = find('src/features/rooms/read-rooms.ts', 'src/metrics/metrics.ts', 'bench/run.ts') ?? [];
  expect(tests.length).toBeGreaterThan(20);
  expect(tests.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
});
