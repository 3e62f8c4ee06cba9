/** Which test files cover a change, by the folders of the source tree and the layers that test/architecture states. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { features, layers, partOf } from '../test/architecture/layers.ts';

/** What every change to an operation can break: lists of operations, the document, the number of statements. */
const ABOUT_OPERATIONS = ['test/contract/*.test.ts', 'test/openapi/*.test.ts', 'test/http/queries.test.ts'];

/** Takes no second, and holds for every file. */
const ABOUT_CODE = ['test/architecture/*.test.ts'];

/** Features that are tested in the folder of another one. */
const FOLDERS: Readonly<Record<string, string>> = {
  apps: 'mcp',
  'booking-mails': 'bookings',
  'booking-pages': 'bookings',
  'calendar-feed': 'bookings',
  peers: 'meetings',
};

/** The parts that only put the others together. They do not count as parts that would break with them. */
const ASSEMBLY = ['runtime', 'operator', 'server.ts', 'worker.ts', 'lynxroom.ts'];

/** Every operation runs through these layers. */
const BELOW_OPERATIONS = ['features/*', 'routers', 'trpc', 'http', 'services.ts'];

/** What other commands test, or nothing: docs/development.md names the commands. */
const ELSEWHERE = [
  /^(?:web|examples|tools|assets)\//,
  /^test\/(?:console\/journeys|consumer|generated-clients|chaos|acceptance\/black-box)/,
  /^(?:LICENSE|\.gitignore|\.gitattributes|\.editorconfig)$/,
];

/**
 * Returns the test files that can fail because of a change, sorted, or null if that could be any of them. They are
 * those of the changed part and of the features that import it, those about operations, and those that name a changed
 * file. `paths` are relative to the root of the repository, and may have been deleted.
 */
export function findChangedTests(root: string, paths: readonly string[]): string[] | null {
  const patterns = paths.map((path) => findPatterns(path));
  if (patterns.includes(null)) return null;
  const wanted = new Set(patterns.flatMap((found) => found ?? []));
  const all = globSync(['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !isElsewhere(path));
  const names = paths.filter((path) => /\.(?:ts|mjs|cjs|sql|json)$/.test(path)).map((path) => `/${path}'`);
  return all
    .filter((file) => {
      if ([...wanted].some((pattern) => posix.matchesGlob(file, pattern))) return true;
      const text = readFileSync(posix.join(root, file), 'utf8');
      return names.some((name) => text.includes(name));
    })
    .sort();
}

/** Null if the file can break any test. */
function findPatterns(path: string): string[] | null {
  const [top = '', folder = ''] = path.split('/');
  if (path.endsWith('.md')) return ['test/docs/pages.test.ts', ...ABOUT_CODE];
  if (isElsewhere(path)) return ABOUT_CODE;
  if (top === 'test' || top === 'packages') return findPatternsOfTests(path);
  if (top === 'bench') return ['test/bench/**', ...ABOUT_CODE];
  if (top === '.github' || top === 'ops') return ['test/ops/**'];
  if (top === 'deploy') return ['test/runtime/production.test.ts'];
  if (top === 'docs' || top === 'scripts') return [...ABOUT_CODE, 'test/openapi/*.test.ts'];
  if (top !== 'src') return null;
  if (folder === 'features') return findPatternsOfFeature(path);
  if (folder === 'routers') return findPatternsOfRouter(path);
  return findPatternsOfLayer(folder);
}

function isElsewhere(path: string): boolean {
  return ELSEWHERE.some((pattern) => pattern.test(path));
}

function findPatternsOfTests(path: string): string[] | null {
  if (path.endsWith('.test.ts')) return [path];
  const [top, folder = ''] = path.split('/');
  if (top === 'packages') return [`test/${folder}/**`, `packages/${folder}/test/**`, ...ABOUT_CODE];
  return folder === 'support' ? null : [`test/${folder}/**`];
}

function findPatternsOfFeature(path: string): string[] {
  const part = partOf(path);
  const importers = Object.keys(features).filter((name) => features[name]?.includes(part));
  const names = [part.replace('features/', ''), ...importers];
  return [...names.flatMap(toFolders), ...ABOUT_OPERATIONS, ...ABOUT_CODE];
}

function findPatternsOfRouter(path: string): string[] | null {
  const name = posix.basename(path, '.ts');
  return name === 'index' ? null : [...toFolders(name), ...ABOUT_OPERATIONS, ...ABOUT_CODE];
}

/** The tests of a feature: its folder, and the contract of its operations. */
function toFolders(feature: string): string[] {
  return [`test/${FOLDERS[feature] ?? feature}/**`, `test/contract/operations/${feature}.test.ts`];
}

/** Null if the layer is below all features or all operations, or puts the others together. */
function findPatternsOfLayer(layer: string): string[] | null {
  const importers = Object.keys(layers).filter((name) => !ASSEMBLY.includes(name) && layers[name]?.includes(layer));
  if (ASSEMBLY.includes(layer) || importers.some((name) => BELOW_OPERATIONS.includes(name))) return null;
  const callers = Object.keys(features).filter((name) => features[name]?.includes(layer));
  return [...[layer, ...importers].map((name) => `test/${name}/**`), ...callers.flatMap(toFolders), ...ABOUT_CODE];
}
