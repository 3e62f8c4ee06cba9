/** Enforces the layers that `layers.ts` states. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { countRelativePaths, hiddenImportsOf, type Import, importsOf } from './imports.ts';
import {
  features,
  isRelative,
  layers,
  optionalPackages,
  packageOf,
  packages,
  partOf,
  refusalOf,
  resolve,
  workspacePackages,
} from './layers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Source = { path: string; text: string; imports: Import[] };

async function readSources(folder: string): Promise<Source[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.slice(root.length).replaceAll('\\', '/'), entry.name))
    .filter((path) => !path.includes('/generated/'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .map((source) => ({ ...source, imports: importsOf(source.text) }));
}

const packageNames = (await readdir(join(root, 'packages'))).sort();
const src = await readSources('src');
const all = [...src, ...(await Promise.all(packageNames.map((name) => readSources(`packages/${name}/src`)))).flat()];

/** One entry for each import, with the path of its file. */
function importsIn(sources: readonly Source[]): (Import & { path: string })[] {
  return sources.flatMap(({ path, imports }) => imports.map((found) => ({ path, ...found })));
}

describe('the sources', () => {
  test('are read', () => {
    expect(src.length).toBeGreaterThan(200);
    expect(importsIn(src).length).toBeGreaterThan(1_000);
    for (const name of packageNames) expect(all.some(({ path }) => path.startsWith(`packages/${name}/`))).toBe(true);
  });

  test('are TypeScript files', () => {
    const components = 'packages/react/src/index.tsx';
    const others = all.map(({ path }) => path).filter((path) => !path.endsWith('.ts'));
    expect(others).toEqual([components]);
  });

  test('have no relative path of a module besides the imports that are found', () => {
    for (const { path, text, imports } of all) {
      const relative = imports.filter(({ specifier }) => isRelative(specifier));
      expect([path, relative.length]).toEqual([path, countRelativePaths(text)]);
    }
  });

  test('import files that exist', () => {
    const paths = new Set(all.map(({ path }) => path));
    const missing = importsIn(all)
      .filter(({ specifier }) => isRelative(specifier))
      .map(({ path, specifier }) => resolve(path, specifier))
      .filter((target) => !target.startsWith('src/db/generated/') && !paths.has(target));
    expect(missing).toEqual([]);
  });

  test('hide no import, except the path of the binaries of PostgreSQL', () => {
    const hidden = all.flatMap(({ path, text }) => hiddenImportsOf(text).map((form) => `${path}: ${form}`));
    expect(hidden).toEqual(['packages/embedded-postgres/src/binaries.ts: createRequire(import.meta.url']);
  });
});

describe('the layers', () => {
  test('import only what the tables list', () => {
    const refusals = importsIn(all).map(({ path, ...found }) => refusalOf(path, found));
    expect(refusals.filter((line) => line !== null)).toEqual([]);
  });

  test('have a row for every folder of src, every feature and every workspace package', () => {
    const parts = [...new Set(src.map(({ path }) => partOf(path)))].sort();
    const listed = [...Object.keys(layers), ...Object.keys(features).map((name) => `features/${name}`)];
    expect(parts).toEqual(listed.filter((part) => part !== 'features/*').sort());
    expect(packageNames).toEqual(Object.keys(workspacePackages).sort());
  });

  test('list no import between features that no file has', () => {
    const used = new Set(
      importsIn(src)
        .filter(({ specifier }) => isRelative(specifier))
        .map(({ path, specifier }) => `${partOf(path)} -> ${partOf(resolve(path, specifier))}`),
    );
    const listed = Object.entries(features).flatMap(([name, parts]) =>
      parts.map((part) => `features/${name} -> ${part}`),
    );
    expect(listed.filter((edge) => !used.has(edge))).toEqual([]);
  });

  test('list no package that the part does not import', () => {
    const used = new Set(
      importsIn(src).flatMap(({ path, specifier }) => {
        const part = partOf(path);
        const anyPart = part.startsWith('features/') ? 'features/*' : part;
        return [part, anyPart].map((one) => `${one} -> ${packageOf(specifier)}`);
      }),
    );
    const listed = Object.entries(packages).flatMap(([name, parts]) => parts.map((part) => `${part} -> ${name}`));
    expect(listed.filter((edge) => !used.has(edge))).toEqual([]);
  });

  test('import only packages that are installed for production, or may be missing', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const installed = [...Object.keys(dependencies), ...packageNames.map((name) => `@lynxroom/${name}`)];
    const isInstalled = (specifier: string): boolean =>
      installed.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    const missing = importsIn(src)
      .map(({ specifier }) => specifier)
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith('node:') && !isInstalled(specifier));
    // `log-stream.ts` loads it when it is needed, and `test/runtime/production.test.ts` runs without it.
    expect(missing).toEqual(optionalPackages);
  });
});

function code(specifier: string): Import {
  return { specifier, isTypeOnly: false };
}

