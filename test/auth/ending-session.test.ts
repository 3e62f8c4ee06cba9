/**
 * A session that is ended while its call waits changes neither the sign-in methods nor the address, and creates no
 * calendar feed and connects no app, so that a person who stole it keeps no access.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { validCall } from '../contract/row.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { transports } from '../contract/transports.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

const OPERATIONS = [
  'passkeys.register',
  'passkeys.remove',
  'secondFactor.setUp',
  'secondFactor.confirm',
  'secondFactor.createRecoveryCodes',
  'secondFactor.remove',
  'openid.unlink',
  'emails.change',
  'calendarFeed.create',
  'apps.connect',
];

let world: World;
let scene: Scene;
let restorer: Restorer;

beforeAll(async () => {
  world = await createWorld(await startTestApp());
  scene = await world.addScene();
  restorer = await saveRows(world.app);
});
afterEach(() => restorer.restore());
afterAll(async () => {
  await restorer.close();
  await world.app.close();
});

test.each(OPERATIONS.flatMap((name) => transports.map(([transport, call]) => [name, transport, call] as const)))(
  '%s over %s is refused if its session ends while it waits for the user',
  async (name, _transport, call) => {
    const { app } = world;
    const row = rows[name];
    if (!row) throw new Error(`No operation ${name}`);
    const by = (await row.caller?.(world)) ?? scene.member;
    const outcome = await changeWhileBlocked(
      app,
      `select id from users where id = ${by.id} for update`,
      () => call(app, validCall(name, row, scene, by)),
      (client) => client.query('delete from sessions where token_hash = $1', [hashToken(by.token)]),
    );
    expect(outcome).toMatchObject({ status: 401, body: { code: 'SIGN_IN_EXPIRED' } });
  },
);

test('ending a session waits for its call that creates a calendar feed', async () => {
  const { app } = world;
  const { id, email, token } = await addPerson(app);
  await app.http.post('/api/auth/calendar-feed', token);
  const other = (await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).body.token;
  let ending: ReturnType<typeof app.http.delete> | undefined;
  const created = await changeWhileBlocked(
    app,
    `select from calendar_feeds where user_id = ${id} for update`,
    () => app.http.post('/api/auth/calendar-feed', token),
    async () => {
      ending = app.http.delete('/api/auth/sessions', other);
      await waitForLockWait(app, 2);
    },
  );
  expect(created.status).toBe(200);
  expect((await ending)?.body).toEqual({ ended: 1 });
});
