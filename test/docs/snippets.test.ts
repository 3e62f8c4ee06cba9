/**
 * Every command, program and answer in the guides is run as printed. The blocks of a page run in order, against a
 * server of their own with the embedded database and the demo account.
 */
import { cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { tabNames } from '../../src/docs/tabs.ts';
import { root, run } from '../client/packed-client.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { notRun } from './not-run.ts';
import { type Block, readPages } from './pages.ts';
import { AnswerError, isInstalled, startSession } from './session.ts';

vi.setConfig({ testTimeout: 10 * MINUTE_MS, hookTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

const pages = readPages();
const missing = await findMissingPrograms();
const hasPython = await isInstalled('python3');
if (!hasPython) process.stderr.write('python3 is not installed: the examples in Python are skipped\n');

/** What every page starts from: the data directory of a new server, and the packages. */
let base: string;
beforeAll(async () => {
  base = await makeTempDir();
  await prepareModules();
  const server = startServer({ DATA_DIR: join(base, '.data') });
  await server.ready;
  await stopServer(server);
});
afterAll(() => rm(base, { recursive: true, force: true }));

test('every block that is not run gives a reason, and not-run.ts counts it', () => {
  const counts = pages.map(({ path, blocks }) => [path, blocks.filter(({ noRun }) => noRun !== null).length] as const);
  const found = Object.fromEntries(counts.filter(([, count]) => count > 0));
  expect(found, 'Change test/docs/not-run.ts if these blocks cannot run in a test').toEqual(notRun);
});

test('every example with tabs has the same ones, in the same order', () => {
  for (const { path, blocks } of pages) {
    const tabs = blocks.flatMap(({ tab }) => (tab === null ? [] : [tab]));
    const examples = tabs.length / tabNames.length;
    expect([path, tabs]).toEqual([path, Array.from({ length: examples }, () => tabNames).flat()]);
  }
});

describe('the blocks run, and print what is shown:', () => {
  test.each(
    pages
      .flatMap(({ path, blocks }) => readerChoices(path, blocks))
      .filter(([, blocks]) => runnable(blocks).length > 0),
  )('%s', async (_, blocks) => {
    const dir = await makeCheckout();
    const server = startServer({ DATA_DIR: join(dir, '.data') });
    const session = await startSession(dir, await server.ready);
    try {
      const wrong: string[] = [];
      for (const block of runnable(blocks)) {
        await session.run(block).catch((error) => {
          if (!(error instanceof AnswerError)) throw new Error([...wrong, error.message].join('\n\n'));
          wrong.push(error.message);
        });
      }
      if (wrong.length > 0) throw new Error(wrong.join('\n\n'));
    } finally {
      await session.close();
      await stopServer(server);
      await rm(dir, { recursive: true, force: true });
    }
  });
});

/** The guides that use the library or labels, as README.md does. */
const AFTER_README = ['docs/quick-start.md', 'docs/uploads.md', 'docs/typed-client.md', 'docs/mcp.md', 'docs/cli.md'];

test('the commands of guides work after those of README.md, whose items and labels have the first IDs', async () => {
  const dir = await makeCheckout();
  const server = startServer({ DATA_DIR: join(dir, '.data') });
  const url = await server.ready;
  try {
    for (const path of ['README.md', ...AFTER_README]) {
      const session = await startSession(dir, url);
      const blocks = pages.find((page) => page.path === path)?.blocks ?? [];
      const isChosen = ({ tab }: Block) => tab === null || tab === tabNames[0];
      for (const block of runnable(blocks.filter(isChosen)))
        await session.run(block).catch((error) => {
          // The answers show the IDs of a new installation.
          if (!(error instanceof AnswerError)) throw error;
        });
      await session.close();
    }
  } finally {
    await stopServer(server);
    await rm(dir, { recursive: true, force: true });
  }
});

/**
 * What a reader runs who chooses a language: each run has a server of its own. Without curl, a page ends with its last
 * example.
 */
function readerChoices(path: string, blocks: Block[]): [title: string, blocks: Block[]][] {
  const names = blocks.some(({ tab }) => tab !== null) ? tabNames : tabNames.slice(0, 1);
  const installed = names.filter((name) => name !== 'Python' || hasPython);
  return installed.map((name) => {
    const chosen = blocks.filter(({ tab }) => tab === null || tab === name);
    if (name === 'curl') return [path, chosen];
    // With the answer of the last example.
    return [`${path} in ${name}`, chosen.slice(0, chosen.findLastIndex(({ tab }) => tab !== null) + 2)];
  });
}

/** Without the blocks that are not run, with their answers, and without those whose program is not installed. */
function runnable(blocks: Block[]): Block[] {
  let isSkipped = false;
  return blocks.filter(({ language, noRun, needs, terminal }) => {
    const isAnswer = (language === 'json' || language === 'text') && noRun === null && needs === null;
    if (!isAnswer || terminal !== null) isSkipped = noRun !== null || (needs !== null && missing.has(needs));
    return !isSkipped;
  });
}

async function findMissingPrograms(): Promise<Set<string>> {
  const needed = pages.flatMap(({ blocks }) => blocks.map(({ needs }) => needs)).filter((name) => name !== null);
  const found = new Set<string>();
  for (const name of new Set(needed)) {
    if (await isInstalled(name)) continue;
    const count = needed.filter((one) => one === name).length;
    process.stderr.write(`${name} is not installed: ${count} blocks of the guides are skipped\n`);
    found.add(name);
  }
  return found;
}

/** The packages of the repository. The client is its source, because Node runs no TypeScript in node_modules. */
async function prepareModules(): Promise<void> {
  const [modules, client] = [join(base, 'node_modules'), join(base, 'client')];
  await mkdir(join(modules, '@lynxroom'), { recursive: true });
  await mkdir(client);
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@lynxroom') await symlink(join(root, 'node_modules', name), join(modules, name));
  await writeFile(
    join(client, 'package.json'),
    '{"type":"module","exports":{".":"./index.ts","./testing":"./testing.ts"}}',
  );
  for (const [name, source] of Object.entries({ index: 'index.ts', testing: 'testing/index.ts' }))
    await writeFile(join(client, `${name}.ts`), `export * from '${join(root, 'packages/client/src', source)}';`);
  await symlink(client, join(modules, '@lynxroom/client'));
}

/** A directory with the files of the repository, and data as after the first `npm start`. */
async function makeCheckout(): Promise<string> {
  const dir = await makeTempDir();
  const shared = (await readdir(root)).filter((name) => !['.git', '.data', 'node_modules', 'examples'].includes(name));
  for (const name of shared) await symlink(join(root, name), join(dir, name));
  // Some pages add a file beside the examples.
  await cp(join(root, 'examples'), join(dir, 'examples'), {
    recursive: true,
    filter: (path) => !/node_modules/.test(path),
  });
  await symlink(join(base, 'node_modules'), join(dir, 'node_modules'));
  // The database belongs to another account if root runs the tests.
  await run('cp', ['-a', join(base, '.data'), join(dir, '.data')]);
  return dir;
}
