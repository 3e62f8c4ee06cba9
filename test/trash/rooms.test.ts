/** Rooms in the trash, with their recordings. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { findRecordingsOfRoom } from '../../src/features/rooms/trash-rooms.ts';
import { pruneTrash } from '../../src/features/trash/delete-entries.ts';
import { defaultQuotas, type Quotas } from '../../src/quotas/quotas.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { book, createPage } from '../bookings/pages.ts';
import { advance, start, storeFile } from '../recordings/recording-fixtures.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let rooms = 0;
const quotas: Quotas = { ...defaultQuotas };
beforeAll(async () => {
  app = await startTestApp({ settings: { quotas } });
});
afterAll(() => app.close());

type Room = { workspaceId: number; roomId: number; name: string };

const create = (team: Team, name: string, more: object = {}) =>
  app.http.post('/api/dashboard/rooms', team.owner.token, { name, workspace_id: team.id, ...more });

async function addRoom(team: Team, more: object = {}): Promise<Room> {
  rooms += 1;
  const { room } = (await create(team, `binned-${rooms}`, more)).body;
  return { workspaceId: team.id, roomId: room.id, name: room.name };
}

async function addRecording({ workspaceId, roomId }: Room, archiveId: string): Promise<number> {
  const recording = { workspaceId, roomId, archiveId };
  const id = await start(app, { ...recording, title: `Talk ${archiveId}` });
  const fileKey = await storeFile(app, workspaceId, 'a recording');
  await advance(app, recording, { status: 'available', fileKey, duration: 90, size: 11 });
  return id;
}

const move = (team: Team, room_name: string, { token } = team.admin) =>
  app.http.post(`${team.path}/trash/rooms`, token, { room_name });
const moveRecordings = (team: Team, ...recording_ids: number[]) =>
  app.http.post(`${team.path}/trash/recordings`, team.admin.token, { recording_ids });
const restore = (team: Team, ...entry_ids: number[]) =>
  app.http.post(`${team.path}/trash/restore`, team.admin.token, { entry_ids });
const remove = (team: Team, entryId: number) => app.http.delete(`${team.path}/trash/${entryId}`, team.admin.token);
const list = async (team: Team, token = team.admin.token) =>
  (await app.http.get(`${team.path}/trash`, token)).body.entries;
const usageOf = async (team: Team) => {
  const { rooms: ofRooms, bytes } = (await app.http.get(`${team.path}/usage`, team.owner.token)).body.usage;
  return [ofRooms.used, bytes.used];
};

test('a room in the trash is gone from everything else, and comes back as it was, with its recordings', async () => {
  const team = await addTeam(app);
  const settings = { display_name: 'The hall', session_id: 'hall', members_only: true, accent_color: '#112233' };
  const room = await addRoom(team, settings);
  const recordingId = await addRecording(room, 'a');
  const own = await addRecording(room, 'b');
  const [early] = (await moveRecordings(team, own)).body.entries;
  const path = `/api/dashboard/rooms/${room.name}`;
  const before = (await app.http.get(path, team.owner.token)).body.room;
  const { url } = await team.owner.client.recordings.download.query({ recordingId });
  const joined = await app.http.post(`/api/rooms/${room.name}/join`, team.member.token, { name: 'Jo' });
  expect(joined.status).toBe(200);
  const usage = await usageOf(team);
  const events = (await eventsOf(app, team.id)).length;
  const audited = await lastAuditId(app);

  expect((await move(team, room.name, team.member)).status).toBe(403);
  const { status, body } = await move(team, room.name);
  expect(status).toBe(200);
  expect(body.entry).toMatchObject({ kind: 'room', resource_id: room.roomId, name: 'The hall', size: 11 });
  for (const gone of [path, `${path}/recordings`, `${team.path}/recordings/${recordingId}`])
    expect((await app.http.get(gone, team.owner.token)).status, gone).toBe(404);
  expect((await fetch(url)).status).toBe(404);
  expect((await app.http.post(`/api/rooms/${room.name}/join`, team.member.token, { name: 'Jo' })).status).toBe(404);
  expect((await app.http.get(`${team.path}/rooms`, team.owner.token)).body.rooms).toEqual([]);
  expect((await app.http.get(`${team.path}/analytics`, team.owner.token)).body.kpis).toMatchObject({
    rooms: 0,
    recordings: 0,
  });
  expect(await usageOf(team)).toEqual(usage);
  // Its recordings are not entries of their own. The one that was deleted before stays one.
  expect(await list(team)).toEqual([body.entry, early]);
  expect(await list(team, team.member.token)).toEqual([]);
  const [withRoom] = await app.services.db.trashEntry.findMany({ where: { workspaceId: team.id, withRoom: true } });
  const hidden = withRoom?.id ?? 0;
  expect((await restore(team, hidden)).body).toEqual({ entries: [], not_found: [hidden] });
  expect((await remove(team, hidden)).status).toBe(404);
  const orphan = await restore(team, early.id);
  expect([orphan.status, orphan.body.error]).toEqual([
    409,
    'The room of this recording is in the trash: restore the room first',
  ]);
  app.clock.advance(2 * DAY_MS);
  expect(await sweepStorage(app.services)).toMatchObject({ orphans: 0, rowsWithoutObject: 0 });

  expect((await restore(team, body.entry.id)).body).toEqual({ entries: [body.entry], not_found: [] });
  expect((await app.http.get(path, team.owner.token)).body.room).toEqual({
    ...before,
    last_used_at: expect.any(Number),
  });
  const again = await team.owner.client.recordings.download.query({ recordingId });
  expect(await (await fetch(again.url)).text()).toBe('a recording');
  expect(await list(team)).toEqual([early]);
  expect((await restore(team, early.id)).status).toBe(200);
  expect(await usageOf(team)).toEqual(usage);
  const told = (await eventsOf(app, team.id)).slice(events);
  expect(told.map(({ type }) => type)).toEqual(['room.left', 'room.created']);
  expect((await auditOf(app, team.id, audited)).map(({ action, target }) => [action, target[1]])).toEqual([
    ['room.trashed', room.roomId],
    ['recording.trashed', recordingId],
    ['room.restored', room.roomId],
    ['recording.restored', recordingId],
    ['recording.restored', own],
  ]);
});

test('the name of a room in the trash stays taken until it is deleted for good', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  const { entry } = (await move(team, room.name)).body;
  const refused = await create(team, room.name);
  expect([refused.status, refused.body.error]).toEqual([409, 'Room name already taken']);
  expect((await remove(team, entry.id)).status).toBe(200);
  expect((await create(team, room.name)).status).toBe(201);
});

test('a room that is created while one of its name moves to the trash is refused', async () => {
  const team = await addTeam(app);
  const { roomId, name } = await addRoom(team);
  // What a move does, without its end: the creation waits for the row that is being deleted.
  const refused = await changeWhileBlocked(
    app,
    `insert into trash_entries (workspace_id, kind, resource_id, name, size, created_at, trashed_at, record)
      select workspace_id, 'room', id, name, 0, now(), now(), to_jsonb(r) from rooms r where id = ${roomId};
    delete from rooms where id = ${roomId}`,
    () => create(team, name),
  );
  expect([refused.status, refused.body.error]).toEqual([409, 'Room name already taken']);
  expect(await app.services.db.room.count({ where: { name } })).toBe(0);
  const answers = await concurrently(4, (index) => (index % 2 === 0 ? create(team, name) : move(team, name)));
  expect(countStatuses(answers)).toEqual({ 404: 2, 409: 2 });
});

test('of calls that move and restore a room at once, each takes effect once', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  await addRecording(room, 'x');
  const moved = await concurrently(3, () => move(team, room.name));
  expect(countStatuses(moved)).toEqual({ 200: 1, 404: 2 });
  const id = moved.find(({ status }) => status === 200)?.body.entry.id;
  const restored = await concurrently(3, () => restore(team, id));
  expect(restored.map(({ body }) => body.entries.length).toSorted()).toEqual([0, 0, 1]);
  await sweepStorage(app.services);
  expect(await storedKeys(app, team.id)).toHaveLength(1);
  expect(await list(team)).toEqual([]);
});

test('deleting the entry of a room deletes its recordings, also those that were in the trash before it', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  await addRecording(room, 'x');
  expect((await moveRecordings(team, await addRecording(room, 'y'))).status).toBe(200);
  const { entry } = (await move(team, room.name)).body;
  expect(await storedKeys(app, team.id)).toHaveLength(2);
  expect((await remove(team, entry.id)).status).toBe(200);
  await sweepStorage(app.services);
  expect(await list(team)).toEqual([]);
  expect(await usageOf(team)).toEqual([0, 0]);
  expect(await storedKeys(app, team.id)).toEqual([]);
});

test('the trash is emptied of rooms, by hand and after 30 days', async () => {
  const team = await addTeam(app);
  for (const how of ['by hand', 'later']) {
    const room = await addRoom(team);
    await addRecording(room, 'x');
    expect((await move(team, room.name)).status).toBe(200);
    if (how === 'by hand')
      expect((await app.http.delete(`${team.path}/trash`, team.admin.token)).body).toEqual({ deleted: 1 });
  }
  app.clock.advance(29 * DAY_MS);
  await pruneTrash(app.services);
  expect(await list(team)).toHaveLength(1);
  app.clock.advance(2 * DAY_MS);
  await pruneTrash(app.services);
  await sweepStorage(app.services);
  expect(await app.services.db.trashEntry.count({ where: { workspaceId: team.id } })).toBe(0);
  expect(await storedKeys(app, team.id)).toEqual([]);
});

test('quotas count rooms in the trash, and what comes back was counted', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  quotas.rooms = 1;
  try {
    const { entry } = (await move(team, room.name)).body;
    expect((await create(team, `${room.name}-2`)).status).toBe(409);
    expect((await restore(team, entry.id)).status).toBe(200);
    const again = (await move(team, room.name)).body.entry;
    expect((await remove(team, again.id)).status).toBe(200);
    expect((await create(team, `${room.name}-2`)).status).toBe(201);
  } finally {
    quotas.rooms = defaultQuotas.rooms;
  }
});

test('what cannot be moved or restored is refused, and stays as it was', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team, { session_id: 'same' });
  await start(app, { workspaceId: team.id, roomId: room.roomId, archiveId: 'running' });
  const running = await move(team, room.name);
  expect([running.status, running.body.error]).toEqual([
    409,
    'A recording that is not finished cannot be moved to the trash',
  ]);
  expect((await app.http.get(`/api/dashboard/rooms/${room.name}`, team.owner.token)).status).toBe(200);
  await app.services.db.recording.deleteMany({ where: { workspaceId: team.id } });
  const missing = await move(team, 'no-such-room');
  expect([missing.status, missing.body.error]).toEqual([404, 'Room not found']);
  const { entry } = (await move(team, room.name)).body;
  await addRoom(team, { session_id: 'same' });
  const refused = await restore(team, entry.id);
  expect([refused.status, refused.body.error]).toEqual([409, 'Session is already used by another room']);
  expect(await list(team)).toEqual([entry]);
});

test('a room is found in capitals too, and a name that no room can have finds none', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  for (const name of ['a\u0000b', '\ud800', 'x'.repeat(5_000), `${room.name}?`]) {
    const refused = await move(team, name);
    expect([refused.status, refused.body.error], JSON.stringify(name)).toEqual([404, 'Room not found']);
  }
  expect((await move(team, ` ${room.name.toUpperCase()} `)).body.entry).toMatchObject({ resource_id: room.roomId });
});

test('a room whose host has left belongs to the person who restores it', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  const { entry } = (await move(team, room.name)).body;
  const gone = await addPerson(app);
  await app.services.db.trashEntry.updateMany({ where: { workspaceId: team.id }, data: { createdBy: gone.id } });
  expect((await restore(team, entry.id)).status).toBe(200);
  const { room: back } = (await app.http.get(`/api/dashboard/rooms/${room.name}`, team.owner.token)).body;
  expect(back.user_id).toBe(team.admin.id);
});

test('a restored room is no longer scheduled if moving it cancelled its booking', async () => {
  const team = await addTeam(app);
  const { slug } = await createPage(app, team);
  const [startsAt = 0] = (await app.http.get(`/api/book/${slug}`)).body.times;
  expect((await book(app, slug, startsAt)).status).toBe(200);
  const [booked] = (await app.http.get(`${team.path}/rooms`, team.owner.token)).body.rooms;
  expect(booked.scheduled_at).toBe(startsAt);
  const scheduled = await addRoom(team, { scheduled_at: startsAt });
  const restored: unknown[] = [];
  for (const name of [booked.name, scheduled.name]) {
    const { entry } = (await move(team, name)).body;
    expect((await restore(team, entry.id)).status).toBe(200);
    restored.push((await app.http.get(`/api/dashboard/rooms/${name}`, team.owner.token)).body.room.scheduled_at);
  }
  expect(restored).toEqual([null, startsAt]);
});

describe('the name of a guest in the name of a room', () => {
  async function bookRoom(team: Team, guest: string): Promise<Room> {
    const { slug } = await createPage(app, team, { title: 'Consult' });
    const { times } = (await app.http.get(`/api/book/${slug}`)).body;
    expect((await book(app, slug, times[0], guest)).status).toBe(200);
    const [room] = (await app.http.get(`${team.path}/rooms`, team.owner.token)).body.rooms;
    expect(room.display_name).toBe(`Consult: ${guest}`);
    return { workspaceId: team.id, roomId: room.id, name: room.name };
  }
  async function addUntitled(room: Room): Promise<number> {
    const id = await addRecording(room, 'untitled');
    await app.services.db.recording.updateMany({ where: { id }, data: { title: null } });
    return id;
  }

  test('does not lie in the trash, and does not come back', async () => {
    const team = await addTeam(app);
    const room = await bookRoom(team, 'Greta Guest');
    await addUntitled(room);
    const before = (await eventsOf(app, team.id)).length;
    const { entry } = (await move(team, room.name)).body;
    expect(entry.name).toBe(room.name);
    const rows = await app.services.db.trashEntry.findMany({ where: { workspaceId: team.id } });
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? Number(value) : value))).not.toContain(
      'Greta',
    );
    expect((await restore(team, entry.id)).status).toBe(200);
    const { room: back } = (await app.http.get(`/api/dashboard/rooms/${room.name}`, team.owner.token)).body;
    expect(back.display_name).toBeNull();
    const told = (await eventsOf(app, team.id)).slice(before).filter(({ type }) => type === 'room.created');
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told)).not.toContain('Greta');
  });

  test('is erased from the entry of a recording with it', async () => {
    const team = await addTeam(app);
    const room = await bookRoom(team, 'Gustav Guest');
    const [entry] = (await moveRecordings(team, await addUntitled(room))).body.entries;
    expect(entry.name).toBe('Consult: Gustav Guest');
    // The cancellation of an upcoming booking deletes its room, and the entry with it.
    const [booking] = await app.services.db.booking.findMany({ where: { workspaceId: team.id } });
    const startsAt = new Date(app.clock.now().getTime() - DAY_MS);
    const endsAt = new Date(startsAt.getTime() + 1_800_000);
    await app.services.db.booking.updateMany({ where: { workspaceId: team.id }, data: { startsAt, endsAt } });
    const { email } = booking ?? {};
    expect((await app.http.post(`${team.path}/people/erase`, team.owner.token, { email })).status).toBe(200);
    expect(await list(team)).toEqual([{ ...entry, name: room.name }]);
  });

  test('a name that the host has given to a booked room stays', async () => {
    const team = await addTeam(app);
    const room = await bookRoom(team, 'Gero Guest');
    const path = `/api/dashboard/rooms/${room.name}`;
    await app.http.patch(path, team.owner.token, { display_name: 'The clinic' });
    const { entry } = (await move(team, room.name)).body;
    expect(entry.name).toBe('The clinic');
    expect((await restore(team, entry.id)).status).toBe(200);
    expect((await app.http.get(path, team.owner.token)).body.room.display_name).toBe('The clinic');
  });
});

test('a room with more than 100 recordings is not moved', async () => {
  const team = await addTeam(app);
  const room = await addRoom(team);
  const now = app.clock.now();
  await app.services.db.recording.createMany({
    data: Array.from({ length: 102 }, (_, index) => ({
      workspaceId: team.id,
      roomId: room.roomId,
      archiveId: `many-${index}`,
      status: 'failed',
      createdAt: now,
      updatedAt: now,
    })),
  });
  const refused = await move(team, room.name);
  expect([refused.status, refused.body.error]).toEqual([
    409,
    'A room with more than 100 recordings cannot be moved to the trash',
  ]);
  const found = await findRecordingsOfRoom(app.services.db.sql, {
    workspaceId: team.id,
    roomName: room.name,
    limit: 101,
  });
  expect(found?.recordingIds).toHaveLength(101);
  const beyond = { workspaceId: team.id, archiveId: { in: ['many-0', 'many-1'] } };
  await app.services.db.recording.deleteMany({ where: beyond });
  const { entry } = (await move(team, room.name)).body;
  expect((await restore(team, entry.id)).status).toBe(200);
  expect(await app.services.db.recording.count({ where: { workspaceId: team.id } })).toBe(100);
});

test('every column of a room is restored', async () => {
  const columns = await app.services.db.$queryRaw<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = 'rooms' and is_generated = 'NEVER' order by 1`;
  // A new column needs a place in the statement `put-back-room`, and a value for what lay in the trash before it.
  expect(columns.map(({ name }) => name)).toEqual([
    ...['accent_color', 'chat_enabled', 'created_at', 'display_name', 'id', 'last_used_at', 'locked_at'],
    ...['max_participants', 'media', 'members_only', 'name', 'recordings_visible_to', 'relay_only', 'scheduled_at'],
    ...['session_id', 'user_id', 'waiting_room_enabled', 'waiting_room_message', 'who_may_record', 'workspace_id'],
  ]);
});
