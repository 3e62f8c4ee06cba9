import { expect, test } from 'vitest';
import { listPackages } from '../../scripts/list-licenses.ts';

/** Licences that let anybody use and distribute the service, if they keep the notices. */
const PERMISSIVE = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  '(MIT OR CC0-1.0)',
  // Of its own files only (mediabunny, which is not changed): what uses them may have any licence.
  'MPL-2.0',
  '(Apache-2.0 AND BSD-3-Clause)',
];

test('every package that a server installs has a permissive licence', () => {
  const packages = listPackages();
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ license }) => !PERMISSIVE.includes(license))).toEqual([]);
});
