/** Concurrent changes of recordings, and the totals of their workspace. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import type { RecordingKey, RecordingUpdate } from '../../src/features/recordings/recording-lifecycle.ts';
import { concurrently } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { advance, start } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function newRoom(name: string): Promise<RecordingKey> {
  const { body } = await app.http.post(ROOMS, team.admin.token, { name, workspace_id: team.id });
  return { workspaceId: team.id, roomId: body.room.id, archiveId: name };
}

async function countEvents(type: string, { archiveId }: RecordingKey): Promise<number> {
  const events = await app.services.db.event.findMany({ where: { type } });
  return events.filter(({ data }) => (data as { archive_id?: string }).archive_id === archiveId).length;
}

/** Ignores 404 for a recording or room that was deleted meanwhile. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
  });
}

test('a recording that is started 20 times at once exists once, with one event', async () => {
  const key = await newRoom('started-often');
  const ids = await concurrently(20, () => start(app, key));
  expect(new Set(ids).size).toBe(1);
  expect(await countEvents('recording.started', key)).toBe(1);
});

test('of 20 moves to available at once exactly one succeeds, with one event', async () => {
  const key = await newRoom('completed-often');
  await start(app, key);
  const moved = await concurrently(20, (index) =>
    advance(app, key, { status: 'available', fileKey: `v1/file-${index}`, duration: index }),
  );
  expect(moved.filter(Boolean)).toHaveLength(1);
  expect(await countEvents('recording.completed', key)).toBe(1);
  const row = await app.services.db.recording.findUnique({ where: { workspaceId_roomId_archiveId: key } });
  expect(row).toMatchObject({ status: 'available', fileKey: `v1/file-${moved.indexOf(true)}` });
});

test('of moves to available and failed at once exactly one succeeds, and is final', async () => {
  await concurrently(10, async (index) => {
    const key = await newRoom(`either-${index}`);
    await start(app, key);
    const moved = await Promise.all([
      advance(app, key, { status: 'available', fileKey: `v1/either-${index}` }),
      advance(app, key, { status: 'failed' }),
      advance(app, key, { status: 'uploaded' }),
    ]);
    expect(moved.slice(0, 2).filter(Boolean)).toHaveLength(1);
    expect(await countEvents('recording.completed', key)).toBe(moved[0] ? 1 : 0);
  });
});

test('a room that is deleted while its recordings change leaves none behind', async () => {
  await concurrently(10, async (index) => {
    const key = await newRoom(`deleted-${index}`);
    await start(app, key);
    const [deleted] = await Promise.all([
      app.http.delete(`${ROOMS}/deleted-${index}`, team.admin.token),
      unlessGone(advance(app, key, { status: 'available', fileKey: `v1/deleted-${index}`, duration: 10 })),
      ...Array.from({ length: 4 }, (_, other) =>
        unlessGone(start(app, { ...key, archiveId: `more-${index}-${other}` })),
      ),
    ]);
    expect(deleted.status).toBe(200);
    expect(await app.services.db.recording.count({ where: { roomId: key.roomId } })).toBe(0);
  });
});

test('the totals of the workspace equal the counts after many concurrent changes', async () => {
  const statuses: RecordingUpdate['status'][] = ['uploaded', 'available', 'failed'];
  await concurrently(40, async (index) => {
    const name = `mixed-${index}`;
    const key = await newRoom(name);
    await Promise.all([
      ...Array.from({ length: 3 }, async (_, each) => {
        const recording = { ...key, archiveId: `${name}-${each}` };
        await unlessGone(start(app, recording));
        for (const status of statuses.slice(each % 2))
          await unlessGone(advance(app, recording, { status, fileKey: `v1/${name}-${each}`, duration: index + each }));
      }),
      ...(index % 3 === 0 ? [app.http.delete(`${ROOMS}/${name}`, team.admin.token)] : []),
      app.http.patch(`${ROOMS}/${name}`, team.admin.token, { display_name: name }),
    ]);
  });
  const [totals] = await app.services.db.$queryRaw<unknown[]>`
    select recording_count, recording_seconds from workspaces where id = ${team.id}`;
  const [counts] = await app.services.db.$queryRaw<{ recording_count: number }[]>`
    select (select count(*)::int from recordings where workspace_id = w.id) as recording_count,
      (select sum(duration)::bigint from recordings where workspace_id = w.id) as recording_seconds
    from workspaces w where id = ${team.id}`;
  expect(totals).toEqual(counts);
  expect(counts?.recording_count).toBeGreaterThan(50);
  const listed = (await app.http.get(`${team.path}/rooms`, team.member.token)).body.rooms as {
    recording_count: number;
  }[];
  expect(listed.reduce((sum, room) => sum + room.recording_count, 0)).toBe(counts?.recording_count);
});
