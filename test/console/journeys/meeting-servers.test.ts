/** Meetings while the processes of the service restart, and through a relay whose credentials end. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { createHttp } from '../../support/http.ts';
import { startScript } from '../../support/script-process.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import type { TestApp } from '../../support/test-app.ts';
import { addPerson } from '../../support/world.ts';
import { startBalancer } from './support/balancer.ts';
import { startCoturn, turnserverPath } from './support/coturn.ts';
import { type Journey, journey } from './support/journey.ts';
import { type MeetingPage, toMeetingPage } from './support/meeting-page.ts';
import { type MeetingSite, startMeetingSite } from './support/meeting-site.ts';

/** How soon a meeting must come back by itself. */
const MAX_REPAIR_MS = 20_000;
/** The shortest lifetime that the setting allows. Credentials are used for half of it at least. */
const CREDENTIAL_SECONDS = 20;

let site: MeetingSite;
beforeAll(async () => {
  site = await startMeetingSite();
});
afterAll(() => site.close());

async function createRoom(url: string): Promise<string> {
  // `as`: people are created over HTTP, and need nothing else of an app.
  const owner = await addPerson({ url, http: createHttp(url) } as TestApp);
  return (await owner.client.rooms.create.mutate({})).room.name;
}

async function openPages(world: Journey, urls: string[], roomName: string): Promise<MeetingPage[]> {
  const pages = await Promise.all(
    urls.map(async (url, index) => {
      const page = await world.open(`${site.url}/blank.html`);
      return toMeetingPage(page, { site, url, roomName, name: `Person ${index + 1}` });
    }),
  );
  for (const page of pages) await page.join();
  await Promise.all(pages.map((page) => page.receiveFrom(1)));
  return pages;
}

journey('a meeting goes on while two processes of the service restart one after the other', async (world) => {
  const dir = await makeTempDir();
  const DATA_DIR = join(dir, 'data');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(dir, { recursive: true, force: true }));
  const database = startScript('scripts/run-database.ts', { DATA_DIR }, (text) => /postgresql:\S+/.exec(text)?.[0]);
  cleanup.defer(async () => void (await database.end('SIGTERM')));
  const DATABASE_URL = await database.ready;
  const ports = [await freePort(), await freePort()];
  const start = async (port: number) => {
    const server = startServer({ DATA_DIR, DATABASE_URL, PORT: String(port) });
    await server.ready;
    return server;
  };
  const servers = [await start(ports[0] ?? 0)];
  servers.push(await start(ports[1] ?? 0));
  cleanup.defer(async () => void (await Promise.all(servers.map(stopServer))));
  // Each page begins at another process.
  const balancers = await Promise.all([startBalancer(() => ports), startBalancer(() => ports.toReversed())]);
  for (const balancer of balancers) cleanup.defer(() => balancer.close());

  const urls = balancers.map(({ url }) => url);
  const pages = await openPages(world, urls, await createRoom(urls[0] ?? ''));
  for (const [index, port] of ports.entries()) {
    const server = servers[index];
    if (server) await stopServer(server);
    await Promise.all(
      pages.map(async (page) =>
        expect(await page.run(`waitFor(() => meeting.state === 'joined')`)).toBeLessThan(MAX_REPAIR_MS),
      ),
    );
    // Also signals pass: a page that is loaded again is connected again.
    await pages[index]?.reload();
    const times = await Promise.all(pages.map((page) => page.receiveFrom(1)));
    expect(Math.max(...times)).toBeLessThan(MAX_REPAIR_MS);
    servers[index] = await start(port);
  }
  expect(await pages[0]?.run('meeting.peers.length')).toBe(1);
});

if (turnserverPath !== undefined)
  journey('a call through a relay outlives its first credentials', async (world) => {
    const dir = await makeTempDir();
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => rm(dir, { recursive: true, force: true }));
    const coturn = await startCoturn();
    cleanup.defer(() => coturn.stop());
    const server = startServer({
      DATA_DIR: join(dir, 'data'),
      ...coturn.env,
      MESH_RELAY_ONLY: '1',
      TURN_CREDENTIAL_SECONDS: String(CREDENTIAL_SECONDS),
    });
    cleanup.defer(async () => void (await stopServer(server)));
    const url = await server.ready;
    const pages = await openPages(world, [url, url], await createRoom(url));

    const firstExpiry = await Promise.all(pages.map((page) => page.run('meeting.media.credentials_expire_at')));
    // Of both ends: a check that comes before the candidate is signalled makes the remote one peer-reflexive.
    const readLocal = () =>
      Promise.all(
        pages.map((page) => page.run('readReceived().then((all) => Object.values(all)[0].candidatePair.local)')),
      );
    expect(await readLocal()).toEqual(['relay', 'relay']);

    // Until the first credentials are of no use, and so no relay can be had by them.
    const end = (Math.max(...firstExpiry) + 1) * 1_000;
    await Promise.all(pages.map((page) => page.run(`waitFor(() => Date.now() > ${end})`)));
    for (const [index, page] of pages.entries())
      expect(await page.run('meeting.media.credentials_expire_at')).toBeGreaterThan(firstExpiry[index]);
    for (const page of pages) await page.run(`dispatchEvent(new Event('online'))`);
    await Promise.all(pages.map((page) => page.receiveFrom(1)));
    expect(await readLocal()).toEqual(['relay', 'relay']);
  });
