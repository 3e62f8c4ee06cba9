/** The queue of files that are to be copied, and its leases. */
import { describe, expect, test } from 'vitest';
import {
  type CopyLease,
  leaseCopies,
  openUrl,
  recordFailure,
  renewLease,
} from '../../../src/features/meeting-providers/recording-copies/copy-queue.ts';
import { concurrently } from '../../support/concurrently.ts';
import { addTeam } from '../../support/world.ts';
import { genericEvent } from '../adapters/callbacks.ts';
import { addRoom, connect } from '../ingest/connected-provider.ts';
import { expectFailed, leaseOne, readRecording, reportAvailable, useCopyScene } from './copy-scene.ts';

const HOUR_MS = 60 * 60 * 1000;
const NOT_FOUND = { reason: 'The server responded with status 404' };

const scene = useCopyScene();

/** A Unix timestamp in seconds. */
function inMinutes(minutes: number): number {
  return Math.floor(scene.app.clock.now().getTime() / 1000) + minutes * 60;
}

function lease(max: number): Promise<CopyLease[]> {
  return leaseCopies(scene.app.services, max);
}

describe('a failed attempt', () => {
  test('is followed by others after 5, 10, 20 s ... up to 5 minutes, and a last one at the deadline', async () => {
    const { app, server } = scene;
    const start = app.clock.now().getTime();
    await reportAvailable(scene, `${server.url}/gone.mp4`);
    const backoffs: number[] = [];
    while (backoffs.length < 1_000) {
      await recordFailure(app.services, await leaseOne(scene), NOT_FOUND);
      const { copy } = await readRecording(scene);
      if (!copy?.nextAttemptAt) break;
      const backoff = copy.nextAttemptAt.getTime() - app.clock.now().getTime();
      backoffs.push(backoff / 1000);
      app.clock.advance(backoff - 1);
      expect(await lease(1), 'one millisecond early').toEqual([]);
      app.clock.advance(1);
    }
    expect(backoffs.slice(0, 9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect(app.clock.now().getTime() - start).toBe(24 * HOUR_MS);
    expect(await expectFailed(scene)).toBe(
      'The file could not be copied in time: The server responded with status 404',
    );
  });

  test('is the last one exactly at the deadline, and not a millisecond before it', async () => {
    const { app, server } = scene;
    await reportAvailable(scene, `${server.url}/a.mp4`, { url_expires_at: inMinutes(10) });
    const early = await leaseOne(scene);
    const at = (ms: number) => ({ ...app.services, clock: { now: () => new Date(ms) } });
    const deadline = early.deadline.getTime();
    await recordFailure(at(deadline - 1), early, NOT_FOUND);
    expect((await readRecording(scene)).copy?.nextAttemptAt?.getTime()).toBe(deadline);

    const [last] = await leaseCopies(at(deadline), 1);
    if (!last) throw new Error('No file is due');
    await recordFailure(at(deadline), last, NOT_FOUND);
    expect(await expectFailed(scene)).toBe(
      'The file could not be copied in time: The server responded with status 404',
    );
  });

  test('is followed by others for one day if the URL is valid for decades', async () => {
    const { app, server } = scene;
    const decades = Date.parse('2099-01-01T00:00:00Z') / 1000;
    await reportAvailable(scene, `${server.url}/a.mp4`, { url_expires_at: decades });
    const first = await leaseOne(scene);
    expect(first.deadline.getTime()).toBe(app.clock.now().getTime() + 24 * HOUR_MS);
    app.clock.advance(24 * HOUR_MS);
    await recordFailure(app.services, first, NOT_FOUND);
    expect(await expectFailed(scene)).toBe(
      'The file could not be copied in time: The server responded with status 404',
    );
  });

  test('changes nothing if another process has leased the file meanwhile', async () => {
    const { app, server } = scene;
    await reportAvailable(scene, `${server.url}/a.mp4`);
    const stale = await leaseOne(scene);
    app.clock.advance(61_000);
    expect(await lease(1)).toHaveLength(1);
    const before = await readRecording(scene);
    await recordFailure(app.services, stale, { reason: 'too late' });
    expect(await readRecording(scene)).toEqual(before);
  });
});

test('a lasting failure is followed by another attempt after an hour at most', async () => {
  const { app, server } = scene;
  await reportAvailable(scene, `${server.url}/large.mp4`);
  let backoffMs = 0;
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await recordFailure(app.services, await leaseOne(scene), { reason: 'The file is too large', isLasting: true });
    const { copy } = await readRecording(scene);
    backoffMs = (copy?.nextAttemptAt?.getTime() ?? 0) - app.clock.now().getTime();
    app.clock.advance(backoffMs);
  }
  expect(backoffMs).toBe(HOUR_MS);
});

describe('of two URLs of one recording the queue holds the one that expires later:', () => {
  test.each([
    ['the second', [10, 60], 'second'],
    ['the first', [60, 10], 'first'],
    ['the first of two that expire at the same time', [60, 60], 'first'],
    ['one that does not expire, and is tried for a day', [60, undefined], 'second'],
  ] as const)('%s', async (_, [first, second], expected) => {
    const { app, server } = scene;
    const urls = [['first', first] as const, ['second', second] as const];
    const deadlines: Record<string, number | undefined> = {};
    for (const [name, minutes] of urls) {
      deadlines[name] = minutes === undefined ? undefined : inMinutes(minutes);
      await reportAvailable(scene, `${server.url}/${name}.mp4`, { url_expires_at: deadlines[name] });
    }
    const [leased, ...rest] = await lease(5);
    if (!leased) throw new Error('No file is due');
    expect(rest).toEqual([]);
    expect(openUrl(app.services.sealer, leased)).toBe(`${server.url}/${expected}.mp4`);
    const deadline = deadlines[expected];
    if (deadline !== undefined) expect(leased.deadline.getTime()).toBe(deadline * 1000);
  });
});

describe('leases', () => {
  test('concurrent calls lease at most three files of a workspace together', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `recording-${index}`);
    for (const id of ids) await reportAvailable(scene, `${scene.server.url}/${id}.mp4`, { id });
    const leases = await concurrently(6, () => lease(2));
    expect(leases.flat()).toHaveLength(3);
    expect(await lease(12)).toEqual([]);
  });

  test('the file with the earliest deadline is leased first, whichever was queued first', async () => {
    const { app, server } = scene;
    const other = await addTeam(app);
    const { name } = await addRoom(app, other);
    const otherSource = await connect(app, other, 'generic');
    await reportAvailable(scene, `${server.url}/a.mp4`, { id: 'a', url_expires_at: inMinutes(50) });
    await reportAvailable(scene, `${server.url}/b.mp4`, { id: 'b', url_expires_at: inMinutes(10) });
    const recording = { id: 'c', url: `${server.url}/c.mp4`, url_expires_at: inMinutes(30) };
    await otherSource.post(genericEvent('recording.available', recording, { room: name }));
    const order: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) order.push((await leaseOne(scene)).archiveId);
    expect(order).toEqual(['b', 'c', 'a']);
  });

  /** Adds files of a user who owns several workspaces. Returns the id of the user. */
  const addFiles = async (workspaces: number, files: number, minutes?: number): Promise<number> => {
    const { app, server } = scene;
    const { owner } = await addTeam(app);
    for (let index = 0; index < workspaces; index += 1) {
      const { workspace } = (await app.http.post('/api/workspaces', owner.token, { name: 'Free' })).body;
      const team = { ...scene.team, id: workspace.id, path: `/api/workspaces/${workspace.id}`, owner };
      const { name } = await addRoom(app, team);
      const source = await connect(app, team, 'generic');
      for (let file = 0; file < files; file += 1) {
        const url = `${server.url}/${owner.id}-${index}-${file}.mp4`;
        const recording = { url, ...(minutes !== undefined && { url_expires_at: inMinutes(minutes) }) };
        await source.post(genericEvent('recording.available', { id: `${file}`, ...recording }, { room: name }));
      }
    }
    return owner.id;
  };
  const ownersOf = async (leases: readonly CopyLease[]) => {
    const where = { id: { in: leases.map(({ workspaceId }) => workspaceId) } };
    const rows = await scene.app.services.db.workspace.findMany({ where, select: { id: true, ownerId: true } });
    return leases.map(({ workspaceId }) => rows.find(({ id }) => id === workspaceId)?.ownerId);
  };

  test('are at most three of a user, however many workspaces they own', async () => {
    const greedy = await addFiles(4, 4);
    const victim = await addFiles(1, 1, 60);
    const owners = await ownersOf(await lease(12));
    expect(owners.filter((id) => id === greedy)).toHaveLength(3);
    expect(owners.filter((id) => id === victim)).toHaveLength(1);
    expect(await lease(12)).toEqual([]);
  });

  test('go to users in turn, and to files whose links expire soon first', async () => {
    const busy = await addFiles(1, 3, 60);
    const quiet = await addFiles(1, 1, 120);
    const urgent = await addFiles(1, 2, 5);
    const order: unknown[] = [];
    for (let turn = 0; turn < 6; turn += 1) order.push(...(await ownersOf(await lease(1))));
    expect(order).toEqual([urgent, urgent, busy, quiet, busy, busy]);
  });

  test('leave the slots that are for urgent files to them', async () => {
    await addFiles(1, 3, 60);
    const urgent = await addFiles(1, 2, 5);
    const { services } = scene.app;
    const first = await leaseCopies(services, 3, 1);
    expect(first.filter(({ isUrgent }) => isUrgent)).toHaveLength(2);
    expect((await ownersOf(first)).filter((id) => id === urgent)).toHaveLength(2);
    expect(await leaseCopies(services, 12, 0)).toEqual([]);
  });

  test('tell how many other users wait for a slot, but not those who are at their limit', async () => {
    const { app } = scene;
    await addFiles(1, 1, 5);
    const held = await leaseOne(scene);
    expect(await renewLease(app.services, held)).toBe(0);
    await addFiles(2, 4, 4);
    expect(await lease(3)).toHaveLength(3);
    await addFiles(2, 1, 60);
    await addFiles(1, 1, 60);
    expect(await renewLease(app.services, held), 'before a copier could have leased them').toBe(0);
    app.clock.advance(11_000);
    expect(await renewLease(app.services, held)).toBe(2);
    expect(await renewLease(app.services, { ...held, attempt: 7 })).toBeNull();
    app.clock.advance(-11_000);
  });
});
