/** The retention of recordings: reading and setting it, what it would delete, and the sweep that applies it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { uploadFile } from '../recordings/recording-fixtures.ts';
import { concurrently } from '../support/concurrently.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date() });
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id })).body.room;
});
afterAll(() => app.close());

const policyPath = (): string => `${team.path}/retention/recordings`;

async function addRecording(): Promise<{ id: number; size: number }> {
  const path = `/api/dashboard/rooms/${room.name}/recordings`;
  const { recording, upload_token } = (await app.http.post(path, team.admin.token)).body;
  const { status, body } = await uploadFile(app, recording.id, upload_token);
  expect(status).toBe(200);
  return body.recording;
}

async function idsOfRecordings(): Promise<number[]> {
  const { body } = await app.http.get(`${team.path}/recordings`, team.owner.token);
  return body.recordings.map(({ id }: { id: number }) => id);
}

const set = (days: unknown) => app.http.patch(policyPath(), team.owner.token, { recording_retention_days: days });

describe('the policy', () => {
  test('is null at first and can be set to every allowed value, apart from that of the library', async () => {
    expect((await app.http.get(policyPath(), team.owner.token)).body).toEqual({ recording_retention_days: null });
    for (const days of [7, 30, 60, 90, 180, 365, null])
      expect((await set(days)).body).toEqual({ recording_retention_days: days });
    const client = team.owner.client.retention;
    expect(await client.setRecordings.mutate({ id: team.id, recording_retention_days: 30 })).toEqual({
      recording_retention_days: 30,
    });
    expect(await client.readRecordings.query({ id: team.id })).toEqual({ recording_retention_days: 30 });
    expect((await app.http.get(`${team.path}/retention`, team.owner.token)).body).toEqual({
      media_retention_days: null,
    });
  });

  test('can be read, set and previewed only by the owner', async () => {
    for (const { token } of [team.admin, team.member, team.outsider]) {
      expect((await app.http.get(policyPath(), token)).status).toBe(403);
      expect((await app.http.get(`${policyPath()}/preview?days=7`, token)).status).toBe(403);
      expect((await app.http.get(`${team.path}/retention/preview?days=7`, token)).status).toBe(403);
      expect((await app.http.patch(policyPath(), token, { recording_retention_days: 7 })).status).toBe(403);
    }
  });
});

test('the previews count exactly what the sweep then deletes, with the files', async () => {
  const old = [await addRecording(), await addRecording()];
  await upload(app, team.path, team.member.token);
  const [item] = (await app.http.get(`${team.path}/library`, team.owner.token)).body.items;
  app.clock.advance(7 * DAY_MS + 1);
  const recent = await addRecording();
  const preview = async (path: string, days: number) =>
    (await app.http.get(`${team.path}/retention/${path}?days=${days}`, team.owner.token)).body;
  const bytes = old.reduce((sum, { size }) => sum + size, 0);
  expect(await preview('recordings/preview', 7)).toEqual({ count: 2, bytes });
  expect(await preview('recordings/preview', 30)).toEqual({ count: 0, bytes: 0 });
  expect(await preview('preview', 7)).toEqual({ count: 1, bytes: item.size });

  await sweepRetention(app.services);
  expect(await idsOfRecordings()).toHaveLength(3);
  await set(7);
  await concurrently(2, () => sweepRetention(app.services));
  expect(await idsOfRecordings()).toEqual([recent.id]);
  expect(await preview('recordings/preview', 7)).toEqual({ count: 0, bytes: 0 });
  expect((await app.http.get(`${team.path}/library`, team.owner.token)).body.total).toBe(1);
  expect((await storedKeys(app, team.id)).filter((key) => key.includes('/recordings/'))).toHaveLength(1);
  const audit = (await app.http.get(`${team.path}/audit?target_kind=recording`, team.owner.token)).body.entries;
  const expired = audit.filter(({ action }: { action: string }) => action === 'recording.expired');
  expect(expired).toHaveLength(1);
  expect(expired[0].before.ids.toSorted()).toEqual(old.map(({ id }) => id).toSorted());
});

test('more recordings than fit into one batch are all deleted', async () => {
  const at = app.clock.now();
  await app.services.db.recording.createMany({
    data: Array.from({ length: 450 }, (_, index) => ({
      workspaceId: team.id,
      roomId: room.id,
      archiveId: `old-${index}`,
      status: 'failed',
      createdAt: at,
      updatedAt: at,
    })),
  });
  await set(7);
  app.clock.advance(8 * DAY_MS);
  await sweepRetention(app.services);
  expect(await idsOfRecordings()).toEqual([]);
});
