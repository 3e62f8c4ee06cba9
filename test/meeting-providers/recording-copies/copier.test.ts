/** Copiers of several processes, which share the files that are due. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Copier, startCopier } from '../../../src/features/meeting-providers/recording-copies/copier.ts';
import { leaseCopies } from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { createWakeUps } from '../../../src/jobs/wake-ups.ts';
import { eventsOf } from '../../support/events.ts';
import { eventually } from '../../support/eventually.ts';
import { addTeam } from '../../support/world.ts';
import { genericEvent } from '../adapters/callbacks.ts';
import { addRoom, connect } from '../ingest/connected-provider.ts';
import { leaseOne, MP4, readRecording, reportAvailable, serveMp4, useCopyScene } from './copy-scene.ts';

const scene = useCopyScene();
const copiers: Copier[] = [];
afterEach(async () => {
  await Promise.all(copiers.splice(0).map((copier) => copier.stop()));
});

async function start(): Promise<Copier> {
  const { databaseUrl, services } = scene.app;
  const wakeUps = createWakeUps(services.db.eventSignal);
  const copier = startCopier({ wakeUps, services });
  const listener = wakeUps.start({ connectionString: databaseUrl, log: services.log });
  copiers.push(copier, listener);
  return copier;
}

function wakeCopiers() {
  return scene.app.services.db.$queryRaw`select pg_notify('lynxroom_copies', '')::text`;
}

function untilAvailable() {
  return eventually(async () => {
    const recording = await readRecording(scene);
    return recording.status === 'available' && recording;
  });
}

/** Another workspace with files to copy. */
async function addOther() {
  const { app } = scene;
  const team = await addTeam(app);
  const { name } = await addRoom(app, team);
  const source = await connect(app, team, 'generic');
  return {
    id: team.id,
    reportAvailable: (recording: Record<string, unknown>) =>
      source.post(genericEvent('recording.available', recording, { room: name })),
  };
}

test('a file that arrives while a copier waits is copied at once', async () => {
  await start();
  await reportAvailable(scene, `${scene.server.url}/a.mp4`);
  await untilAvailable();
  expect(scene.server.requests).toHaveLength(1);
});

test('the lease of a killed process expires after a minute, and another one copies the file', async () => {
  const { app, server } = scene;
  await reportAvailable(scene, `${server.url}/a.mp4`);
  // A killed process leaves only its lease behind.
  await leaseOne(scene);
  app.clock.advance(59_999);
  expect(await leaseCopies(app.services, 1), 'before a minute has passed').toEqual([]);
  await start();
  app.clock.advance(1);
  await wakeCopiers();
  await untilAvailable();
  expect(server.requests).toHaveLength(1);
  expect(await eventsOf(app, scene.team.id, 'recording.completed')).toHaveLength(1);
});

test('three of them fetch each of 12 files of a workspace once, at most three at a time', async () => {
  const { app, server, team } = scene;
  let running = 0;
  let max = 0;
  const held: (() => void)[] = [];
  let isHolding = true;
  server.respondWith((request, response, index) => {
    running += 1;
    max = Math.max(max, running);
    const serve = (): void => {
      running -= 1;
      serveMp4(request, response, index);
    };
    if (isHolding) held.push(serve);
    else setImmediate(serve);
  });
  const ids = Array.from({ length: 12 }, (_, index) => `recording-${index}`);
  await Promise.all(ids.map((id) => reportAvailable(scene, `${server.url}/${id}.mp4`, { id })));
  await Promise.all([start(), start(), start()]);
  await server.waitFor(3);
  expect(await leaseCopies(app.services, 12), 'while three are being fetched').toEqual([]);
  isHolding = false;
  for (const serve of held) serve();
  await eventually(async () => {
    const where = { workspaceId: team.id, status: 'available' };
    return (await app.services.db.recording.count({ where })) === 12;
  });
  expect(server.requests.map(({ target }) => target).sort()).toEqual(ids.map((id) => `/${id}.mp4`).sort());
  expect(max).toBe(3);
  expect(await eventsOf(app, team.id, 'recording.completed')).toHaveLength(12);
});

test('one that stops releases its lease, and the next one copies the file at once', async () => {
  const { server } = scene;
  server.respondWith((_, response) => void response.writeHead(200).write(MP4.subarray(0, 100_000)));
  const first = await start();
  await reportAvailable(scene, `${server.url}/a.mp4`);
  await server.waitFor(1);
  await first.stop();
  expect((await readRecording(scene)).copy).toMatchObject({ leasedUntil: null, lastError: null });
  server.respondWith(serveMp4);
  await start();
  await untilAvailable();
});

describe('several workspaces', () => {
  test('files that hang take the slots of their own workspace, and not those of another', async () => {
    const { app, server } = scene;
    server.respondWith((request, response, index) => {
      if (request.target.startsWith('/fast')) serveMp4(request, response, index);
      else response.writeHead(200).write(MP4.subarray(0, 100_000));
    });
    for (let index = 0; index < 5; index += 1)
      await reportAvailable(scene, `${server.url}/hangs-${index}.mp4`, { id: `recording-${index}` });
    await start();
    await start();
    await server.waitFor(3);
    const other = await addOther();
    await other.reportAvailable({ url: `${server.url}/fast.mp4` });
    const where = { workspaceId: other.id, status: 'available' };
    await eventually(() => app.services.db.recording.findFirst({ where }));
    const targets = server.requests.map(({ target }) => target);
    expect(targets.filter((target) => target.startsWith('/hangs'))).toHaveLength(3);
    const leased = await app.services.db.recordingCopy.count({ where: { NOT: { leasedUntil: null } } });
    expect(leased).toBe(3);
  });
});
