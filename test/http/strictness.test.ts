/**
 * Text is converted to numbers only in paths and queries, where HTTP has no other type, and never in JSON.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let itemId: number;
let labelId: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  labelId = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Label' })).body.label.id;
  itemId = (await upload(app, team.path, team.member.token)).body.item.id;
});
afterAll(() => app.close());

/** Sends REST requests, which must not change how the shared schemas convert values. */
async function makeRestTraffic(): Promise<void> {
  const { token } = team.member;
  expect((await app.http.get(`${team.path}/library?limit=5&offset=0&label=${labelId}`, token)).status).toBe(200);
  expect((await app.http.get(`${team.path}/library/${itemId}`, token)).status).toBe(200);
  expect((await app.http.get(`${team.path}/library?limit=x`, token)).status).toBe(400);
}

async function trpcStatus(name: string, input: unknown, isQuery: boolean): Promise<number> {
  const { token } = team.member;
  const query = `?input=${encodeURIComponent(JSON.stringify(input))}`;
  const answer = isQuery
    ? await app.http.get(`/trpc/${name}${query}`, token)
    : await app.http.post(`/trpc/${name}`, token, input);
  return answer.status;
}

const NOT_NUMBERS = ['5', '', ' ', true, false, null, [5], {}, '0x5', '5.0'];

describe.each(['before REST traffic', 'after REST traffic'])('tRPC %s', (when) => {
  beforeAll(async () => {
    if (when.startsWith('after')) await makeRestTraffic();
  });

  test.each(NOT_NUMBERS)('%j is not accepted as a number', async (value) => {
    expect(await trpcStatus('workspaces.read', { id: value }, true)).toBe(400);
    expect(await trpcStatus('library.list', { id: team.id, limit: value }, true)).toBe(400);
    expect(await trpcStatus('library.assignLabel', { id: team.id, itemId, labelId: value }, false)).toBe(400);
  });

  test('a number is accepted', async () => {
    expect(await trpcStatus('workspaces.read', { id: team.id }, true)).toBe(200);
    expect(await trpcStatus('library.list', { id: team.id, limit: 5 }, true)).toBe(200);
  });

  test('a call without input returns 400', async () => {
    expect((await app.http.get('/trpc/workspaces.read', team.member.token)).status).toBe(400);
    const headers = { 'content-type': 'application/json' };
    const mutation = await app.http.call('POST', '/trpc/library.assignLabel', { token: team.member.token, headers });
    expect(mutation.status).toBe(400);
  });
});

describe('a REST body', () => {
  test.each(NOT_NUMBERS.filter((value) => value !== null))('%j is not accepted as a number', async (value) => {
    const labels = `${team.path}/library/${itemId}/labels`;
    const { status, body } = await app.http.post(labels, team.member.token, { labelId: value });
    expect([status, body.message]).toEqual([400, 'labelId must be a positive 32-bit integer']);
  });

  test.each([5, true, false, [], {}])('%j is not accepted as a string', async (value) => {
    const patch = await app.http.patch(`${team.path}/library/${itemId}`, team.member.token, { description: value });
    expect([patch.status, patch.body.message]).toEqual([400, 'description must be a string']);
  });
});

describe('a query', () => {
  const list = (query: string) => app.http.get(`${team.path}/library?${query}`, team.member.token);

  test.each([
    'toString=1',
    '__proto__=1',
    '__proto__[x]=1',
    'a[__proto__][x]=1',
    'constructor[prototype][x]=1',
    'hasOwnProperty=1',
    'unknown=1',
    '=1',
    '&&&',
    'a=%zz',
    '%',
  ])('may contain unknown parameters: %s', async (query) => {
    const { status, body } = await list(query);
    expect([status, body.total]).toEqual([200, 1]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test.each(['limit=1&limit=2', 'limit=%20', 'limit=1e1', 'limit=01', 'limit=٥', 'limit=5.0', 'limit=+5'])(
    '%s is not accepted as a number',
    async (query) => {
      const { status, body } = await list(query);
      expect([status, body.issues]).toMatchObject([400, [{ path: 'limit' }]]);
    },
  );

  test('a repeated parameter is not accepted as a string', async () => {
    expect((await list('search=a&search=b')).body.message).toBe('search must be a string');
    expect((await list('sort=name&sort=size')).body.message).toBe('sort must be one of date, name, size');
  });
});
