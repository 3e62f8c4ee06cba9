/** An optional field that is null is treated as if it was not sent, unless its documentation says otherwise. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../../src/routers/index.ts';
import { inputsOf, proceduresOf } from '../../src/trpc/call-procedure.ts';
import { listOperations } from '../../src/trpc/operations.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const procedures = new Map(proceduresOf(appRouter));
const withBody = listOperations(appRouter).filter(({ takesBody }) => takesBody);

test.each(withBody.map(({ name }) => name))('%s accepts null in its optional fields', (name) => {
  const procedure = procedures.get(name);
  for (const input of procedure ? inputsOf(procedure) : []) {
    const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    for (const field of Object.keys(properties).filter((key) => !required.includes(key))) {
      const issues = input.safeParse({ [field]: null }).error?.issues ?? [];
      expect(issues.filter(({ path }) => path[0] === field).map(({ message }) => `${field}: ${message}`)).toEqual([]);
      expect(JSON.stringify(properties[field])).toContain('"null"');
    }
  }
});

const settings = {
  scheduled_at: 1_800_000_000,
  accent_color: '#ff0000',
  waiting_room_enabled: 1,
  waiting_room_message: 'Wait',
  display_name: 'Weekly',
  session_id: 'session',
};
const nulls = Object.fromEntries(Object.keys(settings).map((field) => [field, null]));

test('creating a room with nulls is the same as without the fields', async () => {
  const { status, body } = await app.http.post('/api/dashboard/rooms', team.owner.token, {
    ...nulls,
    name: null,
    workspace_id: null,
  });
  expect([status, body.room]).toMatchObject([201, { ...nulls, accent_color: '#6366f1', waiting_room_enabled: 0 }]);
  expect(body.room.name).toMatch(/^[a-z]/);
});

test('updating a room with nulls clears what can be cleared, and leaves the rest', async () => {
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, settings)).body;
  const { status, body } = await app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, nulls);
  const kept = { accent_color: '#ff0000', waiting_room_enabled: 1 };
  expect([status, body.room]).toMatchObject([200, { ...nulls, ...kept }]);
});

test('a null description of an item is empty, and a null name leaves the name', async () => {
  const { item } = (await upload(app, team.path, team.owner.token, undefined, { fields: { description: 'x' } })).body;
  const path = `${team.path}/library/${item.id}`;
  const { status, body } = await app.http.patch(path, team.owner.token, { name: null, description: null });
  expect([status, body.item]).toMatchObject([200, { name: item.name, description: '' }]);
});

test('defaults replace null', async () => {
  const label = await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Null', color: null });
  expect([label.status, label.body.label.color]).toEqual([200, '#6366f1']);
  const page = { title: 'Call', slug: null, duration_minutes: null, time_zone: 'UTC', hours: [] };
  const created = await app.http.post(`${team.path}/booking-pages`, team.owner.token, page);
  expect([created.status, created.body.bookingPage?.duration_minutes]).toEqual([200, 30]);
});

test('a key is not switched by nulls', async () => {
  const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Key' })).body;
  const path = `${team.path}/api-keys/${apiKey.id}`;
  expect((await app.http.patch(path, team.owner.token, { is_active: null })).status).toBe(400);
});
