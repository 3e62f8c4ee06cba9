/** The public fields of a room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const shown = {
  display_name: 'Stand-up',
  accent_color: '#10b981',
  waiting_room_enabled: 1,
  scheduled_at: 1_800_000_000.25,
};

test('anyone can read these six fields and no others, with any credential or none', async () => {
  const input = { ...shown, workspace_id: team.id, waiting_room_message: 'Soon', session_id: 'secret' };
  const { room } = (await app.http.post('/api/dashboard/rooms', team.admin.token, input)).body;
  for (const token of [undefined, 'x', team.outsider.token, team.admin.token]) {
    const { status, body } = await app.http.get(`/api/rooms/${room.name}`, token);
    expect([status, body]).toEqual([200, { room: { name: room.name, ...shown, locked: 0 } }]);
  }
  const typed = await team.outsider.client.rooms.readPublic.query({ roomName: room.name });
  expect(typed).toEqual({ room: { name: room.name, ...shown, locked: 0 } });
});

test('an unknown room: 404', async () => {
  for (const name of ['no-such-room', 'A', '%00', 'x'.repeat(65)]) {
    const { status, body } = await app.http.get(`/api/rooms/${name}`);
    expect([status, body.message]).toEqual([404, 'Room not found']);
  }
});
