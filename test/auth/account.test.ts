/** Accounts: registering, changing, deleting, and what remains after a deletion. */
import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resetPassword } from '../../src/features/auth/operator.ts';
import { dumpTables } from '../support/dump.ts';
import { eventsOf } from '../support/events.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function register(json: object) {
  return app.http.post('/api/auth/register', undefined, { name: 'New', password: PASSWORD, ...json });
}

function login(email: string, password = PASSWORD) {
  return app.http.post('/api/auth/login', undefined, { email, password });
}

describe('registering', () => {
  test('returns {user, token, expires_at}, and the token works', async () => {
    const { status, body } = await register({ name: ' Grace ', email: 'grace@example.com' });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'token', 'user']);
    expect(body.token).toMatch(/^lns_[A-Za-z0-9_-]{43}$/);
    expect(Math.abs(body.expires_at - Date.now() / 1000 - 30 * 86_400)).toBeLessThan(60);
    expect(body.user).toEqual({
      id: body.user.id,
      name: 'Grace',
      email: 'grace@example.com',
      email_verified: false,
      recording_mail: true,
      created_at: body.user.created_at,
    });
    expect((await app.http.get('/api/auth/me', body.token)).body).toEqual({ user: body.user });
  });

  test('creates one account per email address, whatever its case', async () => {
    expect((await register({ email: '  MiXeD@Example.COM ' })).body.user.email).toBe('mixed@example.com');
    for (const email of ['mixed@example.com', 'MIXED@EXAMPLE.COM'])
      expect(await register({ email })).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT', message: 'An account with this email address already exists' },
      });
    expect((await login('mIXED@example.com')).status).toBe(200);
  });

  test('stores nothing if it fails', async () => {
    await register({ email: 'taken@example.com' });
    const before = await dumpTables(app);
    expect((await register({ email: 'taken@example.com' })).status).toBe(409);
    expect((await register({ email: 'fresh@example.com', password: 'short' })).status).toBe(400);
    expect(await dumpTables(app)).toEqual(before);
  });

  test('treats an address with a plus tag as another address', async () => {
    for (const email of ['tag@example.com', 'tag+1@example.com']) expect((await register({ email })).status).toBe(200);
  });

  test.each([
    'nobody',
    '@example.com',
    'a@',
    'a b@example.com',
    'a@example',
    'a@example.com.',
    'a@exam\u0000ple.com',
    'a\ud800@example.com',
    'a＠example.com',
    'аdmin@example.com',
    'admin@exampl\u212a.com',
    `${'a'.repeat(320)}@example.com`,
    `a@${'b'.repeat(250)}.com`,
    '',
  ])('refuses the address %j', async (email) => {
    const { status, body } = await register({ email });
    expect([status, body.issues[0].path]).toEqual([400, 'email']);
  });

  test.each([
    ['8 characters', 'k9 q7 zx', 200],
    ['200 characters', 'a'.repeat(200), 200],
    ['surrounding spaces', '  blanks  ', 200],
    ['any script', 'пароль密码🐈!', 200],
    ['7 characters', 'a'.repeat(7), 400],
    ['201 characters', 'a'.repeat(201), 400],
    ['a lone surrogate', `${'a'.repeat(10)}\ud800`, 400],
  ])('with a password of %s', async (what, password, status) => {
    const email = `password${what.replace(/\W/g, '')}@example.com`;
    expect((await register({ email, password })).status).toBe(status);
    expect((await login(email, password)).status).toBe(status === 200 ? 200 : what.startsWith('201') ? 400 : 401);
    if (status === 200)
      expect((await login(email, password.trim() === password ? `${password} ` : password.trim())).status).not.toBe(
        200,
      );
  });

  test('does not hash a password that is too long', async () => {
    const password = 'a'.repeat(7_000);
    expect((await register({ email: 'long@example.com', password })).status).toBe(400);
    expect((await login('long@example.com', password)).status).toBe(400);
  });

  test('ignores fields that only the service sets', async () => {
    const { body } = await register({
      email: 'sneaky@example.com',
      id: 1,
      user_id: 1,
      created_at: 0,
      password_hash: 'x',
      role: 'owner',
      __proto__: { name: 'Polluted' },
    });
    expect(body.user.id).not.toBe(1);
    expect(body.user.created_at).toBeGreaterThan(0);
    expect((await login('sneaky@example.com')).status).toBe(200);
  });
});

