/**
 * Installs `examples/react` with the packed client outside of the repository, as another project would, and the tools
 * of these tests.
 */
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { packClient, root } from '../client/packed-client.ts';
import { installPackages } from '../support/install-packages.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { chromiumPath } from './browser.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The directory of the installed example. */
    exampleDir: string;
    /** The directory where Playwright and TypeScript 5.9 are installed. */
    toolsDir: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (chromiumPath === undefined) {
    process.stderr.write('chromium is not installed: its tests are skipped (on Debian: apt-get install chromium)\n');
  }
  const dir = await makeTempDir();
  // The lock file of the example names the packed client by this relative path.
  const exampleDir = join(dir, 'examples/react');
  await packClient(dir);
  await installPackages('examples/react', exampleDir);
  const toolsDir = join(dir, 'tools');
  await installPackages('tools/browser-test', toolsDir);
  // Compiles with the example, although it is no part of it.
  await cp(join(root, 'test/client/fixtures'), join(exampleDir, 'fixtures'), { recursive: true });
  const check = { extends: './tsconfig.json', include: ['src', 'fixtures'] };
  await writeFile(join(exampleDir, 'tsconfig.check.json'), JSON.stringify(check));
  project.provide('exampleDir', exampleDir);
  project.provide('toolsDir', toolsDir);
  return () => rm(dir, { recursive: true, force: true });
}
