/** What `npm run release` checks before it packs and publishes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findReleaseFaults } from '../../scripts/release.ts';
import { root } from './packed-client.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n## 0.3.0 (2027-01-01)\n\n### Added\n\n- A.\n\n## 0.2.0 (2026-11-22)\n';
const repository = { url: 'git+https://code.example.org/lynxroom.git' };

function faultsOf(versions: [string, string, string], changelog = CHANGELOG, isDryRun = false): string[] {
  const names = ['lynxroom', '@lynxroom/client', '@lynxroom/cli'];
  const manifests = names.map((name, index) => ({ name, version: versions[index] ?? '', repository }));
  return findReleaseFaults(manifests, changelog, isDryRun);
}

test('a release has one version, with an entry in the changelog, and nothing unreleased', () => {
  expect(faultsOf(['0.3.0', '0.3.0', '0.3.0'])).toEqual([]);
  expect(faultsOf(['0.3.0', '0.3.0', '0.2.1'])).toEqual([
    'The versions differ: lynxroom 0.3.0, @lynxroom/client 0.3.0, @lynxroom/cli 0.2.1',
    'CHANGELOG.md has no entry of 0.2.1',
  ]);
  expect(faultsOf(['0.2.0', '0.2.0', '0.2.0'])).toEqual(['CHANGELOG.md has no entry of 0.2.0']);
  const unreleased = CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n- B.\n');
  expect(faultsOf(['0.3.0', '0.3.0', '0.3.0'], unreleased)).toHaveLength(1);
  expect(faultsOf(['0.3.0', '0.3.0', '0.3.0'], unreleased, true)).toEqual([]);
});

test('the packages of this repository could be released, apart from the repository that they name', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const manifests = ['.', 'packages/client', 'packages/cli'].map((path) => JSON.parse(read(`${path}/package.json`)));
  expect(findReleaseFaults(manifests, read('CHANGELOG.md'), true)).toEqual([]);
  expect(findReleaseFaults(manifests, read('CHANGELOG.md'), false)).toContain(
    '@lynxroom/client names no repository, which the provenance of the package must match',
  );
  for (const { engines, publishConfig, license } of manifests.slice(1))
    expect([engines, publishConfig, license]).toEqual([
      { node: '>=20' },
      { access: 'public', provenance: true },
      'MIT',
    ]);
});
