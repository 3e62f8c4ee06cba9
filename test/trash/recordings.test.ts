/** Recordings in the trash. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { advance, start, storeFile } from '../recordings/recording-fixtures.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { eventsOf } from '../support/events.ts';
import { jpeg } from '../support/images.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let rooms = 0;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

type Room = { workspaceId: number; roomId: number; name: string };

async function addRoom(team: Team): Promise<Room> {
  rooms += 1;
  const input = { name: `trash-${rooms}`, workspace_id: team.id };
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, input)).body;
  return { workspaceId: team.id, roomId: room.id, name: room.name };
}

async function addRecording({ workspaceId, roomId }: Room, archiveId: string): Promise<number> {
  const recording = { workspaceId, roomId, archiveId };
  const id = await start(app, { ...recording, title: `Talk ${archiveId}` });
  const fileKey = await storeFile(app, workspaceId, 'a recording');
  await advance(app, recording, { status: 'available', fileKey, duration: 90, size: 11 });
  return id;
}

const move = (team: Team, ...recording_ids: number[]) =>
  app.http.post(`${team.path}/trash/recordings`, team.admin.token, { recording_ids });
const restore = (team: Team, ...entry_ids: number[]) =>
  app.http.post(`${team.path}/trash/restore`, team.admin.token, { entry_ids });
const list = async (team: Team, token = team.admin.token) =>
  (await app.http.get(`${team.path}/trash`, token)).body.entries;
const usedBytes = async (team: Team) =>
  (await app.http.get(`${team.path}/usage`, team.owner.token)).body.usage.bytes.used;
const totalsOf = async (team: Team) => {
  const { recordings, recordingDuration } = (await app.http.get(`${team.path}/analytics`, team.owner.token)).body.kpis;
  return [recordings, recordingDuration];
};

test('a recording in the trash is gone from everything else, and comes back as it was', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  const id = await addRecording(room, 'a');
  const path = `${team.path}/recordings/${id}`;
  await fetch(`${app.url}/api/recordings/${id}/poster`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${team.owner.token}`, 'content-type': 'image/jpeg' },
    body: new Uint8Array(jpeg),
  });
  const read = () => app.http.get(path, team.owner.token);
  const { recording } = (await read()).body;
  const { url } = await team.owner.client.recordings.download.query({ recordingId: id });
  expect((await fetch(url)).status).toBe(200);
  const bytes = await usedBytes(team);
  const files = (await storedKeys(app, team.id)).length;
  const totals = await totalsOf(team);
  const events = await eventsOf(app, team.id);
  const after = await lastAuditId(app);

  const { status, body } = await move(team, id, 2_000_000_000);
  expect([status, body.not_found]).toEqual([200, [2_000_000_000]]);
  const [entry] = body.entries;
  expect(entry).toMatchObject({ kind: 'recording', resource_id: id, name: 'Talk a', size: 11 });
  for (const gone of [path, `${path}/download`, `/api/dashboard/recordings/${id}/download`, `${path}/poster`])
    expect((await app.http.get(gone, team.owner.token)).status, gone).toBe(404);
  expect((await fetch(url)).status).toBe(404);
  const listed = [
    `${team.path}/recordings`,
    `/api/dashboard/rooms/${room.name}/recordings`,
    '/api/dashboard/recordings',
  ];
  for (const one of listed) expect((await app.http.get(one, team.owner.token)).body.recordings, one).toEqual([]);
  expect(await totalsOf(team)).toEqual([0, 0]);
  expect(await usedBytes(team)).toBe(bytes);
  expect(await storedKeys(app, team.id)).toHaveLength(files);
  // Members do not delete recordings, so they do not restore them either.
  expect(await list(team)).toEqual([entry]);
  expect(await list(team, team.member.token)).toEqual([]);
  const byMember = { entry_ids: [entry.id] };
  expect((await app.http.post(`${team.path}/trash/restore`, team.member.token, byMember)).body.entries).toEqual([]);
  expect((await app.http.delete(`${team.path}/trash`, team.member.token)).body).toEqual({ deleted: 0 });
  app.clock.advance(2 * DAY_MS);
  expect(await sweepStorage(app.services)).toMatchObject({ orphans: 0, rowsWithoutObject: 0 });

  expect((await restore(team, entry.id)).body).toEqual({ entries: [entry], not_found: [] });
  const back = (await read()).body.recording;
  expect(back).toEqual({ ...recording, poster_url: expect.stringContaining('/poster?v=') });
  const again = await team.owner.client.recordings.download.query({ recordingId: id });
  expect(await (await fetch(again.url)).text()).toBe('a recording');
  expect(await totalsOf(team)).toEqual(totals);
  expect(await usedBytes(team)).toBe(bytes);
  expect(await app.services.db.recordingDeletion.count({ where: { workspaceId: team.id } })).toBe(0);
  // As a deletion, it emits nothing.
  expect(await eventsOf(app, team.id)).toEqual(events);
  expect((await auditOf(app, team.id, after)).map(({ action, target }) => [action, target[1]])).toEqual([
    ['recording.trashed', id],
    ['recording.restored', id],
  ]);
});

test('a recording that is not finished, or whose place was taken, is refused', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  const running = await start(app, { workspaceId: team.id, roomId: room.roomId, archiveId: 'running' });
  const refused = await move(team, running);
  expect([refused.status, refused.body.error]).toEqual([
    409,
    'A recording that is not finished cannot be moved to the trash',
  ]);
  const id = await addRecording(room, 'taken');
  const [entry] = (await move(team, id)).body.entries;
  await addRecording(room, 'taken');
  const conflict = await restore(team, entry.id);
  expect([conflict.status, conflict.body.error]).toEqual([
    409,
    'The room has another recording with the same archive ID: delete that one first',
  ]);
  expect(await list(team)).toEqual([entry]);
});

test('recordings in the trash are deleted with their room, for good, and by the retention policy', async () => {
  const team = await addTeam(app);
  const [first, second] = [await addRoom(team), await addRoom(team)];
  const ids = [await addRecording(first, 'x'), await addRecording(second, 'y')];
  const old = await addRecording(second, 'old');
  const { entries } = (await move(team, ...ids, old)).body;
  expect((await app.http.delete(`/api/dashboard/rooms/${first.name}`, team.owner.token)).status).toBe(200);
  expect((await list(team)).map(({ name }: { name: string }) => name)).toEqual(['Talk old', 'Talk y']);
  const ofSecond = entries.find(({ resource_id }: { resource_id: number }) => resource_id === ids[1]);
  expect((await app.http.delete(`${team.path}/trash/${ofSecond.id}`, team.admin.token)).status).toBe(200);
  await app.http.patch(`${team.path}/retention/recordings`, team.owner.token, { recording_retention_days: 7 });
  app.clock.advance(8 * DAY_MS);
  const preview = await app.http.get(`${team.path}/retention/recordings/preview?days=7`, team.owner.token);
  expect(preview.body).toEqual({ count: 1, bytes: 11 });
  await sweepRetention(app.services);
  expect(await list(team)).toEqual([]);
  expect(await usedBytes(team)).toBe(0);
  expect(await storedKeys(app, team.id)).toEqual([]);
  expect((await auditOf(app, team.id)).slice(-3).map(({ action }) => action)).toEqual([
    'recording.deleted',
    'retention.changed',
    'recording.expired',
  ]);
});

test('what lies in the trash is deleted with its workspace, with the files', async () => {
  const team = await addTeam(app);
  const id = await addRecording(await addRoom(team), 'last');
  const { item } = (await upload(app, team.path, team.admin.token)).body;
  expect((await move(team, id)).status).toBe(200);
  const input = { item_ids: [item.id] };
  expect((await app.http.post(`${team.path}/trash/items`, team.admin.token, input)).status).toBe(200);
  expect(await storedKeys(app, team.id)).toHaveLength(2);
  expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
  expect(await app.services.db.trashEntry.count({ where: { workspaceId: team.id } })).toBe(0);
  await sweepStorage(app.services);
  expect(await storedKeys(app, team.id)).toEqual([]);
});

test('every column of a recording is restored', async () => {
  const columns = await app.services.db.$queryRaw<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = 'recordings' and is_generated = 'NEVER' order by 1`;
  // A new column needs a place in the statement `put-back-recording`, and a value for what lay in the trash before it.
  expect(columns.map(({ name }) => name)).toEqual([
    ...['archive_id', 'created_at', 'duration', 'ended_at', 'failed_at', 'failure_reason', 'file_key', 'id'],
    ...['media_type', 'offered_at', 'poster_key', 'room_id', 'sha256', 'size', 'started_by', 'status', 'title'],
    ...['updated_at', 'upload_token_hash', 'workspace_id'],
  ]);
});
