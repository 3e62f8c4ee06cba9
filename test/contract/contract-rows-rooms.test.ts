/** The tables of the API contract for rooms, recordings and analytics, row by row. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start } from '../recordings/recording-fixtures.ts';
import { bookingPageData } from '../support/booking-page.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { expectError, fields, isUnixSeconds } from './expectations.ts';
import { createWorld, type Scene, type World } from './scene.ts';

let app: TestApp;
let world: World;
let scene: Scene;
beforeAll(async () => {
  app = await startTestApp();
  world = await createWorld(app);
});
afterAll(() => app.close());

async function newScene(): Promise<string> {
  scene = await world.addScene();
  return `/api/workspaces/${scene.workspaceId}`;
}

const ROOM = [
  'accent_color',
  'chat_enabled',
  'created_at',
  'display_name',
  'id',
  'last_used_at',
  'locked',
  'max_participants',
  'media',
  'members_only',
  'name',
  'recording_count',
  'recordings_visible_to',
  'relay_only',
  'scheduled_at',
  'session_id',
  'user_id',
  'waiting_room_enabled',
  'waiting_room_message',
  'who_may_record',
  'workspace_id',
];
const RECORDING = [
  'archive_id',
  'copy_error',
  'created_at',
  'duration',
  'ended_at',
  'failure_reason',
  'id',
  'is_abandoned',
  'poster_url',
  'room_id',
  'room_name',
  'size',
  'status',
  'title',
  'url',
];

const ROOMS = '/api/dashboard/rooms';

describe('rooms', () => {
  test('GET /api/dashboard/rooms lists the rooms of the caller, newest first', async () => {
    await newScene();
    const { status, body } = await app.http.get(ROOMS, scene.owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['rooms']);
    for (const room of body.rooms) expect(fields(room)).toEqual(ROOM);
    expect(body.rooms[0]).toMatchObject({
      workspace_id: scene.workspaceId,
      name: scene.roomName,
      user_id: scene.owner.id,
      recording_count: 3,
    });
    expectError(await app.http.get(ROOMS), 401, 'Unauthorized');
  });

  test('POST /api/dashboard/rooms with an empty body creates a room with the default settings', async () => {
    await newScene();
    const { status, body } = await app.http.post(ROOMS, scene.member.token, {});
    expect(status).toBe(201);
    expect(fields(body)).toEqual(['room']);
    expect(fields(body.room)).toEqual(ROOM);
    expect(body.room).toMatchObject({
      user_id: scene.member.id,
      display_name: null,
      recording_count: 0,
      scheduled_at: null,
      accent_color: '#6366f1',
      waiting_room_enabled: 0,
      waiting_room_message: null,
      max_participants: null,
      members_only: 0,
      recordings_visible_to: 'members',
      who_may_record: 'everyone',
    });
    expect(body.room.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
    expect(isUnixSeconds(body.room.created_at)).toBe(true);
    expect(body.room.last_used_at).toBe(body.room.created_at);
  });

  test('POST /api/dashboard/rooms stores the name and every setting as sent', async () => {
    await newScene();
    const sent = {
      name: `every-setting-${scene.number}`,
      scheduled_at: 1_800_000_000.25,
      accent_color: '#10b981',
      waiting_room_enabled: 1,
      waiting_room_message: 'One moment\nplease',
    };
    const { status, body } = await app.http.post(ROOMS, scene.owner.token, sent);
    expect(status).toBe(201);
    expect(body.room).toMatchObject(sent);
  });

  test('POST rooms rejects an invalid room name with 400', async () => {
    await newScene();
    for (const name of ['', 'Capital', 'two words', 'a--b', '-a', 'a-', 'a_b', 'é-room', 'x'.repeat(65), 5])
      expectError(await app.http.post(ROOMS, scene.owner.token, { name }), 400, 'Invalid room name');
  });

  test('POST rooms rejects the name of any existing room with 409', async () => {
    await newScene();
    for (const { token } of [scene.owner, scene.outsider])
      expectError(await app.http.post(ROOMS, token, { name: scene.roomName }), 409, 'Room name already taken');
  });

  test('POST rooms creates a room in a workspace for its owner and admins only', async () => {
    await newScene();
    const inTeam = { workspace_id: scene.workspaceId };
    for (const { token } of [scene.owner, scene.admin])
      expect((await app.http.post(ROOMS, token, inTeam)).body.room).toMatchObject(inTeam);
    for (const { token } of [scene.member, scene.outsider])
      expectError(await app.http.post(ROOMS, token, inTeam), 403, 'Forbidden');
    const unknown = { workspace_id: 2_147_483_647 };
    expectError(await app.http.post(ROOMS, scene.owner.token, unknown), 404, 'Workspace not found');
  });

  test('GET /api/dashboard/rooms/:name returns a room that the caller manages, and 404 for others', async () => {
    await newScene();
    const path = `${ROOMS}/${scene.roomName}`;
    const { status, body } = await app.http.get(path, scene.owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['room']);
    expect(fields(body.room)).toEqual(ROOM);
    expect(body.room).toMatchObject({ name: scene.roomName, recording_count: 3 });
    expectError(await app.http.get(`${ROOMS}/no-such-room`, scene.owner.token), 404, 'Room not found');
    expectError(await app.http.get(path, scene.member.token), 404, 'Room not found');
    expect((await app.http.get(path, scene.admin.token)).body).toEqual(body);
  });

  test('PATCH /api/dashboard/rooms/:name changes only the settings that are sent, for owner and admins', async () => {
    await newScene();
    const path = `${ROOMS}/${scene.roomName}`;
    const before = (await app.http.get(path, scene.owner.token)).body.room;
    const settings = {
      scheduled_at: 1_800_000_000,
      accent_color: '#abc',
      waiting_room_enabled: 1,
      waiting_room_message: 'Soon',
      max_participants: 12,
      members_only: 1,
      recordings_visible_to: 'hosts',
      who_may_record: 'hosts',
    };
    let expected = before;
    for (const [name, value] of Object.entries(settings)) {
      const { status, body } = await app.http.patch(path, scene.owner.token, { [name]: value });
      expected = { ...expected, [name]: value };
      expect(status).toBe(200);
      expect(body).toEqual({ room: expected });
    }
    const cleared = { scheduled_at: null, waiting_room_message: null, max_participants: null };
    const { body } = await app.http.patch(path, scene.owner.token, cleared);
    expect(body).toEqual({ room: { ...expected, ...cleared } });
    expect((await app.http.patch(path, scene.admin.token, settings)).body).toEqual({ room: expected });
    expectError(await app.http.patch(path, scene.member.token, settings), 404, 'Room not found');
    expectError(await app.http.patch(`${ROOMS}/no-such-room`, scene.owner.token, settings), 404, 'Room not found');
  });

  test('DELETE /api/dashboard/rooms/:name deletes a room of the caller with its recordings', async () => {
    await newScene();
    const path = `${ROOMS}/${scene.roomName}`;
    expectError(await app.http.delete(path, scene.member.token), 404, 'Room not found');
    const answer = await app.http.delete(path, scene.owner.token);
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(fields(answer.body)).toEqual(['ok']);
    const { body } = await app.http.get('/api/dashboard/recordings', scene.owner.token);
    expect(body.recordings.map(({ id }: { id: number }) => id)).not.toContain(scene.recordingId);
    expectError(await app.http.delete(path, scene.owner.token), 404, 'Room not found');
  });

  test('GET /api/dashboard/generate-name returns a valid room name without authentication', async () => {
    await newScene();
    const { status, body } = await app.http.get('/api/dashboard/generate-name');
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['name']);
    expect((await app.http.post(ROOMS, scene.owner.token, { name: body.name })).status).toBe(201);
  });

  test('GET /api/workspaces/:id/rooms lists the rooms of the workspace for any member, newest first', async () => {
    const path = `${await newScene()}/rooms`;
    const { body: created } = await app.http.post(ROOMS, scene.admin.token, { workspace_id: scene.workspaceId });
    for (const { token } of [scene.owner, scene.admin, scene.member]) {
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      expect(fields(body)).toEqual(['rooms']);
      for (const room of body.rooms) expect(fields(room)).toEqual(ROOM);
      const listed = body.rooms.map(({ name, recording_count }: Record<string, unknown>) => [name, recording_count]);
      expect(listed).toEqual([
        [created.room.name, 0],
        [scene.roomName, 3],
        [scene.quietRoomName, 0],
      ]);
    }
    expectError(await app.http.get(path, scene.outsider.token), 403, 'Forbidden');
  });
});

describe('recordings', () => {
  const expected = () => ({
    id: scene.recordingId,
    room_name: scene.roomName,
    archive_id: 'archive',
    title: 'Weekly',
    url: `${app.url}/api/dashboard/recordings/${scene.recordingId}/download`,
    duration: 90,
    size: 11,
    status: 'available',
  });

  test.each([
    ['GET /api/dashboard/recordings', () => '/api/dashboard/recordings'],
    ['GET /api/dashboard/rooms/:name/recordings', () => `${ROOMS}/${scene.roomName}/recordings`],
  ])('%s lists the recordings, newest first', async (_, path) => {
    await newScene();
    const { status, body } = await app.http.get(path(), scene.owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['recordings']);
    for (const recording of body.recordings) expect(fields(recording)).toEqual(RECORDING);
    const [newest] = body.recordings;
    expect(newest).toMatchObject(expected());
    expect(isUnixSeconds(newest.created_at)).toBe(true);
  });

  test('GET recordings covers all rooms of the caller, and GET room recordings only that room', async () => {
    await newScene();
    const { body } = await app.http.post(ROOMS, scene.owner.token, { workspace_id: scene.workspaceId });
    const { id: roomId, name } = body.room;
    const id = await start(app, { workspaceId: scene.workspaceId, roomId, archiveId: 'second' });
    const idsOf = async (path: string): Promise<number[]> =>
      (await app.http.get(path, scene.owner.token)).body.recordings.map((recording: { id: number }) => recording.id);
    const { recordingId, uploadingRecording, stoppedRecording } = scene;
    const ofScene = [recordingId, uploadingRecording.recordingId, stoppedRecording.recordingId];
    expect((await idsOf('/api/dashboard/recordings')).slice(0, 4)).toEqual([id, ...ofScene]);
    expect(await idsOf(`${ROOMS}/${name}/recordings`)).toEqual([id]);
    expect(await idsOf(`${ROOMS}/${scene.roomName}/recordings`)).toEqual(ofScene);
  });

  test('a recording that has just started has no URL and no title, and duration and size 0', async () => {
    await newScene();
    const { body: room } = await app.http.post(ROOMS, scene.member.token, {});
    const { id: roomId, workspace_id: workspaceId, name } = room.room;
    await start(app, { workspaceId, roomId, archiveId: 'started' });
    const { body } = await app.http.get(`${ROOMS}/${name}/recordings`, scene.member.token);
    expect(body.recordings).toMatchObject([{ status: 'started', title: null, url: null, duration: 0, size: 0 }]);
  });

  test('recordings return 401 without a credential, and 404 for unknown and foreign rooms and recordings', async () => {
    await newScene();
    expectError(await app.http.get('/api/dashboard/recordings'), 401, 'Unauthorized');
    for (const name of ['no-such-room', scene.foreign.roomName])
      expectError(await app.http.get(`${ROOMS}/${name}/recordings`, scene.owner.token), 404, 'Room not found');
    for (const id of [2_147_483_647, scene.foreign.recordingId]) {
      const path = `/api/dashboard/recordings/${id}/download`;
      expectError(await app.http.get(path, scene.owner.token), 404, 'Recording not found');
    }
  });

  test('the URL of a recording serves its file, and returns a download URL if JSON is asked for', async () => {
    await newScene();
    const { url } = expected();
    const file = await fetch(url, { headers: { authorization: `Bearer ${scene.owner.token}` } });
    expect(await file.text()).toBe('a recording');
    const { status, body } = await app.http.getJson(url.slice(app.url.length), scene.owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['expires_at', 'url']);
    expect(await (await fetch(body.url)).text()).toBe('a recording');
  });
});

describe('analytics', () => {
  const today = (): string => new Date().toISOString().slice(0, 10);

  test('GET /api/workspaces/:workspaceId/analytics returns exactly the documented fields to members', async () => {
    const path = `${await newScene()}/analytics`;
    const room = (await app.http.get(`${ROOMS}/${scene.roomName}`, scene.owner.token)).body.room;
    const page = await app.services.db.bookingPage.findFirstOrThrow({ where: { workspaceId: scene.workspaceId } });
    for (const { token } of [scene.owner, scene.admin, scene.member]) {
      const before = today();
      const { status, body } = await app.http.get(path, token);
      expect(status).toBe(200);
      // The scene may have been created before midnight.
      const date = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/);
      expect(body).toEqual({
        kpis: { rooms: 2, recordings: 3, recordingDuration: 90, contacts: 1, bookings: 1 },
        activityTimeline: [{ date, bookings: 1, room_joins: 1 }],
        eventTypeBreakdown: [
          { type: 'booking', count: 1 },
          { type: 'room_join', count: 1 },
        ],
        topBookingPages: [{ id: page.id, title: 'Intro call', slug: scene.roomName, count: 1 }],
        newContactsTimeline: [{ date, count: 1 }],
        topRooms: [{ id: room.id, name: scene.roomName, display_name: null, count: 1 }],
      });
      expect(body.activityTimeline[0].date <= today()).toBe(true);
      expect(Date.parse(before) - Date.parse(body.activityTimeline[0].date)).toBeLessThanOrEqual(86_400_000);
    }
  });

  test('GET analytics returns 401 without a credential, 403 to non-members, 404 if unknown', async () => {
    const path = `${await newScene()}/analytics`;
    expectError(await app.http.get(path, scene.outsider.token), 403, 'Forbidden');
    expectError(await app.http.get(path), 401, 'Unauthorized');
    const unknown = '/api/workspaces/2147483647/analytics';
    expectError(await app.http.get(unknown, scene.owner.token), 404, 'Workspace not found');
  });

  test('the top lists have 5 entries, and the timelines cover the last 30 days', async () => {
    const path = `${await newScene()}/analytics`;
    const { workspaceId } = scene;
    const at = (daysAgo: number): Date => new Date(app.clock.now().getTime() - daysAgo * 86_400_000);
    const event = { workspaceId, contactId: null, roomId: null, bookingPageId: null };
    for (let index = 0; index < 6; index += 1) {
      const { body } = await app.http.post(ROOMS, scene.owner.token, { workspace_id: workspaceId });
      const page = await app.services.db.bookingPage.create({
        data: bookingPageData({
          workspaceId,
          userId: scene.owner.id,
          title: 'Page',
          slug: `top-${scene.number}-${index}`,
          createdAt: at(0),
        }),
      });
      await app.services.db.contactEvent.createMany({
        data: [
          { ...event, type: 'room_join', roomId: body.room.id, createdAt: at(31) },
          { ...event, type: 'booking', bookingPageId: page.id, createdAt: at(28) },
        ],
      });
    }
    const { body } = await app.http.get(path, scene.member.token);
    expect(body.topRooms).toHaveLength(5);
    expect(body.topBookingPages).toHaveLength(5);
    const activity = body.activityTimeline.map((day: Record<string, unknown>) => [day.bookings, day.room_joins]);
    expect(activity).toEqual([
      [6, 0],
      [1, 1],
    ]);
    expect(body.kpis.bookings).toBe(7);
    expect(body.eventTypeBreakdown).toEqual([
      { type: 'booking', count: 7 },
      { type: 'room_join', count: 7 },
    ]);
  });
});
