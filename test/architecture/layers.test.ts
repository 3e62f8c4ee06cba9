/** The layers of `src`, as `layers.ts` states them, held against the imports themselves. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { features, importsOf, layers, partOf, refusalOf, workspacePackages } from './layers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

async function listSources(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => posix.join(entry.parentPath.slice(root.length).replaceAll('\\', '/'), entry.name))
    .filter((path) => !path.includes('/generated/'));
}

function readImports(paths: readonly string[]): { path: string; specifier: string }[] {
  return paths.flatMap((path) =>
    importsOf(readFileSync(join(root, path), 'utf8')).map((specifier) => ({ path, specifier })),
  );
}

const files = await listSources('src');
const imports = readImports(files);
const packageNames = await readdir(join(root, 'packages'));

describe('the layers', () => {
  test('are read from all of the source', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(imports.length).toBeGreaterThan(1_000);
  });

  test('import only what the table lists', () => {
    expect(imports.map(({ path, specifier }) => refusalOf(path, specifier)).filter((line) => line !== null)).toEqual(
      [],
    );
  });

  test('every folder of src and every feature has its row', () => {
    const parts = new Set(files.map(partOf));
    const known = [...Object.keys(layers), ...Object.keys(features).map((name) => `features/${name}`)];
    expect([...parts].filter((part) => !known.includes(part))).toEqual([]);
    expect(known.filter((part) => part !== 'features/*' && !parts.has(part))).toEqual([]);
  });

  test('list no import between features that no file needs', () => {
    const used = new Set(
      imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ path, specifier }) => `${partOf(path)} -> ${partOf(posix.join(posix.dirname(path), specifier))}`),
    );
    const listed = Object.entries(features).flatMap(([name, parts]) =>
      parts.map((part) => `features/${name} -> ${part}`),
    );
    expect(listed.filter((edge) => !used.has(edge))).toEqual([]);
  });
});

describe('the workspace packages', () => {
  test('have a row each', () => {
    expect(packageNames.sort()).toEqual(Object.keys(workspacePackages).sort());
  });

  test.each(packageNames)('%s imports only what its row lists', async (name) => {
    const paths = await listSources(`packages/${name}/src`);
    expect(paths.length).toBeGreaterThan(0);
    const refusals = readImports(paths).map(({ path, specifier }) => refusalOf(path, specifier));
    expect(refusals.filter((line) => line !== null)).toEqual([]);
  });
});

describe('an import against the layers is refused:', () => {
  test.each([
    ['src/core/probe.ts', '../db/client.ts'],
    ['src/core/probe.ts', 'fastify'],
    ['src/core/probe.ts', 'node:http'],
    ['src/core/probe.ts', 'some-new-package'],
    ['src/db/probe.ts', '../storage/object-store.ts'],
    ['src/storage/probe.ts', '../events/emit.ts'],
    ['src/jobs/probe.ts', '../auth/tokens.ts'],
    ['src/auth/probe.ts', '../features/members/members.ts'],
    ['src/egress/probe.ts', '../webhook-delivery/queue.ts'],
    ['src/media/probe.ts', '../features/library/schemas.ts'],
    ['src/webhook-delivery/probe.ts', '../features/webhooks/schemas.ts'],
    ['src/features/labels/probe.ts', '../../trpc/procedures.ts'],
    ['src/features/labels/probe.ts', '../library/schemas.ts'],
    ['src/features/labels/probe.ts', '../../http/rest.ts'],
    ['src/features/labels/probe.ts', '../../runtime/config.ts'],
    ['src/features/labels/probe.ts', 'fastify'],
    ['src/features/labels/probe.ts', '@trpc/server'],
    ['src/features/meeting-providers/adapters/probe.ts', '../../labels/labels.ts'],
    ['src/routers/probe.ts', './labels.ts'],
    ['src/routers/probe.ts', '../http/rest.ts'],
    ['src/routers/probe.ts', '../runtime/config.ts'],
    ['src/routers/probe.ts', '@fastify/cookie'],
    ['src/trpc/probe.ts', '../routers/index.ts'],
    ['src/services.ts', './features/labels/labels.ts'],
    ['src/http/probe.ts', '../runtime/app.ts'],
    ['src/http/probe.ts', '../features/library/upload.ts'],
    ['src/http/probe.ts', '../routers/index.ts'],
    ['src/openapi/probe.ts', '../routers/index.ts'],
    ['src/runtime/probe.ts', '../server.ts'],
    ['src/server.ts', './http/rest.ts'],
    ['src/unlisted/probe.ts', '../core/time.ts'],
    ['src/core/probe.ts', '../../test/support/http.ts'],
    ['src/runtime/probe.ts', '@lynxroom/embedded-postgres'],
    ['src/db/probe.ts', '../../packages/embedded-postgres/src/index.ts'],
    ['packages/embedded-postgres/src/probe.ts', '../../../src/core/log.ts'],
    ['packages/embedded-postgres/src/probe.ts', 'pg'],
    ['packages/unlisted/src/probe.ts', 'pg'],
  ])('%s importing %s', (path, specifier) => {
    expect(refusalOf(path, specifier)).toMatch(/may not import/);
  });
});

describe('an import along the layers is accepted:', () => {
  test.each([
    ['src/core/probe.ts', './time.ts'],
    ['src/db/probe.ts', 'pg'],
    ['src/db/probe.ts', '@lynxroom/embedded-postgres'],
    ['packages/embedded-postgres/src/probe.ts', './files.ts'],
    ['packages/embedded-postgres/src/probe.ts', 'node:net'],
    ['src/features/labels/probe.ts', '../../auth/identify.ts'],
    ['src/features/rooms/probe.ts', '../../db/client.ts'],
    ['src/routers/labels.ts', '../trpc/procedures.ts'],
    ['src/routers/index.ts', './labels.ts'],
    ['src/runtime/probe.ts', 'fastify'],
  ])('%s importing %s', (path, specifier) => {
    expect(refusalOf(path, specifier)).toBeNull();
  });
});

test('imports are found in every form in which they can be written', () => {
  const source = `import a from './a.ts';
import {
  b,
  type C,
} from './b.ts';
import './c.ts';
export type { D } from './d.ts';
export * from './e.ts';
const f = await import('./f.ts');
`;
  expect(importsOf(source)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts']);
});
