/** Every text that people read is stored in one form, through both transports. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let itemId: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  itemId = (await upload(app, team.path, team.owner.token)).body.item.id;
});
afterAll(() => app.close());

let unique = 0;

const DECOMPOSED = ' E\u0301te\u0301 \u202e';
const COMPOSED = '\u00c9t\u00e9';
const hours = { time_zone: 'UTC', hours: [] };
const webhook = { url: 'https://example.com/', events: ['room.created'] };

type Call = { procedure: string; method: 'post' | 'patch'; path: () => string; input: () => Record<string, unknown> };
/** `field` holds the text in the input and the answer. `empty` is the error of a text without a visible character. */
type Row = Call & { field: string; empty: string | null };

function rowOf(line: string, field: string, path: () => string, input: Call['input'], empty: string | null): Row {
  const [procedure = '', method] = line.split(' ');
  return { procedure, method: method === 'patch' ? 'patch' : 'post', path, input, field, empty };
}

const inTeam = (rest: string) => () => `${team.path}/${rest}`;
const named =
  (input: Record<string, unknown> = {}) =>
  () => ({ id: team.id, ...input });
function person(): Record<string, unknown> {
  unique += 1;
  return { email: `p${unique}@example.com`, password: 'a long password' };
}

const NAME = 'Name is required';
const rows: Row[] = [
  rowOf('auth.register post', 'name', () => '/api/auth/register', person, NAME),
  rowOf(
    'auth.updateMe patch',
    'name',
    () => '/api/auth/me',
    () => ({}),
    NAME,
  ),
  rowOf(
    'workspaces.create post',
    'name',
    () => '/api/workspaces',
    () => ({}),
    NAME,
  ),
  rowOf('workspaces.rename patch', 'name', () => team.path, named(), NAME),
  rowOf('apiKeys.create post', 'name', inTeam('api-keys'), named(), NAME),
  rowOf('webhooks.create post', 'name', inTeam('webhooks'), named(webhook), NAME),
  rowOf('connections.create post', 'name', inTeam('connections'), named({ provider: 'generic' }), NAME),
  rowOf('bookingPages.create post', 'title', inTeam('booking-pages'), named(hours), 'Title is required'),
  rowOf('contacts.create post', 'name', inTeam('contacts'), () => ({ id: team.id, ...person() }), NAME),
  rowOf(
    'library.update patch',
    'name',
    () => `${team.path}/library/${itemId}`,
    () => ({ id: team.id, itemId }),
    'Name cannot be empty',
  ),
  rowOf(
    'library.update patch',
    'description',
    () => `${team.path}/library/${itemId}`,
    () => ({ id: team.id, itemId }),
    null,
  ),
  rowOf(
    'rooms.create post',
    'display_name',
    () => '/api/dashboard/rooms',
    () => ({}),
    null,
  ),
  rowOf(
    'rooms.create post',
    'waiting_room_message',
    () => '/api/dashboard/rooms',
    () => ({}),
    null,
  ),
];

/** Calls the operation through REST or tRPC. */
async function send({ procedure, method, path, input }: Row, viaTrpc: boolean, change: Record<string, unknown>) {
  const body = { ...input(), ...change };
  const { token } = team.owner;
  const answer = viaTrpc
    ? await app.http.post(`/trpc/${procedure}`, token, body)
    : await app.http[method](path(), token, body);
  return { status: answer.status, error: answer.body.error, result: answer.body.result?.data ?? answer.body };
}

describe.each(rows.map((row) => [`${row.procedure} ${row.field}`, row] as const))('%s', (_title, row) => {
  test.each([false, true])('is trimmed and in NFC (tRPC: %j)', async (viaTrpc) => {
    const { status, result } = await send(row, viaTrpc, { [row.field]: DECOMPOSED });
    expect(Math.floor(status / 100)).toBe(2);
    const [record] = Object.values(result) as Record<string, unknown>[];
    // Descriptions and messages keep bidirectional controls.
    const isName = row.field.endsWith('name') || row.field === 'title';
    expect(record?.[row.field]).toBe(isName ? COMPOSED : `${COMPOSED} \u202e`);
  });

  test.each([false, true])('of invisible characters counts as empty (tRPC: %j)', async (viaTrpc) => {
    for (const text of ['\u200b', ' \u2060\u00ad\u202e', '\u3164\ufe0f']) {
      const { status, error, result } = await send(row, viaTrpc, { [row.field]: text });
      if (row.empty !== null) expect([status, error.message ?? error]).toEqual([400, row.empty]);
      else {
        const [record] = Object.values(result) as Record<string, unknown>[];
        expect(record?.[row.field] || null).toBeNull();
      }
    }
  });
});

test('two labels whose names look the same are one: the second is a conflict', async () => {
  const create = (name: string) => app.http.post(`${team.path}/labels`, team.owner.token, { name });
  expect((await create('\u00c9t\u00e9')).body.label.name).toBe(COMPOSED);
  for (const twin of ['E\u0301te\u0301', '\u202e\u00c9t\u00e9', 'E\u0301t\u00e9 '])
    expect((await create(twin)).status).toBe(409);
});

test('a search finds a name in either form', async () => {
  const own = await addTeam(app);
  const { token } = own.owner;
  await upload(app, own.path, token, undefined, { filename: 'U\u0308berblick.pdf' });
  await app.http.post(`${own.path}/contacts`, token, { name: 'Rene\u0301', email: 'rene@example.com' });
  for (const search of ['\u00fcber', 'u\u0308ber', ' U\u0308ber ']) {
    const { body } = await app.http.get(`${own.path}/library?search=${encodeURIComponent(search)}`, token);
    expect(body.total).toBe(1);
  }
  for (const search of ['ren\u00e9', 'Rene\u0301'])
    expect((await own.owner.client.contacts.list.query({ id: own.id, search })).total).toBe(1);
});

test('an imported contact, a guest and a booking have names in NFC', async () => {
  const own = await addTeam(app);
  const { token } = own.owner;
  const csv = `name,email\nRene\u0301\u202e,rene@example.com\n\u200b,zero@example.com\n`;
  const imported = await app.http.call('POST', `${own.path}/contacts/import`, {
    token,
    body: csv,
    headers: { 'content-type': 'text/csv' },
  });
  expect(imported.body).toMatchObject({ created: 2 });
  const { contacts } = await own.owner.client.contacts.list.query({ id: own.id });
  expect(contacts.map(({ name }) => name).sort()).toEqual(['Ren\u00e9', 'zero']);
  const { room } = await own.owner.client.rooms.create.mutate({ workspace_id: own.id });
  const join = (name: string) => app.http.post(`/api/rooms/${room.name}/join`, undefined, { name });
  expect((await join('Rene\u0301')).body.participant.name).toBe('Ren\u00e9');
  expect((await join('\u200b')).body.message).toBe('name is required');
});

test('an ID of another system stays as it is', async () => {
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { session_id: 'e\u0301' })).body;
  expect(room.session_id).toBe('e\u0301');
});
