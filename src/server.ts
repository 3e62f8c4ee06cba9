/** The server's process. */
import { relative } from 'node:path';
import type { Config } from './runtime/config.ts';
import { demoLines, prepareDemo } from './runtime/demo-account.ts';
import { runProcess } from './runtime/process.ts';
import { type RunningService, startService } from './runtime/start.ts';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function greet(service: RunningService, config: Config): Promise<void> {
  say(`\nLynxroom listens on ${service.url}\nDocs to browse and try: ${service.url}/docs\n`);
  const demo = await prepareDemo(service.services, config.DATA_DIR, service.url);
  if (demo === null) return;
  const path = relative('.', demo);
  const lines = demoLines(path.startsWith('.') ? path : `./${path}`);
  say(`Try it from another terminal in this folder:\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
}

await runProcess(startService, async (service, config, logger) => {
  if (config.DATABASE_URL !== undefined) return logger.info({ url: service.url }, 'Listening');
  await greet(service, config).catch((error: unknown) => {
    // The service runs all the same.
    logger.error({ err: error }, 'The demo account could not be prepared');
  });
});
