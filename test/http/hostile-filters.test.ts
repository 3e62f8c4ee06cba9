/** Texts that PostgreSQL cannot store are no fault of the server in any filter of any list. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

type Parameter = { name: string; in: string };
type Operation = { parameters?: Parameter[]; responses: Record<string, { content?: Record<string, unknown> }> };

/** NUL, and the encoding of a lone surrogate, which is no UTF-8. */
const TEXTS = ['a%00', '%ED%A0%80'];

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test('a parameter of a query that is no text gets an answer below 500, in every operation that reads', async () => {
  const room = await addRoom(app, team, team.owner);
  const paths: [string, { get?: Operation }][] = Object.entries((await app.http.get('/openapi.json')).body.paths);
  const ids: Record<string, string> = { id: String(team.id), name: room.name, roomName: room.name };
  const tried: string[] = [];
  for (const [path, { get }] of paths) {
    const isStream = Object.values(get?.responses ?? {}).some(({ content }) => content?.['text/event-stream']);
    if (get === undefined || isStream) continue;
    const target = path.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '1');
    const names = get.parameters?.flatMap((parameter) => (parameter.in === 'query' ? parameter.name : [])) ?? [];
    const queries = names.flatMap((name) => TEXTS.map((text) => `${name}=${text}`));
    const answers = await Promise.all(queries.map((query) => app.http.get(`${target}?${query}`, team.owner.token)));
    expect(answers.flatMap(({ status }, at) => (status < 500 ? [] : `${path}?${queries[at]}`))).toEqual([]);
    tried.push(...names.map((name) => `${path} ${name}`));
  }
  expect(tried).toContain('/api/workspaces/{id}/recordings room_name');
  expect(tried.length).toBeGreaterThan(50);
});

test('the name of a room that cannot exist selects no recordings', async () => {
  for (const name of ['%00', 'no--such', 'x'.repeat(100)]) {
    const { status, body } = await app.http.get(`${team.path}/recordings?room_name=${name}`, team.owner.token);
    expect([status, body]).toEqual([200, { recordings: [] }]);
  }
  const room = await addRoom(app, team, team.owner);
  const { recording } = (await app.http.post(`/api/dashboard/rooms/${room.name}/recordings`, team.owner.token)).body;
  const { body } = await app.http.get(`${team.path}/recordings?room_name=${room.name.toUpperCase()}`, team.owner.token);
  expect(body.recordings).toMatchObject([{ id: recording.id }]);
});
