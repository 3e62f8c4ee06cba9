/**
 * `npm run demo`: fills a workspace of the demo account with the month that has just passed, whether the server runs or
 * not. Run again, it changes nothing; what a run that was cut off has left is taken away first.
 */
import { join, relative } from 'node:path';
import pino from 'pino';
import { createRateLimits } from '../../src/auth/rate-limits.ts';
import { createClient } from '../../src/client.ts';
import { logSerializers } from '../../src/core/log.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { findRunningPostgres } from '../../src/db/embedded/running.ts';
import { startSession } from '../../src/features/auth/sessions.ts';
import { buildApp } from '../../src/runtime/app.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { type CreatedServices, createServices } from '../../src/runtime/create-services.ts';
import { demoEmail, prepareDemo, readShellUrl, writeShellEnv } from '../../src/runtime/demo-account.ts';
import type { Services } from '../../src/services.ts';
import { liveAMonth } from './month.ts';

const NAME = 'Acme Studio';
/** What the workspace is called until the month is over, so that one that was cut off is known. */
const UNFINISHED = 'Acme Studio (being filled)';
const DAYS = 30;

const quiet = pino({ level: 'error', serializers: logSerializers });

const unlimited = {
  signInPerEmail: 0,
  signInPerAddress: 0,
  publicPerAddress: 0,
  perCredential: 0,
  exemptLoopback: true,
};

/** The application on a port of its own, whose clock this process moves. */
async function startMovableApp({ services, files }: CreatedServices, cleanup: AsyncDisposableStack) {
  let now = new Date();
  const movable: Services = {
    ...services,
    clock: { now: () => now },
    limits: createRateLimits(unlimited),
    settings: { ...services.settings, sessionDays: 2 * DAYS },
  };
  const app = await buildApp({ services: movable, logger: quiet, files, trustProxy: false, corsOrigins: '*' });
  cleanup.defer(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const moveTo = (at: Date): void => {
    now = at;
  };
  return { url, services: movable, moveTo };
}

type MovableApp = Awaited<ReturnType<typeof startMovableApp>>;

/** Fills the workspace, unless it is there; its id, and what to say. */
async function fill(app: MovableApp, token: string, from: Date): Promise<{ id: number; outcome: string }> {
  const { url, moveTo } = app;
  const client = createClient({ url, token });
  const { workspaces } = await client.workspaces.list.query();
  const found = workspaces.find(({ name }) => name === NAME);
  if (found) return { id: found.id, outcome: `Workspace ${found.id}, ${NAME}, is there already` };
  for (const { id, name } of workspaces) {
    if (name === UNFINISHED) await client.workspaces.delete.mutate({ id });
  }
  const { id } = (await client.workspaces.create.mutate({ name: UNFINISHED })).workspace;
  const { rooms, joins, recordings, bookings, items } = await liveAMonth({
    ...{ url, token, workspaceId: id, from, days: DAYS, moveTo },
  });
  moveTo(new Date());
  await client.workspaces.rename.mutate({ id, name: NAME });
  const counts = `${rooms.length} rooms, ${joins.length} visits, ${recordings.length} recordings, ${bookings.length} bookings and ${items} files`;
  return { id, outcome: `Filled workspace ${id}, ${NAME}, with ${DAYS} days: ${counts}` };
}

async function main(): Promise<string> {
  const config = readConfig(process.env);
  await using cleanup = new AsyncDisposableStack();
  const running = config.DATABASE_URL === undefined ? await findRunningPostgres(config.DATA_DIR) : null;
  const opened = await createServices(
    { ...config, ...(running !== null && { DATABASE_URL: running }) },
    quiet,
    cleanup,
  );
  const address = (await readShellUrl(join(config.DATA_DIR, 'demo.env'))) ?? `http://127.0.0.1:${config.PORT}`;
  if ((await prepareDemo(opened.services, config.DATA_DIR, address)) === null)
    return 'There are accounts already and none of them is the demo account: nothing is done';
  const user = await opened.services.db.user.findUniqueOrThrow({ where: { email: demoEmail } });
  const app = await startMovableApp(opened, cleanup);
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const from = new Date(today - DAYS * DAY_MS);
  app.moveTo(from);
  const { token } = await app.services.db.$transaction((tx) => startSession(app.services, tx, user));
  const { id, outcome } = await fill(app, token, from);
  await createClient({ url: app.url, token }).auth.logout.mutate();
  const path = join(config.DATA_DIR, 'demo-month.env');
  await writeShellEnv(opened.services, { user, workspaceId: id, path, url: address });
  const shown = relative('.', path);
  return `${outcome}\nLook at it while the server runs:\n  . ${shown.startsWith('.') ? shown : `./${shown}`}\n  lynx /analytics`;
}

process.stdout.write(`${await main()}\n`);
