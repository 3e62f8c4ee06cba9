/** Whose keys are whose, and who gets a stored answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPage, officeHours } from '../bookings/pages.ts';
import { addGuest } from '../recordings/recording-fixtures.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Team } from '../support/world.ts';
import { mutate, newKey, readKeys, send } from './idempotent.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function addApiKey(by = team.admin): Promise<{ id: number; token: string }> {
  const { body } = await app.http.post(`${team.path}/api-keys`, by.token, { name: 'Import' });
  return { id: body.apiKey.id, token: body.apiKey.full_key };
}

async function addRoomInTeam(): Promise<{ workspaceId: number; roomId: number; name: string }> {
  const { room } = (await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id })).body;
  return { workspaceId: team.id, roomId: room.id, name: room.name };
}

describe('the same key of another caller is another key', () => {
  test('users, API keys and workspaces', async () => {
    const key = newKey();
    const json = { name: 'Shared' };
    const keys = [await addApiKey(), await addApiKey()];
    const other = await addTeam(app);
    const create = (path: string, token: string) => send(app, `${path}/labels`, { key, token, json });
    expect(await create(team.path, team.admin.token)).toMatchObject({ status: 200, isReplayed: false });
    // The name is taken, so these requests were carried out.
    for (const token of [team.owner.token, ...keys.map((one) => one.token)])
      expect(await create(team.path, token)).toMatchObject({ status: 409, isReplayed: false, retryAfter: null });
    expect(await create(other.path, other.owner.token)).toMatchObject({ status: 200, isReplayed: false });
    expect(await create(other.path, team.admin.token)).toMatchObject({ status: 403, isReplayed: false });
  });

  test('the sessions of a user share theirs', async () => {
    const [key, person] = [newKey(), await addPerson(app, 'Sessions')];
    const login = { email: person.email, password: PASSWORD };
    const { token } = (await app.http.post('/api/auth/login', undefined, login)).body;
    const first = await send(app, ROOMS, { key, token: person.token, json: {} });
    expect(await send(app, ROOMS, { key, token, json: {} })).toEqual({ ...first, isReplayed: true });
  });

  test('participants', async () => {
    const room = await addRoomInTeam();
    const [one, other] = [await addGuest(app, room), await addGuest(app, room)];
    const key = newKey();
    const leave = (token: string) => send(app, `/api/rooms/${room.name}/leave`, { key, json: { token } });
    expect(await leave(one)).toMatchObject({ status: 200, isReplayed: false });
    expect(await leave(other)).toMatchObject({ status: 200, isReplayed: false });
    expect(await leave(one)).toMatchObject({ status: 200, isReplayed: true });
  });

  test.each(['REST', 'tRPC'])(
    'guests, by a secret that each of them has chosen, also behind one address (%s)',
    async (on) => {
      const { name, roomId } = await addRoomInTeam();
      const [key, one, other] = [newKey(), newKey(), newKey()];
      const join = (secret: string | undefined, json = { name: 'Gina' }) =>
        on === 'REST'
          ? send(app, `/api/rooms/${name}/join`, { key, secret, json })
          : mutate(app, 'participants.join', { key, secret, json: { roomName: name, ...json } });
      const first = await join(one);
      const second = await join(other);
      expect([first, second]).toMatchObject(Array(2).fill({ status: 200, isReplayed: false }));
      expect(second.body.participant.token).not.toBe(first.body.participant.token);
      expect(await join(one)).toEqual({ ...first, isReplayed: true });
      expect(await join(other)).toEqual({ ...second, isReplayed: true });
      expect((await join(one, { name: 'Gus' })).status).toBe(422);
      expect(await app.services.db.participant.count({ where: { roomId } })).toBe(2);
    },
  );

  test('the holders of a token, who need no other secret', async () => {
    const { slug } = await createPage(app, team, officeHours);
    const { times } = (await app.http.get(`/api/book/${slug}`)).body;
    const booked = await Promise.all(
      ['Vera', 'Viktor'].map(async (name, index) => {
        const json = { name, email: `${name}@example.com`, starts_at: times.at(-1 - index) };
        return (await send(app, `/api/book/${slug}`, { json })).body.booking;
      }),
    );
    const key = newKey();
    const cancel = (token: string) => send(app, `/api/book/${slug}/cancel`, { key, json: { token } });
    for (const { cancel_token } of booked) {
      expect(await cancel(cancel_token)).toMatchObject({ status: 200, isReplayed: false });
      expect(await cancel(cancel_token)).toMatchObject({ status: 200, isReplayed: true });
    }
  });
});

test('without a secret, a guest joins once, and nobody with the same key gets their token', async () => {
  const room = await addRoomInTeam();
  const key = newKey();
  const join = () => send(app, `/api/rooms/${room.name}/join`, { key, json: { name: 'Gina' } });
  const first = await join();
  expect(first).toMatchObject({ status: 200, body: { participant: { token: expect.stringMatching(/^lnp_/) } } });
  const again = await join();
  expect(again).toMatchObject({ status: 409, isReplayed: false, body: { code: 'IDEMPOTENCY_ANSWER_LOST' } });
  expect(JSON.stringify(again.body)).not.toContain('lnp_');
  expect(await app.services.db.participant.count({ where: { roomId: room.roomId } })).toBe(1);
  // An earlier version stored the answer.
  await app.services.db.$executeRaw`update idempotency_keys set answer = ${Buffer.from('sealed')} where key = ${key}`;
  expect(await join()).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_ANSWER_LOST' } });
});

test.each(['too short', `${'x'.repeat(256)}`, 'with a space but long enough'])(
  'the secret %j is refused',
  async (secret) => {
    const room = await addRoomInTeam();
    const answer = await send(app, `/api/rooms/${room.name}/join`, { key: newKey(), secret, json: { name: 'Gina' } });
    const message = 'Idempotency-Secret must have 22 to 255 visible ASCII characters';
    expect(answer).toMatchObject({ status: 400, body: { issues: [{ path: 'Idempotency-Secret', message }] } });
    expect(await app.services.db.participant.count({ where: { roomId: room.roomId } })).toBe(0);
  },
);

describe('a stored answer is only for those who may still make the call', () => {
  test('a session that has ended, and an API key that was switched off, get 401', async () => {
    const person = await addPerson(app, 'Leaving');
    const { id, token } = await addApiKey();
    const key = newKey();
    const path = `${team.path}/labels`;
    expect((await send(app, ROOMS, { key, token: person.token, json: {} })).status).toBe(201);
    expect((await send(app, path, { key, token, json: { name: 'By a key' } })).status).toBe(200);
    await app.http.post('/api/auth/logout', person.token);
    await app.http.patch(`${team.path}/api-keys/${id}`, team.owner.token);
    expect((await send(app, ROOMS, { key, token: person.token, json: {} })).status).toBe(401);
    expect((await send(app, path, { key, token, json: { name: 'By a key' } })).status).toBe(401);
  });

  test('a member who was demoted or removed gets 403 if the path names the workspace, and otherwise 409', async () => {
    const { admin, owner, path, id } = await addTeam(app);
    const [one, other] = [newKey(), newKey()];
    const label = () => send(app, `${path}/labels`, { key: one, token: admin.token, json: { name: 'Once' } });
    const room = () => mutate(app, 'rooms.create', { key: other, token: admin.token, json: { workspace_id: id } });
    expect([(await label()).status, (await room()).status]).toEqual([200, 200]);
    expect([(await label()).isReplayed, (await room()).isReplayed]).toEqual([true, true]);
    await app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'member' });
    const code = 'IDEMPOTENCY_ANSWER_LOST';
    const message =
      'The request with this Idempotency-Key was carried out, but you no longer have the role that its response ' +
      'requires';
    expect(await label()).toMatchObject({ status: 403, isReplayed: false });
    expect(await room()).toMatchObject({ status: 409, isReplayed: false, body: { code, message } });
    await app.http.delete(`${path}/members/${admin.id}`, owner.token);
    expect(await label()).toMatchObject({ status: 403, isReplayed: false });
    expect(await room()).toMatchObject({ status: 409, isReplayed: false, body: { code } });
  });

  test('a member who was demoted gets 403 if the request was refused', async () => {
    const { admin, owner, path, id } = await addTeam(app);
    const json = { workspace_id: id, name: `taken-${id}` };
    await send(app, ROOMS, { token: owner.token, json });
    const key = newKey();
    const room = () => send(app, ROOMS, { key, token: admin.token, json });
    expect((await room()).status).toBe(409);
    await app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'member' });
    expect(await room()).toMatchObject({ status: 403, isReplayed: false });
  });

  test.each([
    ['REST', send, ROOMS],
    ['tRPC', mutate, 'rooms.create'],
  ] as const)('a promotion, and changes in other workspaces, make no difference over %s', async (_, call, target) => {
    const [one, other] = [await addTeam(app), await addTeam(app)];
    const { token } = one.admin;
    const { token: invite } = (await app.http.post(`${other.path}/invite`, other.owner.token)).body;
    expect((await app.http.post(`/api/workspaces/join/${invite}`, token)).status).toBe(200);
    const setRole = async (to: Team, role: string) => {
      const { status } = await app.http.patch(`${to.path}/members/${one.admin.id}`, to.owner.token, { role });
      expect(status).toBe(200);
    };
    await setRole(other, 'admin');
    const key = newKey();
    const create = () => call(app, target, { key, token, json: { workspace_id: one.id } });
    const first = await create();
    expect(first.body.room.workspace_id).toBe(one.id);
    await setRole(other, 'member');
    expect(await create()).toEqual({ ...first, isReplayed: true });
    await app.http.delete(`${other.path}/members/${one.admin.id}`, other.owner.token);
    expect(await create()).toEqual({ ...first, isReplayed: true });
    await setRole(one, 'owner');
    expect(await create()).toEqual({ ...first, isReplayed: true });
  });

  test('where the result names no workspace, every role counts, and a promotion makes no difference', async () => {
    const { member, owner, path } = await addTeam(app);
    const key = newKey();
    const json = { name: 'Renamed' };
    const rename = () => send(app, '/api/auth/me', { method: 'PATCH', key, token: member.token, json });
    const first = await rename();
    expect(first.status).toBe(200);
    await app.http.patch(`${path}/members/${member.id}`, owner.token, { role: 'admin' });
    expect(await rename()).toEqual({ ...first, isReplayed: true });
    await app.http.delete(`${path}/members/${member.id}`, owner.token);
    expect(await rename()).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_ANSWER_LOST' } });
  });

  test('a workspace that a user has created or joined since makes no difference', async () => {
    const [key, person] = [newKey(), await addPerson(app, 'Founder')];
    const create = () => send(app, '/api/workspaces', { key, token: person.token, json: { name: 'New' } });
    const first = await create();
    expect(first).toMatchObject({ status: 200, isReplayed: false });
    await app.http.post('/api/workspaces', person.token, { name: 'Another' });
    expect(await create()).toEqual({ ...first, isReplayed: true });
  });
});

describe('answers are sealed', () => {
  test('a secret that is shown once is shown again, and is not in the table', async () => {
    const { token } = team.owner;
    const webhook = { name: 'Hook', url: 'https://example.com/hook', events: ['room.created'] };
    for (const [path, json, secretOf] of [
      ['api-keys', { name: 'Sealed' }, (body: Record<string, Record<string, string>>) => body.apiKey?.full_key],
      ['webhooks', webhook, (body: Record<string, Record<string, string>>) => body.webhook?.secret],
    ] as const) {
      const key = newKey();
      const request = { key, token, json };
      const first = await send(app, `${team.path}/${path}`, request);
      expect(await send(app, `${team.path}/${path}`, request)).toEqual({ ...first, isReplayed: true });
      const secret = secretOf(first.body);
      expect(secret).toMatch(/^(?:lnx_|whsec_)/);
      const [row] = (await readKeys(app)).filter((stored) => stored.key === key);
      expect(row?.text.length).toBeGreaterThan(100);
      for (const hidden of [secret ?? '', json.name, 'full_key', 'whsec_']) expect(row?.text).not.toContain(hidden);
    }
  });

  test('a password in the input cannot be guessed from the table', async () => {
    const person = await addPerson(app, 'Changer');
    const json = { password: 'another horse battery', current_password: PASSWORD };
    const request = { method: 'PATCH', key: newKey(), token: person.token, json };
    expect(await send(app, '/api/auth/me', request)).toMatchObject({ status: 200, isReplayed: false });
    expect(await send(app, '/api/auth/me', request)).toMatchObject({ status: 200, isReplayed: true });
    const [row] = (await readKeys(app)).filter((stored) => stored.key === request.key);
    expect(row?.text).not.toContain('horse');
  });

  test('a row that is copied to another caller cannot be opened', async () => {
    const [key, json] = [newKey(), { name: 'Copied' }];
    const [one, other] = [await addPerson(app, 'One'), await addPerson(app, 'Other')];
    await send(app, '/api/workspaces', { key, token: one.token, json });
    await app.services.db.$executeRaw`update idempotency_keys set caller = ${`user:${other.id}`} where key = ${key}`;
    await app.services.db.$executeRaw`update idempotency_keys set roles = null where key = ${key}`;
    expect((await send(app, '/api/workspaces', { key, token: other.token, json })).status).toBe(500);
  });
});

describe('deleting', () => {
  test('a workspace deletes the keys of its operations, also that of the deletion', async () => {
    const { path, owner, id } = await addTeam(app);
    const [one, other] = [newKey(), newKey()];
    await send(app, `${path}/labels`, { key: one, token: owner.token, json: { name: 'Gone' } });
    const remove = () => send(app, path, { method: 'DELETE', key: other, token: owner.token });
    expect((await remove()).status).toBe(200);
    expect(await app.services.db.idempotencyKey.count({ where: { workspaceId: id } })).toBe(0);
    expect((await readKeys(app)).filter(({ key }) => [one, other].includes(key))).toEqual([]);
    expect((await remove()).status).toBe(404);
  });

  test('an account deletes its keys, also that of the deletion', async () => {
    const person = await addPerson(app, 'Gone');
    await send(app, ROOMS, { key: newKey(), token: person.token, json: {} });
    const remove = () => send(app, '/api/auth/me', { method: 'DELETE', key: newKey(), token: person.token });
    expect((await remove()).status).toBe(200);
    expect(await app.services.db.idempotencyKey.count({ where: { userId: person.id } })).toBe(0);
    expect((await remove()).status).toBe(401);
  });
});
