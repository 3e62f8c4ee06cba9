/** Builds the console, installs the tools that drive a browser, and starts one server for all journeys. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { findRunningPostgres } from '../../../../src/db/embedded.ts';
import { root, run } from '../../../client/packed-client.ts';
import { chromiumPath } from '../../../consumer/browser.ts';
import { ffmpegPath } from '../../../support/ffmpeg.ts';
import { startProvider } from '../../../support/openid-provider.ts';
import { startServer, stopServer } from '../../../support/server-process.ts';
import { makeTempDir } from '../../../support/temp-dir.ts';
import { turnserverPath } from './coturn.ts';
import { firefoxPath } from './firefox-path.ts';

export const toolsDir = join(root, 'tools/browser-test');

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the server. */
    consoleUrl: string;
    /** The connection string of its database, for data that would take long over HTTP. */
    databaseUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (chromiumPath === undefined) {
    process.stderr.write('chromium is not installed: the journeys are skipped (on Debian: apt-get install chromium)\n');
  }
  if (firefoxPath === undefined) process.stderr.write('Firefox is not installed: the journeys in it are skipped\n');
  if (turnserverPath === undefined) process.stderr.write('coturn is not installed: its journey is skipped\n');
  if (ffmpegPath === undefined) process.stderr.write('ffmpeg is not installed: the journeys of films are skipped\n');
  await run(process.execPath, [join(root, 'scripts/build-console.mjs'), '--required']);
  if (!existsSync(join(toolsDir, 'node_modules/puppeteer-core'))) {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: toolsDir });
  }
  const dataDir = await makeTempDir();
  const provider = await startProvider('journeys');
  const server = startServer({
    DATA_DIR: dataDir,
    UV_THREADPOOL_SIZE: '8',
    OIDC_JOURNEYS_ISSUER: provider.settings.issuer,
    OIDC_JOURNEYS_CLIENT_ID: provider.settings.clientId,
    OIDC_JOURNEYS_CLIENT_SECRET: provider.settings.clientSecret,
    OIDC_JOURNEYS_LABEL: 'Test ID',
  });
  // The address that passkeys need, and the same site as the cookie.
  const url = (await server.ready).replace('127.0.0.1', 'localhost');
  provider.open(url);
  const person = { sub: 'grace', email: 'grace.at.test.id@example.com', email_verified: true, name: 'Grace Hopper' };
  provider.people.set(person.sub, person);
  provider.signingIn.person = person;
  project.provide('consoleUrl', url);
  project.provide('databaseUrl', (await findRunningPostgres(dataDir)) ?? '');
  return async () => {
    await stopServer(server);
    await provider.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}
