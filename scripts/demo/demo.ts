/**
 * `npm run demo`: fills a workspace of the demo account with the activity of the last 30 days. It works whether or not
 * the server is running. Running it again changes nothing. After an interrupted run, it starts over with a new
 * workspace.
 */
import { join, relative } from 'node:path';
import pino from 'pino';
import { createClient } from '../../packages/client/src/index.ts';
import { createRateLimits } from '../../src/auth/rate-limits.ts';
import { createSharedCounts } from '../../src/auth/shared-counts.ts';
import { logSerializers } from '../../src/core/log.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { findRunningPostgres } from '../../src/db/embedded.ts';
import { createLocalLink } from '../../src/features/auth/local-sign-in.ts';
import { noClient, startSession } from '../../src/features/auth/sessions.ts';
import { buildApp } from '../../src/runtime/app.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { type CreatedServices, createServices } from '../../src/runtime/create-services.ts';
import { demoEmail, prepareDemo, readShellUrl, writeShellEnv } from '../../src/runtime/demo-account.ts';
import { localAccessOf } from '../../src/runtime/local-access.ts';
import type { Services } from '../../src/services.ts';
import { simulateMonth } from './simulate-month.ts';

const NAME = 'Acme Studio';
/** The name of the workspace until it is complete. A workspace with this name is left over from an interrupted run. */
const INCOMPLETE_NAME = 'Acme Studio (incomplete)';
const DAYS = 30;

const logger = pino({ level: 'error', serializers: logSerializers });

const noRateLimits = {
  signInPerEmail: 0,
  signInPerAddress: 0,
  publicPerAddress: 0,
  perUser: 0,
  exportPerUser: 0,
  exemptLoopback: true,
};

type DemoApp = { url: string; services: Services; setTime(time: Date): void };

async function runDemo(): Promise<string> {
  const config = readConfig(process.env);
  await using cleanup = new AsyncDisposableStack();
  const running = config.DATABASE_URL === undefined ? await findRunningPostgres(config.DATA_DIR) : null;
  const created = await createServices(
    { ...config, ...(running !== null && { DATABASE_URL: running }) },
    logger,
    cleanup,
    (_part, stop) => async () => void (await stop()),
  );
  const serverUrl = (await readShellUrl(join(config.DATA_DIR, 'demo.env'))) ?? `http://127.0.0.1:${config.PORT}`;
  if ((await prepareDemo(created.services, config.DATA_DIR, serverUrl)) === null)
    return 'Nothing to do: this database has accounts, but no demo account';
  const user = await created.services.db.user.findUniqueOrThrow({ where: { email: demoEmail } });
  const app = await startApp(created, cleanup);
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const from = new Date(today - DAYS * DAY_MS);
  app.setTime(from);
  const { token } = await app.services.db.$transaction((tx) =>
    startSession(app.services, tx, user, { ...noClient, method: 'password' }),
  );
  const { id, summary } = await fillWorkspace(app, token, from);
  await createClient({ url: app.url, token }).auth.logout.mutate();
  const path = join(config.DATA_DIR, 'demo-month.env');
  await writeShellEnv(created.services, { user, workspaceId: id, path, url: serverUrl });
  const link = localAccessOf(config).signsInLocally ? await createLocalLink(created.services, demoEmail) : null;
  const page = link === null ? `/w/${id}` : `${link}&workspace=${id}`;
  const isOnce = link === null ? '' : ', signed in (once, within ten minutes)';
  const commands = [`. ${toShellPath(path)}`, 'npm run -s lynxroom -- api /analytics'];
  return `${summary}
${running === null ? 'Start the server, and open' : 'Open'} it in a browser${isOnce}:
  ${serverUrl}${page}
Or look at it in a terminal:
  ${commands.join('\n  ')}`;
}

/** Starts the application on a free port, with a clock that `setTime` sets. */
async function startApp({ services, files }: CreatedServices, cleanup: AsyncDisposableStack): Promise<DemoApp> {
  let now = new Date();
  const counts = createSharedCounts(services);
  cleanup.defer(counts.stop);
  const demoServices: Services = {
    ...services,
    clock: { now: () => now },
    limits: createRateLimits(noRateLimits, counts),
    // The session starts at the beginning of the month and is needed until its end.
    settings: { ...services.settings, sessionDays: 2 * DAYS },
  };
  const app = await buildApp({ services: demoServices, logger, files, trustProxy: false, corsOrigins: '*' });
  cleanup.defer(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const setTime = (time: Date): void => {
    now = time;
  };
  return { url, services: demoServices, setTime };
}

/** Creates and fills the workspace, unless it exists. */
async function fillWorkspace(app: DemoApp, token: string, from: Date): Promise<{ id: number; summary: string }> {
  const { url, setTime } = app;
  const client = createClient({ url, token });
  const { workspaces } = await client.workspaces.list.query();
  const existing = workspaces.find(({ name }) => name === NAME);
  if (existing) return { id: existing.id, summary: `Workspace ${existing.id}, ${NAME}, already exists` };
  for (const { id, name } of workspaces) {
    if (name === INCOMPLETE_NAME) await client.workspaces.delete.mutate({ id });
  }
  const { id } = (await client.workspaces.create.mutate({ name: INCOMPLETE_NAME })).workspace;
  const setTimeAndReport = (time: Date): void => {
    setTime(time);
    reportDay(Math.floor((time.getTime() - from.getTime()) / DAY_MS) + 1);
  };
  const { rooms, joins, recordings, bookings, items } = await simulateMonth({
    url,
    token,
    workspaceId: id,
    from,
    days: DAYS,
    setTime: setTimeAndReport,
  });
  setTime(new Date());
  reportDay(DAYS);
  await client.workspaces.rename.mutate({ id, name: NAME });
  // Each booking makes a room too. Analytics counts all of them, the list of rooms hides those of bookings.
  const all = (await client.analytics.read.query({ workspaceId: id })).kpis.rooms;
  const counts = [
    `${all} rooms (${rooms.length} of the team, ${all - rooms.length} of bookings)`,
    `${joins.length} visits`,
    `${recordings.length} recordings`,
    `${bookings.length} bookings`,
    `${items} files`,
  ];
  return { id, summary: `Filled workspace ${id}, ${NAME}, with ${DAYS} days of activity: ${counts.join(', ')}` };
}

/** Shows the progress in a terminal. The last day removes the line. */
function reportDay(day: number): void {
  if (process.stderr.isTTY) process.stderr.write(day < DAYS ? `\rDay ${day} of ${DAYS} ` : '\r\x1b[K');
}

/** A path that the shell's `.` command does not search for in PATH. */
function toShellPath(path: string): string {
  const fromHere = relative('.', path);
  return fromHere.startsWith('.') ? fromHere : `./${fromHere}`;
}

process.stdout.write(`${await runDemo()}\n`);
