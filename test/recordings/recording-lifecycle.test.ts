/** Invalid, late and missing reports of recordings. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { transact } from '../../src/db/client.ts';
import { failStaleRecordings } from '../../src/features/recordings/fail-stale-recordings.ts';
import type { RecordingKey } from '../../src/features/recordings/recording-lifecycle.ts';
import { storeRecordingFile } from '../../src/features/recordings/store-recording-file.ts';
import { eventsOf } from '../support/events.ts';
import { makeMp4 } from '../support/media.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { advance, start } from './recording-fixtures.ts';

let app: TestApp;
let team: Team;
let key: RecordingKey;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  const { body } = await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id });
  key = { workspaceId: team.id, roomId: body.room.id, archiveId: 'archive' };
});
afterAll(() => app.close());

function rowOf(one = key) {
  return app.services.db.recording.findUniqueOrThrow({ where: { workspaceId_roomId_archiveId: one } });
}

describe('updates', () => {
  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    '%d is not a valid duration or size',
    async (wrong) => {
      await start(app, key);
      for (const field of ['duration', 'size'] as const)
        await expect(advance(app, key, { status: 'uploaded', [field]: wrong })).rejects.toMatchObject({
          code: 'BAD_REQUEST',
          message: `${field} must be a non-negative number`,
        });
      expect(await rowOf()).toMatchObject({ status: 'started', duration: 0n, size: 0n });
    },
  );

  test('a file from a provider is stored like an upload, and a failure leaves nothing behind', async () => {
    await start(app, key);
    const bytes = makeMp4({ durationSeconds: 5, moov: 'back', mdatBytes: 100_000 });
    const { signal } = new AbortController();
    const store = (more: object = {}) =>
      storeRecordingFile(app.services, key, {
        file: { stream: Readable.from([bytes]), filename: 'recording.mp4', declaredType: 'video/mp4' },
        signal,
        ...more,
      });
    const before = await storedKeys(app);
    await expect(store({ beforeCommit: () => Promise.reject(new Error('not mine')) })).rejects.toThrow('not mine');
    await expect(store({ bodyEnd: Promise.reject(new Error('cut')) })).rejects.toThrow('cut');
    await expect(store({ signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
    expect(await storedKeys(app)).toEqual(before);
    const stream = Readable.from([Buffer.from('%PDF-1.7'), bytes]);
    const wrong = { stream, filename: 'recording.mp4', declaredType: 'video/mp4' };
    await expect(store({ file: wrong })).rejects.toMatchObject({ message: 'Only MP4 and WebM files are supported' });
    expect([stream.destroyed, await storedKeys(app)]).toEqual([true, before]);
    await store();
    expect(await rowOf()).toMatchObject({ status: 'available', size: BigInt(bytes.length), duration: 5n });
    await expect(store()).rejects.toMatchObject({ message: 'The recording already has a file' });
    expect(await storedKeys(app)).toHaveLength(before.length + 1);
  });
});

describe('stale recordings', () => {
  beforeEach(() => app.services.db.recording.deleteMany());

  const outcomeOf = async (one: RecordingKey) => {
    const { status, failureReason } = await rowOf(one);
    return [status, failureReason];
  };
  const named = (archiveId: string) => ({ ...key, archiveId });

  test('fail after a day, with a reason and without an event, unless they are uploaded', async () => {
    for (const name of ['running', 'ended', 'uploaded', 'copied', 'available', 'failed']) await start(app, named(name));
    await app.services.db.recording.update({
      where: { workspaceId_roomId_archiveId: named('ended') },
      data: { endedAt: app.clock.now() },
    });
    for (const name of ['uploaded', 'copied']) await advance(app, named(name), { status: 'uploaded' });
    await advance(app, named('available'), { status: 'available', fileKey: 'v1/x' });
    await advance(app, named('failed'), { status: 'failed' });
    const at = app.clock.now();
    const copy = { workspaceId: team.id, recordingId: (await rowOf(named('copied'))).id, sealedUrl: new Uint8Array(1) };
    await app.services.db.recordingCopy.create({ data: { ...copy, deadline: at, nextAttemptAt: at } });
    const events = (await eventsOf(app, team.id)).length;

    app.clock.advance(23 * HOUR_MS);
    expect(await failStaleRecordings(app.services)).toBe(0);
    await start(app, named('young'));
    app.clock.advance(HOUR_MS + 1000);
    expect(await failStaleRecordings(app.services)).toBe(2);
    expect(await failStaleRecordings(app.services)).toBe(0);

    expect(await outcomeOf(named('running'))).toEqual(['failed', 'The recording was never stopped']);
    expect(await outcomeOf(named('ended'))).toEqual(['failed', 'The file was never uploaded']);
    for (const [name, status] of [
      // Its file is in the customer's own storage.
      ['uploaded', 'uploaded'],
      ['copied', 'uploaded'],
      ['available', 'available'],
      ['failed', 'failed'],
      ['young', 'started'],
    ] as const)
      expect(await outcomeOf(named(name))).toEqual([status, null]);
    expect(await eventsOf(app, team.id)).toHaveLength(events + 1);
    const { body } = await app.http.get('/api/dashboard/recordings', team.admin.token);
    expect(body.recordings.map((one: { failure_reason: unknown }) => one.failure_reason)).toContain(
      'The recording was never stopped',
    );
  });

  test('fail once each in concurrent runs over several batches; a locked one is skipped', async () => {
    const now = app.clock.now();
    const { archiveId: _, ...place } = key;
    const row = { ...place, status: 'started', createdAt: now, updatedAt: now };
    const data = Array.from({ length: 1100 }, (__, index) => ({ ...row, archiveId: `many-${index}` }));
    await app.services.db.recording.createMany({ data });
    const later = { ...app.services, clock: { now: () => new Date(now.getTime() + 25 * HOUR_MS) } };
    await transact(app.services.db, async (tx) => {
      await tx.$queryRaw`select 1 from recordings where archive_id = 'many-7' and workspace_id = ${team.id} for update`;
      const counts = await Promise.all([failStaleRecordings(later), failStaleRecordings(later)]);
      expect(counts[0] + counts[1]).toBeGreaterThanOrEqual(1099 - 500);
    });
    await failStaleRecordings(later);
    const failed = await app.services.db.recording.count({ where: { workspaceId: team.id, status: 'failed' } });
    expect(failed).toBe(1100);
  });
});
