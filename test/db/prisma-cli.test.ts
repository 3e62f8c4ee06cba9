/** The commands of Prisma's CLI that docs/development.md names. They must not download anything. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startCommand } from '../support/script-process.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Runs a command of the CLI, and returns its output. No connection to the host of the engines can be opened. */
async function runPrisma(...args: string[]): Promise<{ status: number | null; output: string }> {
  const env = { CHECKPOINT_DISABLE: '1', PRISMA_ENGINES_MIRROR: 'http://127.0.0.1:1' };
  const { ended, output } = startCommand(['node_modules/.bin/prisma', ...args], env, () => undefined);
  const status = await ended;
  return { status, output: output() };
}

test.each([['validate'], ['format', '--check']])('prisma %s accepts the schema', async (...args) => {
  const { status, output } = await runPrisma(...args);
  expect(output).toMatch(/is valid|All files are formatted correctly/);
  expect(status).toBe(0);
});

test('prisma studio serves its page for the database in DATABASE_URL', async () => {
  const port = await freePort();
  const studio = startCommand(
    ['node_modules/.bin/prisma', 'studio', '--browser', 'none', '--port', String(port)],
    { CHECKPOINT_DISABLE: '1', PRISMA_ENGINES_MIRROR: 'http://127.0.0.1:1', DATABASE_URL: database.url },
    (output) => /running at: (\S+)/.exec(output)?.[1],
  );
  try {
    const page = await fetch(await studio.ready);
    expect(await page.text()).toContain('"adapter":"postgres"');
  } finally {
    await studio.end('SIGTERM');
  }
});
