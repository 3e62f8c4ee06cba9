/** A write with an idempotency key is carried out once, and a repetition gets the same answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { uploadFile } from '../recordings/recording-fixtures.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { mutate, newKey, type Outcome, readKeys, send } from './idempotent.ts';

const ROOMS = '/api/dashboard/rooms';
const BOOKING = { name: 'Gina', email: 'gina@example.com', starts_at: 1_800_000_000 };

const quotas = { ...defaultQuotas };

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ settings: { quotas } });
  team = await addTeam(app);
});
afterAll(() => app.close());

function countRooms(): Promise<number> {
  return app.services.db.room.count();
}

/** Creates a room with a random name. */
const transports: [string, (key: string, json?: Record<string, unknown>) => Promise<Outcome>][] = [
  ['REST', (key, json = {}) => send(app, ROOMS, { key, json, token: team.admin.token })],
  ['tRPC', (key, json = {}) => mutate(app, 'rooms.create', { key, json, token: team.admin.token })],
];

describe.each(transports)('over %s', (name, createRoom) => {
  test('a repetition gets the answer of the first request', async () => {
    const [key, before] = [newKey(), await countRooms()];
    const first = await createRoom(key);
    expect(first).toMatchObject({ status: name === 'REST' ? 201 : 200, isReplayed: false });
    for (let times = 0; times < 2; times += 1) expect(await createRoom(key)).toEqual({ ...first, isReplayed: true });
    expect(await countRooms()).toBe(before + 1);
  });

  test('the same key with other input returns 422', async () => {
    const [key, before] = [newKey(), await countRooms()];
    await createRoom(key, { accent_color: '#112233' });
    const { status, body, isReplayed } = await createRoom(key, { accent_color: '#112234' });
    expect([status, body.code, isReplayed]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', false]);
    expect(body.message).toBe('This Idempotency-Key was already used for a different request');
    expect(await countRooms()).toBe(before + 1);
  });

  test('of 20 concurrent requests one is carried out', async () => {
    const [key, before] = [newKey(), await countRooms()];
    const success = name === 'REST' ? 201 : 200;
    const outcomes = await concurrently(20, () => createRoom(key));
    const ids = new Set(outcomes.flatMap(({ status, body }) => (status === success ? [body.room.id] : [])));
    const others = outcomes.filter(({ status }) => status !== success);
    expect(ids.size).toBe(1);
    for (const { status, body, retryAfter } of others)
      expect([status, body.code, retryAfter]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE', '1']);
    expect(await countRooms()).toBe(before + 1);
    expect(await createRoom(key)).toMatchObject({ status: success, isReplayed: true });
  });

  test.each(['', ' ', 'a b', 'é', 'x'.repeat(256)])('the key "%s" returns 400', async (key) => {
    const before = await countRooms();
    // Undici refuses characters outside Latin-1 itself, and trims spaces.
    const { status, body } = await createRoom(key);
    expect([status, body.issues]).toEqual([
      400,
      [{ path: 'Idempotency-Key', message: 'Idempotency-Key must have 1 to 255 visible ASCII characters' }],
    ]);
    expect(await countRooms()).toBe(before);
  });

  test('a key of 255 characters is accepted', async () => {
    const key = `${newKey()}~`.padEnd(255, '!');
    const { room } = (await createRoom(key)).body;
    expect((await createRoom(key)).body.room).toEqual(room);
  });
});

test.each([ROOMS, '/trpc/rooms.create'])('input that is nested too deeply returns 400 from %s', async (path) => {
  // `JSON.stringify` would overflow the stack.
  const post = (key: string, depth: number) =>
    app.http.call('POST', path, {
      token: team.admin.token,
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      body: `{"ignored":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    });
  const [key, stored] = [newKey(), (await readKeys(app)).length];
  for (const depth of [5_000, 100]) {
    const { status, body } = await post(key, depth);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('Request body must not be nested more than 100 levels deep');
  }
  expect((await readKeys(app)).length).toBe(stored);
  // The input itself is the first level.
  expect((await post(key, 99)).status).toBeLessThan(300);
});

test('both transports share the keys of a caller, and the order of fields makes no difference', async () => {
  const key = newKey();
  const [one, other] = transports.map(([, createRoom]) => createRoom);
  const first = await one?.(key, { accent_color: '#112233', display_name: 'A' });
  const second = await other?.(key, { display_name: 'A', accent_color: '#112233' });
  expect(second).toMatchObject({ status: 200, isReplayed: true, body: first?.body });
});

test('the same key with another operation returns 422', async () => {
  const [key, token] = [newKey(), team.admin.token];
  const path = `${team.path}/labels`;
  const { label } = (await send(app, path, { key, token, json: { name: 'One operation' } })).body;
  for (const [method, target] of [
    ['PATCH', `${path}/${label.id}`],
    ['DELETE', `${path}/${label.id}`],
  ] as const)
    expect((await send(app, target, { method, key, token })).status, method).toBe(422);
});

describe('refusals', () => {
  test('that are final are repeated', async () => {
    const [token, path] = [team.admin.token, `${team.path}/labels`];
    const { label } = (await send(app, path, { token, json: { name: 'Taken' } })).body;
    const key = newKey();
    const first = await send(app, path, { key, token, json: { name: 'Taken' } });
    expect([first.status, first.isReplayed]).toEqual([409, false]);
    await send(app, `${path}/${label.id}`, { method: 'DELETE', token });
    const again = await send(app, path, { key, token, json: { name: 'Taken' } });
    const { request_id: _, ...body } = first.body;
    expect(again).toMatchObject({ status: 409, isReplayed: true, body });
  });

  test.each([
    ['REST', () => send(app, '/api/book/nope', { key: newKey(), json: BOOKING })],
    ['tRPC', () => mutate(app, 'bookings.book', { key: newKey(), json: { slug: 'nope', ...BOOKING } })],
    ['REST', () => send(app, '/api/rooms/nope/join', { key: newKey(), json: { name: 'Gina' } })],
    ['tRPC', () => mutate(app, 'participants.join', { key: newKey(), json: { roomName: 'nope', name: 'Gina' } })],
  ])('of callers without a credential store nothing over %s', async (_, call) => {
    const stored = (await readKeys(app)).length;
    expect((await call()).status).toBe(404);
    expect((await readKeys(app)).length).toBe(stored);
  });

  const recordings = '/api/dashboard/recordings';
  test.each<[string, (key: string, recordingId: number) => Promise<Outcome>]>([
    ['REST', (key, id) => send(app, `${recordings}/${id}/save-to-library`, { key, token: team.admin.token, json: {} })],
    [
      'tRPC',
      (key, recordingId) =>
        mutate(app, 'recordings.saveToLibrary', { key, token: team.admin.token, json: { recordingId } }),
    ],
  ])('of a recording that is not available yet leave the key free over %s', async (_, save) => {
    const { token } = team.admin;
    const { room } = (await send(app, ROOMS, { token, json: { workspace_id: team.id } })).body;
    const { recording, upload_token } = (await send(app, `${ROOMS}/${room.name}/recordings`, { token, json: {} })).body;
    const key = newKey();
    for (let times = 0; times < 2; times += 1)
      expect(await save(key, recording.id)).toMatchObject({ status: 409, isReplayed: false });
    expect((await uploadFile(app, recording.id, upload_token)).status).toBe(200);
    expect(await save(key, recording.id)).toMatchObject({ status: 200, isReplayed: false });
    expect(await save(key, recording.id)).toMatchObject({ status: 200, isReplayed: true });
  });

  test.each<[string, (key: string, name: string) => Promise<Outcome>]>([
    ['REST', (key, name) => send(app, `${team.path}/labels`, { key, token: team.admin.token, json: { name } })],
    [
      'tRPC',
      (key, name) => mutate(app, 'labels.create', { key, token: team.admin.token, json: { id: team.id, name } }),
    ],
  ])('because of a quota leave the key free over %s', async (name, create) => {
    await create(newKey(), `First ${name}`);
    quotas.labels = 1;
    const key = newKey();
    expect(await create(key, name)).toMatchObject({ status: 409, isReplayed: false });
    quotas.labels = defaultQuotas.labels;
    expect(await create(key, name)).toMatchObject({ status: 200, isReplayed: false });
  });

  test('of invalid input leave the key free', async () => {
    const [token, path, key] = [team.admin.token, `${team.path}/labels`, newKey()];
    for (const json of [{ name: '' }, { name: 5 }, {}])
      expect((await send(app, path, { key, token, json })).status).toBe(400);
    expect(await send(app, path, { key, token, json: { name: 'Corrected' } })).toMatchObject({ status: 200 });
  });

  test('of the caller come first, and use no key', async () => {
    const [json, path, key] = [{ name: 'Not allowed' }, `${team.path}/labels`, newKey()];
    const stored = (await readKeys(app)).length;
    for (const [token, status] of [
      [undefined, 401],
      ['lns_unknown', 401],
      [team.outsider.token, 403],
      [team.member.token, 403],
    ] as const) {
      expect((await send(app, path, { key, token, json })).status).toBe(status);
      expect((await send(app, path, { key: 'not valid', token, json })).status).toBe(status);
    }
    expect((await readKeys(app)).length).toBe(stored);
  });
});

test('reads ignore keys, whether they are valid or not', async () => {
  const stored = (await readKeys(app)).length;
  for (const key of [newKey(), 'not valid'])
    for (const path of [ROOMS, `${team.path}/labels`, '/trpc/rooms.list?input={}'])
      expect(await send(app, path, { method: 'GET', key, token: team.admin.token })).toMatchObject({
        status: 200,
        isReplayed: false,
      });
  expect((await readKeys(app)).length).toBe(stored);
});

test('a batch of several mutations with a key is refused, and a batch of one is not', async () => {
  const [key, token] = [newKey(), team.admin.token];
  const before = await countRooms();
  const headers = { 'idempotency-key': key };
  const post = (names: string, json: object) =>
    app.http.call('POST', `/trpc/${names}?batch=1`, { token, headers, json });
  expect((await post('rooms.create,rooms.create', { 0: {}, 1: {} })).status).toBe(400);
  expect(await countRooms()).toBe(before);
  const [{ result }] = (await post('rooms.create', { 0: {} })).body;
  const again = await post('rooms.create', { 0: {} });
  expect(again.body[0].result).toEqual(result);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await countRooms()).toBe(before + 1);
});

test('signing in ignores keys, and stores nothing', async () => {
  const key = newKey();
  const stored = (await readKeys(app)).length;
  const account = { name: 'Ada', email: 'key@example.com', password: 'correct horse battery' };
  expect((await send(app, '/api/auth/register', { key, json: account })).status).toBe(200);
  expect((await send(app, '/api/auth/register', { key, json: account })).status).toBe(409);
  const tokens = await concurrently(2, () => send(app, '/api/auth/login', { key, json: account }));
  expect(countStatuses(tokens)).toEqual({ 200: 2 });
  expect((await readKeys(app)).length).toBe(stored);
});
