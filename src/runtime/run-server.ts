/** Runs the server process, and prints where it listens. */
import { flushCompileCache } from 'node:module';
import { relative } from 'node:path';
import { createLocalLink } from '../features/auth/local-sign-in.ts';
import type { Config } from './config.ts';
import { demoCommands, demoEmail, prepareDemo } from './demo-account.ts';
import { describeLocalAccess, localAccessOf } from './local-access.ts';
import { runProcess } from './process.ts';
import { type RunningServer, startServer } from './start.ts';

await runProcess(startServer, async (server, config, logger) => {
  // Otherwise, Node writes the cache only when the process exits on its own.
  flushCompileCache();
  const localAccess = describeLocalAccess(localAccessOf(config));
  if (config.DATABASE_URL !== undefined) {
    logger.info(localAccess);
    return logger.info({ url: server.url }, 'Listening');
  }
  await printBanner(server, config, localAccess).catch((error: unknown) => {
    // The server works without the demo account.
    logger.error({ err: error }, 'Failed to prepare the demo account');
  });
});

async function printBanner({ url, services }: RunningServer, config: Config, localAccess: string): Promise<void> {
  print(`\nLynxroom is listening on ${url}\nAPI reference: ${url}/docs\n${localAccess}\n`);
  const demo = await prepareDemo(services, config.DATA_DIR, url);
  if (demo === null) return;
  const link =
    config.CONSOLE && localAccessOf(config).signsInLocally ? await createLocalLink(services, demoEmail) : null;
  if (link !== null) print(`Open it in a browser, signed in (once, within ten minutes):\n  ${url}${link}\n`);
  const path = relative('.', demo);
  const commands = demoCommands(path.startsWith('.') ? path : `./${path}`);
  print(`Try it from another terminal in this directory:\n${commands.map((command) => `  ${command}`).join('\n')}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
