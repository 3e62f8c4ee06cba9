/** Prints the packages that a server installs, one per line with its version and licence: `npm run licenses`. */
import { readFileSync } from 'node:fs';

export type InstalledPackage = { name: string; version: string; license: string };

type Dependencies = Record<string, string>;

/** As in package-lock.json. */
type LockedPackage = {
  version?: string;
  license?: string;
  link?: boolean;
  dependencies?: Dependencies;
  optionalDependencies?: Dependencies;
  peerDependencies?: Dependencies;
};

/** Their package.json has no field `license`; their LICENSE file contains the MIT license. */
const MIT_BY_FILE = ['busboy', 'streamsearch'];
/** Types that a package of the service has as a peer, but that the service does not need: npm's `--omit=peer`. */
const OMITTED_PEERS = ['typescript'];

const FOLDER = 'node_modules/';
const root = new URL('../', import.meta.url);

/** The third-party packages that `scripts/setup.mjs --production` installs on some platform, by name. */
export function listPackages(): InstalledPackage[] {
  const packages = readLock();
  return listProductionPaths()
    .map((path) => {
      const { version = '', license } = packages[path] ?? {};
      const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
      return { name, version, license: license ?? (MIT_BY_FILE.includes(name) ? 'MIT' : 'unknown') };
    })
    .sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/** Their paths, such as `node_modules/pg`: what the project and the workspaces in `packages` depend on. */
export function listProductionPaths(): string[] {
  const packages = readLock();
  const found = new Set<string>();
  const waiting = ['', ...Object.keys(packages).filter((path) => /^packages\/[^/]+$/.test(path))];
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[from] ?? {};
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    for (const name of names.filter((name) => !OMITTED_PEERS.includes(name))) {
      const path = resolve(packages, from, name);
      // A link leads to a workspace. An optional peer may not be installed.
      if (path === undefined || packages[path]?.link || found.has(path)) continue;
      found.add(path);
      waiting.push(path);
    }
  }
  return [...found];
}

function readLock(): Record<string, LockedPackage> {
  return JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')).packages;
}

/** Finds a package as Node does: in the nearest `node_modules` above `from`. */
function resolve(packages: Record<string, LockedPackage>, from: string, name: string): string | undefined {
  for (let directory = from; ; directory = parentOf(directory)) {
    const path = `${directory === '' ? '' : `${directory}/`}${FOLDER}${name}`;
    if (packages[path] !== undefined) return path;
    if (directory === '') return undefined;
  }
}

function parentOf(directory: string): string {
  const at = directory.lastIndexOf(`/${FOLDER}`);
  return at === -1 ? '' : directory.slice(0, at);
}

if (import.meta.main) {
  const lines = listPackages().map(({ name, version, license }) => `${name} ${version} ${license}\n`);
  process.stdout.write(lines.join(''));
}
