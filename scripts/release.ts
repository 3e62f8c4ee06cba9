/**
 * Publishes the packages for other projects: `npm run release`. With `--dry-run`, packs them and publishes nothing.
 * `findReleaseFaults` says what must be put right before.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPackage } from './pack-package.ts';

const PACKAGES = ['client', 'cli', 'react'];
/** The address in the documentation stands for that of your own repository. */
const PLACEHOLDER_HOST = 'git.example.com';

type Manifest = { name: string; version: string; repository?: { url: string } };

/** What prevents the release, one line each. */
export function findReleaseFaults(manifests: readonly Manifest[], changelog: string, isDryRun: boolean): string[] {
  const versions = new Set(manifests.map(({ version }) => version));
  const faults: string[] = [];
  if (versions.size > 1)
    faults.push(`The versions differ: ${manifests.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
  for (const version of versions)
    if (readSection(changelog, version) === '') faults.push(`CHANGELOG.md has no entry of ${version}`);
  if (isDryRun) return faults;
  if (readSection(changelog, 'Unreleased') !== '')
    faults.push('CHANGELOG.md still has entries under "Unreleased", which the packages contain');
  for (const { name, repository } of manifests.slice(1))
    if (repository === undefined || repository.url.includes(PLACEHOLDER_HOST))
      faults.push(`${name} names no repository, which the provenance of the package must match`);
  return faults;
}

/** The text below the heading `## 0.2.0 (2026-11-22)`, or "" without one. */
function readSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version) ?? '';
  return section.split('\n').slice(1).join('\n').trim();
}

async function release(isDryRun: boolean): Promise<void> {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const manifests = ['.', ...PACKAGES.map((name) => `packages/${name}`)].map(
    (folder): Manifest => JSON.parse(read(join(folder, 'package.json'))),
  );
  const faults = findReleaseFaults(manifests, read('CHANGELOG.md'), isDryRun);
  if (faults.length > 0) {
    process.stderr.write(`${faults.join('\n')}\n`);
    process.exitCode = 1;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'lynxroom-release-'));
  try {
    for (const name of PACKAGES) {
      const { id, path, size, files } = await packPackage(`@lynxroom/${name}`, folder);
      process.stdout.write(`${id}: ${basename(path)}, ${files.length} files, ${Math.ceil(size / 1000)} kB\n`);
      // The packed file, so that both packages exist before the first is published.
      if (!isDryRun) execFileSync('npm', ['publish', path], { cwd: root, stdio: 'inherit' });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) await release(process.argv.includes('--dry-run'));
