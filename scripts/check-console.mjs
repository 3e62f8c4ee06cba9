/**
 * Checks the types of the console, `web/src`, of its journeys, `test/console/journeys`, and of `packages/react`. First
 * prepares what the check needs: installs the packages of `web/`, builds the declarations of the client if the API has
 * changed, and generates the route tree.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'web');
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const declarations = join(root, 'packages/client/dist/index.d.ts');
const stamp = join(root, 'packages/client/dist/.fingerprint');

run([join(root, 'scripts/build-console.mjs'), '--install-only']);
buildDeclarations();
await writeRouteTree();
run([tsc, '-p', web]);
run([tsc, '-p', join(root, 'packages/react'), '--noEmit']);
installBrowserTools();
run([tsc, '-p', join(root, 'test/console/journeys')]);

/** The declarations say what every operation takes and returns, so they depend on most of the sources. */
function buildDeclarations() {
  const hash = createHash('sha256');
  for (const folder of ['src', 'packages/client']) {
    for (const path of listSources(join(root, folder))) hash.update(path).update(readFileSync(path));
  }
  const fingerprint = hash.digest('hex');
  if (existsSync(declarations) && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return;
  run([join(root, 'packages/client/build.ts')]);
  writeFileSync(stamp, fingerprint);
}

/**
 * @param {string} directory
 * @returns {string[]}
 */
function listSources(directory) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|json)$/.test(name) && !/^(?:dist|build|node_modules)\//.test(name))
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

/** Generates the route tree as the bundler's plugin does. */
async function writeRouteTree() {
  const generator = join(web, 'node_modules/@tanstack/router-generator/dist/esm/index.js');
  const { Generator, getConfig } = await import(pathToFileURL(generator).href);
  const config = getConfig({ target: 'react', autoCodeSplitting: true, disableLogging: true }, web);
  await new Generator({ config, root: web }).run();
}

/** Installs the packages of the browser tests, which contain the types of Playwright. */
function installBrowserTools() {
  const directory = join(root, 'tools/browser-test');
  if (existsSync(join(directory, 'node_modules/puppeteer-core'))) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: directory, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string[]} args */
function run(args) {
  const { status, error } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
