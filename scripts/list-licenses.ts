/** Prints the packages that a server installs, one per line with its version and licence: `npm run licenses`. */
import { readFileSync } from 'node:fs';

export type InstalledPackage = { name: string; version: string; license: string };

/** As in package-lock.json. */
type LockedPackage = { version?: string; license?: string; dev?: boolean; peer?: boolean; link?: boolean };

/** Their package.json has no field `license`; their LICENSE file contains the MIT license. */
const MIT_BY_FILE = ['busboy', 'streamsearch'];

const root = new URL('../', import.meta.url);

/** The third-party packages that are installed without the development dependencies, by name. */
export function listPackages(): InstalledPackage[] {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(new URL('package-lock.json', root), 'utf8'),
  );
  return Object.entries(lock.packages)
    .filter(([path, { dev, peer, link }]) => path.includes('node_modules/') && !dev && !peer && !link)
    .map(([path, { version = '', license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, version, license: license ?? (MIT_BY_FILE.includes(name) ? 'MIT' : 'unknown') };
    })
    .sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

if (import.meta.main) {
  const lines = listPackages().map(({ name, version, license }) => `${name} ${version} ${license}\n`);
  process.stdout.write(lines.join(''));
}