describe('an import against the layers is refused:', () => {
  test.each([
    ['src/core/probe.ts', '../db/client.ts'],
    ['src/core/probe.ts', 'fastify'],
    ['src/core/probe.ts', 'node:http'],
    ['src/core/probe.ts', 'node:http2'],
    ['src/core/probe.ts', 'node:tls'],
    ['src/core/probe.ts', 'node:dns/promises'],
    ['src/core/probe.ts', 'node:child_process'],
    ['src/core/probe.ts', 'http'],
    ['src/core/probe.ts', 'some-new-package'],
    ['src/db/probe.ts', '../storage/object-store.ts'],
    ['src/storage/probe.ts', '../events/emit.ts'],
    ['src/storage/probe.ts', '../db/generated/client.ts'],
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
    ['src/features/labels/probe.ts', 'jose'],
    ['src/features/labels/probe.ts', '@trpc/server'],
    ['src/features/labels/deeper/probe.ts', '../../library/schemas.ts'],
    ['src/features/meeting-providers/adapters/probe.ts', '../../labels/labels.ts'],
    ['src/features/unlisted/probe.ts', '../../core/time.ts'],
    ['src/features/probe.ts', '../core/time.ts'],
    ['src/routers/probe.ts', './labels.ts'],
    ['src/routers/probe.ts', '../http/rest.ts'],
    ['src/routers/probe.ts', '../runtime/config.ts'],
    ['src/routers/probe.ts', '@fastify/cookie'],
    ['src/trpc/probe.ts', '../routers/index.ts'],
    ['src/services.ts', './features/labels/labels.ts'],
    ['src/http/probe.ts', '../runtime/app.ts'],
    ['src/http/probe.ts', '../features/library/upload.ts'],
    ['src/http/probe.ts', '../routers/index.ts'],
    ['src/http/probe.ts', 'lynxroom/client'],
    ['src/openapi/probe.ts', '../routers/index.ts'],
    ['src/runtime/probe.ts', '../server.ts'],
    ['src/runtime/probe.ts', 'some-new-package'],
    ['src/server.ts', './http/rest.ts'],
    ['packages/client/src/contract.ts', '../../../src/events/catalogue.ts'],
    ['packages/client/src/probe.ts', 'node:fs'],
    ['src/unlisted/probe.ts', '../core/time.ts'],
    ['src/core/probe.ts', '../../test/support/http.ts'],
    ['src/runtime/probe.ts', '@lynxroom/embedded-postgres'],
    ['src/db/probe.ts', '../../packages/embedded-postgres/src/index.ts'],
    ['packages/embedded-postgres/src/probe.ts', '../../../src/core/log.ts'],
    ['packages/embedded-postgres/src/probe.ts', '../test/probe.ts'],
    ['packages/embedded-postgres/src/probe.ts', 'pg'],
    ['packages/unlisted/src/probe.ts', 'pg'],
    ['packages/unlisted/src/probe.ts', './files.ts'],
  ])('%s importing %s', (path, specifier) => {
    expect(refusalOf(path, code(specifier))).toMatch(/may not import/);
  });

  test('a type too', () => {
    const found = { specifier: '../features/library/schemas.ts', isTypeOnly: true };
    expect(refusalOf('src/http/probe.ts', found)).toMatch(/may not import/);
  });
});

describe('an import along the layers is accepted:', () => {
  test.each([
    ['src/core/probe.ts', './time.ts'],
    ['src/core/probe.ts', 'node:crypto'],
    ['src/db/probe.ts', 'pg'],
    ['src/db/probe.ts', './generated/client.ts'],
    ['src/db/probe.ts', '@lynxroom/embedded-postgres'],
    ['packages/embedded-postgres/src/probe.ts', './files.ts'],
    ['packages/embedded-postgres/src/probe.ts', 'node:net'],
    ['src/features/labels/probe.ts', '../../auth/identify.ts'],
    ['src/features/meeting-providers/ingest/probe.ts', '../adapters/index.ts'],
    ['src/features/rooms/probe.ts', '../../db/client.ts'],
    ['src/routers/labels.ts', '../trpc/procedures.ts'],
    ['src/routers/index.ts', './labels.ts'],
    ['src/runtime/probe.ts', 'fastify'],
    ['test/labels/probe.test.ts', '../../src/features/labels/labels.ts'],
    ['test/labels/probe.test.ts', 'some-new-package'],
    ['packages/embedded-postgres/src/probe.ts', 'node:child_process'],
    ['scripts/probe.ts', '../src/db/migrate.ts'],
  ])('%s importing %s', (path, specifier) => {
    expect(refusalOf(path, code(specifier))).toBeNull();
  });

  test('the client importing a type', () => {
    const types = { specifier: '../../../src/events/catalogue.ts', isTypeOnly: true };
    expect(refusalOf('packages/client/src/contract.ts', types)).toBeNull();
    expect(refusalOf('packages/client/src/client.ts', types)).not.toBeNull();
  });
});
