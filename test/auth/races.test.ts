/** Concurrent registration and sign-in. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('of 20 registrations with the same email address exactly one succeeds, and creates one Personal', async () => {
  const email = 'one@example.com';
  const answers = await concurrently(20, (index) =>
    app.http.post('/api/auth/register', undefined, {
      name: `Twin ${index}`,
      email: index % 2 === 0 ? email : email.toUpperCase(),
      password: PASSWORD,
    }),
  );
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 19 });
  expect(await app.services.db.user.count({ where: { email } })).toBe(1);
  expect(await app.services.db.workspace.count({ where: { isPersonal: true } })).toBe(1);
});

test('20 concurrent registrations create 20 Personal workspaces with different slugs', async () => {
  const people = await concurrently(20, (index) => addPerson(app, `Person ${index}`));
  const personal = await app.services.db.workspace.findMany({
    where: { isPersonal: true, ownerId: { in: people.map(({ id }) => id) } },
  });
  expect(new Set(personal.map(({ ownerId }) => ownerId)).size).toBe(20);
  expect(new Set(personal.map(({ slug }) => slug)).size).toBe(20);
});

test.each(['login first', 'change first'])(
  'no session of the old password survives its change, not even one that starts at the same time: %s',
  async (order) => {
    const { token, email, id } = await addPerson(app);
    const login = () => app.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
    const change = () =>
      app.http.patch('/api/auth/me', token, { password: 'another password', current_password: PASSWORD });
    // Both have verified the old password before they wait for the lock on the user's row.
    const holder = new pg.Client({ connectionString: app.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from users where id = $1 for update', [id]);
      const [first, second] = order === 'login first' ? [login, change] : [change, login];
      const one = first();
      await waitForLockWait(app, 1);
      const other = second();
      await waitForLockWait(app, 2);
      await holder.query('commit');
      const [signedIn, changed] =
        order === 'login first' ? await Promise.all([one, other]) : await Promise.all([other, one]);
      expect(changed.status).toBe(200);
      expect(signedIn.status).toBe(order === 'login first' ? 200 : 401);
      expect((await app.http.get('/api/auth/me', token)).status).toBe(200);
      expect(await app.services.db.session.count({ where: { userId: id } })).toBe(1);
    } finally {
      await holder.end();
    }
  },
);

test('an account is deleted together with a workspace that its user creates at the same time', async () => {
  const { token, id } = await addPerson(app);
  const workspace = { name: 'Just in time' };
  const deleted = await changeWhileBlocked(
    app,
    `select from users where id = ${id} for no key update`,
    () => app.http.delete('/api/auth/me', token),
    async () => expect((await app.http.post('/api/workspaces', token, workspace)).status).toBe(200),
  );
  expect(deleted.status).toBe(200);
  expect(await app.services.db.workspace.count({ where: workspace })).toBe(0);
});