describe('changing', () => {
  test('the name changes the name only, and takes effect immediately', async () => {
    const { token, email, id } = await addPerson(app);
    const { body } = await app.http.patch('/api/auth/me', token, {
      name: 'Changed',
      email: 'other@example.com',
      id: 1,
    });
    expect(body.user).toMatchObject({ id, name: 'Changed', email });
    expect((await app.http.get('/api/auth/me', token)).body).toEqual(body);
    expect((await login(email)).status).toBe(200);
  });

  test('without any field changes nothing', async () => {
    const { token } = await addPerson(app);
    const before = await dumpTables(app);
    for (const json of [undefined, {}]) expect((await app.http.patch('/api/auth/me', token, json)).status).toBe(200);
    expect(await dumpTables(app)).toEqual(before);
  });

  test('the password ends all sessions except that of the call', async () => {
    const { token, email } = await addPerson(app);
    const other = await addPerson(app);
    const others = [(await login(email)).body.token, (await login(email)).body.token];
    const changed = await app.http.patch('/api/auth/me', token, {
      password: 'another password',
      current_password: PASSWORD,
    });
    expect(changed.status).toBe(200);
    for (const ended of others) expect((await app.http.get('/api/auth/me', ended)).status).toBe(401);
    for (const valid of [token, other.token]) expect((await app.http.get('/api/auth/me', valid)).status).toBe(200);
    expect((await login(email)).status).toBe(401);
    expect((await login(email, 'another password')).status).toBe(200);
  });

  test('the password without the current one is 400, and no session ends', async () => {
    const { token, email } = await addPerson(app);
    const other = (await login(email)).body.token;
    const password = 'another password';
    for (const current_password of [undefined, 'wrong password', ''])
      expect(await app.http.patch('/api/auth/me', token, { password, current_password, name: 'No' })).toMatchObject({
        status: 400,
        body: { issues: [{ path: 'current_password' }] },
      });
    expect((await app.http.get('/api/auth/me', other)).body.user.name).toBe('Ada');
    expect((await login(email)).status).toBe(200);
  });
});

describe('deleting', () => {
  test('ends every session, frees the email address, and deletes workspaces without other members', async () => {
    const { token, email, client, id } = await addPerson(app);
    await client.workspaces.create.mutate({ name: 'Alone' });
    const second = (await login(email)).body.token;
    expect(await app.http.delete('/api/auth/me', token)).toMatchObject({ status: 200, body: { ok: true } });
    for (const ended of [token, second]) expect((await app.http.get('/api/auth/me', ended)).status).toBe(401);
    expect((await login(email)).status).toBe(401);
    const left = JSON.stringify(await dumpTables(app));
    expect(left).not.toContain(email);
    expect(await app.services.db.workspace.count({ where: { ownerId: id } })).toBe(0);
    expect((await register({ email })).status).toBe(200);
  });

  test('is rejected with 409 while the user owns a workspace with other members, and changes nothing', async () => {
    const team = await addTeam(app);
    const before = await dumpTables(app);
    expect(await app.http.delete('/api/auth/me', team.owner.token)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'First transfer or delete the workspaces you own that have other members' },
    });
    expect(await dumpTables(app)).toEqual(before);
    await team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.member.id, role: 'owner' });
    expect((await app.http.delete('/api/auth/me', team.owner.token)).status).toBe(200);
    const { body } = await app.http.get(team.path, team.member.token);
    expect(body.workspace).toMatchObject({ owner_id: team.member.id, role: 'owner' });
  });

  test('keeps what the user created in other workspaces, without an author, and emits member.left', async () => {
    const team = await addTeam(app);
    const { body: made } = await app.http.post(`${team.path}/labels`, team.admin.token, { name: 'Left' });
    const { body: uploaded } = await upload(app, team.path, team.admin.token);
    const item = `${team.path}/library/${uploaded.item.id}`;
    await app.http.post(`${item}/labels`, team.admin.token, { labelId: made.label.id });

    expect((await app.http.delete('/api/auth/me', team.admin.token)).status).toBe(200);

    const { body: labels } = await app.http.get(`${team.path}/labels`, team.member.token);
    expect(labels.labels).toMatchObject([{ name: 'Left', created_by_name: 'Deleted user' }]);
    const renamed = await app.http.patch(`${team.path}/labels/${made.label.id}`, team.owner.token, { name: 'Kept' });
    expect(renamed.body.label).toMatchObject({ created_by: null, created_by_name: 'Deleted user' });
    const { body: list } = await app.http.get(`${team.path}/library`, team.member.token);
    expect(list.items).toMatchObject([
      { uploaded_by: null, uploaded_by_name: 'Deleted user', labels: [{ name: 'Kept' }] },
    ]);
    expect((await app.http.get(item, team.member.token)).body.item).toMatchObject(list.items[0]);
    expect((await app.http.get(`${item}/download`, team.member.token)).status).toBe(200);
    expect((await app.http.patch(item, team.member.token, { name: 'Renamed' })).status).toBe(200);
    expect((await app.http.delete(item, team.member.token)).status).toBe(200);

    expect(await eventsOf(app, team.id, 'member.left')).toEqual([
      {
        type: 'member.left',
        data: {
          workspace_id: team.id,
          workspace_name: 'Team',
          user_id: team.admin.id,
          user_name: 'Adam Admin',
          reason: 'account_deleted',
        },
      },
    ]);
    const { body: read } = await app.http.get(team.path, team.owner.token);
    expect(read.workspace.members.map(({ id }: { id: number }) => id)).toEqual([team.owner.id, team.member.id]);
  });
});

