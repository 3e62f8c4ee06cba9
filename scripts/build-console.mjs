/**
 * Builds the console, the pages of `web/src`, into `web/dist`, which the server serves. npm runs it before `npm start`.
 * It does nothing if the sources are those of the last build, if `CONSOLE` is 0, or if there are no sources: a release
 * may contain `web/dist` alone. Otherwise it installs the packages of `web/`, builds, compresses, and prints one line.
 *
 * The service works without the console, so a failure is only a warning, unless the option `--required` is given.
 * `--install-only` installs the packages and builds nothing; with `--unless-built`, only if there is something to
 * build.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { withLock } from './lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'web');
const dist = join(web, 'dist');
/** Where the console is built, until it is complete. */
const unfinished = join(web, '.build');
const FINGERPRINT_FILE = '.fingerprint';

/** What the built files depend on, as paths in the checkout. */
const sources = [
  'web/src',
  'web/public',
  'web/index.html',
  'web/package-lock.json',
  'web/vite.config.ts',
  'web/vite.embed.config.ts',
  'packages/client/src',
  'packages/react/src',
  'src/languages',
  'scripts/build-console.mjs',
];
const GENERATED = 'web/src/routeTree.gen.ts';

const COMPRESSIBLE = /\.(?:css|html|ico|js|json|svg|txt|webmanifest)$/;
const MIN_COMPRESSED_BYTES = 1024;
/** Quality 11 saves another 3 percent, and takes five times as long. */
const BROTLI_QUALITY = 9;

const isRequired = process.argv.includes('--required');
const installsOnly = process.argv.includes('--install-only');
const isUnlessBuilt = process.argv.includes('--unless-built');

if (isWanted()) {
  try {
    if (installsOnly) {
      if (!isUnlessBuilt || !isBuilt()) await withLock('console build', root, install);
    } else if (!isBuilt()) await withLock('console build', root, buildUnlessBuilt);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const consequence = isRequired || installsOnly ? '' : '\nThe service starts without the new console.';
    process.stderr.write(`Failed to build the console: ${message}${consequence}\n`);
    if (isRequired || installsOnly) process.exitCode = 1;
  }
}

function isWanted() {
  return !['0', 'false'].includes(process.env.CONSOLE ?? '') && existsSync(join(web, 'package-lock.json'));
}

function isBuilt() {
  const path = join(dist, FINGERPRINT_FILE);
  return existsSync(path) && readFileSync(path, 'utf8') === createFingerprint();
}

/** Returns a hash of the names and contents of all sources. */
function createFingerprint() {
  const hash = createHash('sha256');
  for (const path of sources.flatMap(listFiles)) {
    if (path !== GENERATED)
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} path
 * @returns {string[]} the file itself, or all files below the directory
 */
function listFiles(path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isFile()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => listFiles(`${path}/${name}`));
}

async function buildUnlessBuilt() {
  // Another process may have built it while this one waited.
  if (isBuilt()) return;
  const start = performance.now();
  const fingerprint = createFingerprint();
  await install();
  const installed = performance.now();
  bundle();
  const bundled = performance.now();
  await compressFiles();
  writeFileSync(join(unfinished, FINGERPRINT_FILE), fingerprint);
  rmSync(dist, { recursive: true, force: true });
  renameSync(unfinished, dist);
  const seconds = (/** @type {number} */ from, /** @type {number} */ to) => `${((to - from) / 1000).toFixed(1)} s`;
  const end = performance.now();
  process.stdout.write(
    `Built the console in ${seconds(start, end)} (packages ${seconds(start, installed)}, ` +
      `pages ${seconds(installed, bundled)}, compression ${seconds(bundled, end)})\n`,
  );
}

/** Installs the packages of `web/`, unless they are installed. */
async function install() {
  if (isInstalled()) return;
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  run('npm', ['ci', '--include=dev', ...quiet]);
}

/** Whether npm has installed what package-lock.json requires. It leaves out optional packages for other platforms. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json');
  return Object.entries(readPackages('package-lock.json')).every(
    ([path, { version, optional }]) => path === '' || optional || installed[path]?.version === version,
  );
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, optional?: boolean }>} empty if there is no such file
 */
function readPackages(path) {
  const file = join(web, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

function bundle() {
  rmSync(unfinished, { recursive: true, force: true });
  const build = ['node_modules/vite/bin/vite.js', 'build', '--outDir', unfinished, '--logLevel', 'warn'];
  run(process.execPath, [...build, '--emptyOutDir']);
  run(process.execPath, [...build, '--config', 'vite.embed.config.ts']);
}

/**
 * Runs a program in `web/`. Throws its output if it fails.
 *
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  // The pages are always built for production, whatever `NODE_ENV` is.
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: web, env, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${stdout}${stderr}`.trim() || `${program} ended with ${status}`);
}

/** Writes the compressed forms of each file beside it. The compression runs in threads. */
async function compressFiles() {
  const names = readdirSync(unfinished, { recursive: true, encoding: 'utf8' }).filter((name) =>
    COMPRESSIBLE.test(name),
  );
  await Promise.all(names.map((name) => compressFile(join(unfinished, name))));
}

/** @param {string} path */
async function compressFile(path) {
  const bytes = await readFile(path);
  if (bytes.length < MIN_COMPRESSED_BYTES) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}
