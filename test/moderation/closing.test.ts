/** A host closes the meeting in a room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  decide,
  HELD_AT,
  HELD_SECONDS,
  join,
  list,
  presence,
  roomEvents,
} from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { close, lock } from './moderate.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

test('everyone leaves once, those who wait are refused, and both learn why', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const [inside, waiting] = [await addGuest(app, room.name), await addGuest(app, room.name)];
  await decide(app, 'admit', room.name, inside.id, team.owner.token);
  const closed = await close(app, room.name, team.admin.token);
  expect([closed.status, closed.body]).toEqual([200, { left: 1, refused: 1, stopped_recordings: 0 }]);
  for (const [{ token }, status] of [
    [inside, 'left'],
    [waiting, 'refused'],
  ] as const)
    expect((await presence(app, room.name, token)).body.participant).toMatchObject({ status, end_reason: 'closed' });
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toMatchObject([
    { participant_id: inside.id, left_at: HELD_SECONDS },
  ]);
  expect((await list(app, room.name, team.owner.token)).body.participants).toEqual([]);
  const again = await close(app, room.name, team.owner.token);
  expect(again.body).toEqual({ left: 0, refused: 0, stopped_recordings: 0 });
  expect(
    await app.services.db.auditEntry.count({
      where: { workspaceId: team.id, action: 'room.closed', targetId: room.id },
    }),
  ).toBe(1);
});

test('a running recording stops, and its file can still be uploaded', async () => {
  const room = await addRoom(app, team, team.owner);
  const { token } = await addGuest(app, room.name);
  const { recording } = (await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token })).body;
  expect((await close(app, room.name, team.owner.token)).body.stopped_recordings).toBe(1);
  const row = await app.services.db.recording.findFirstOrThrow({ where: { id: recording.id } });
  expect([row.status, row.endedAt]).toEqual(['started', HELD_AT]);
  expect((await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token })).status).toBe(403);
});

test('the room remains, is unlocked, and the next join begins another meeting', async () => {
  const room = await addRoom(app, team, team.owner);
  const guest = await addGuest(app, room.name);
  await lock(app, room.name, team.owner.token);
  await close(app, room.name, team.owner.token);
  const { body } = await join(app, room.name, { name: 'Gina', token: guest.token });
  expect(body.participant).toMatchObject({ status: 'joined', room_locked: 0 });
  expect(body.participant.id).not.toBe(guest.id);
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(2);
});