describe('a password with an umlaut', () => {
  // As most keyboards type it, as macOS decomposes it, and with the space of its Option key.
  const [composed, decomposed, spaced] = ['f\u00fcr immer', 'fu\u0308r immer', 'fu\u0308r\u00a0immer'] as const;
  const forms = [composed, decomposed, spaced];

  async function expectToWork(email: string, suffix = '') {
    for (const form of forms) expect((await login(email, form + suffix)).status, JSON.stringify(form)).toBe(200);
    expect((await login(email, `fur immer${suffix}`)).status).toBe(401);
  }

  test('is the same in every form, wherever it is read', async () => {
    const email = 'umlaut@example.com';
    const { token } = (await register({ email, password: decomposed })).body;
    await expectToWork(email);
    const change = { current_password: composed, password: `${spaced} 2` };
    expect((await app.http.patch('/api/auth/me', token, change)).status).toBe(200);
    await expectToWork(email, ' 2');
    for (const form of forms) {
      const confirmation = { password: `${form} 2` };
      expect((await app.http.post('/api/auth/reauthenticate', token, confirmation)).status).toBe(200);
    }
    await app.http.post('/api/auth/forgot-password', undefined, { email });
    const reset = { token: await tokenFor(app, email, 'reset-password'), password: `${decomposed} 3` };
    expect((await app.http.post('/api/auth/reset-password', undefined, reset)).status).toBe(200);
    await expectToWork(email, ' 3');
    await resetPassword(app.services, { email, password: spaced, endApiKeys: false });
    await expectToWork(email);
  });

  test('still works as it was typed if an earlier version hashed it', async () => {
    const email = 'earlier@example.com';
    await register({ email });
    const passwordHash = await hash(decomposed, { memoryCost: 8, timeCost: 1, parallelism: 1 });
    await app.services.db.user.update({ where: { email }, data: { passwordHash } });
    expect((await login(email, decomposed)).status).toBe(200);
    expect((await login(email, spaced)).status).toBe(401);
  });

  test('has as many characters as people count', async () => {
    const longest = 'u\u0308'.repeat(200);
    expect((await register({ email: 'long@example.com', password: longest })).status).toBe(200);
    expect((await login('long@example.com', longest)).status).toBe(200);
    expect((await register({ email: 'longer@example.com', password: `${longest}x` })).status).toBe(400);
    expect((await register({ email: 'short@example.com', password: 'u\u0308'.repeat(7) })).status).toBe(400);
    expect((await login('long@example.com', `${longest}x`)).status).toBe(400);
  });
});
