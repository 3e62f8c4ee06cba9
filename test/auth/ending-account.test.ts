/** A call whose session or account is deleted while it runs is answered, and never with a server error. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { validCall } from '../contract/row.ts';
import { createWorld, type Scene, type User, type World } from '../contract/scene.ts';
import { viaRest } from '../contract/transports.ts';
import { changeWhileBlocked, waitForLockWaitOr } from '../support/lock-waits.ts';
import { startTestApp } from '../support/test-app.ts';

const EXPECTED: Record<string, Record<string, number>> = {
  'openid.link': { session: 401, account: 401 },
  'openid.reauthenticate': { session: 401, account: 401 },
  'passkeys.startRegistration': { session: 401, account: 401 },
  'passkeys.startReauthentication': { session: 401, account: 401 },
  'emails.resend': { account: 401 },
  'people.exportAccount': { account: 401 },
  'workspaces.join': { account: 401 },
  'invitations.accept': { account: 401 },
  'calendarFeed.create': { account: 401 },
};

/** Operations outside of workspaces. Those in a workspace lock it, as deleting an account does. */
const names = Object.keys(rows).filter((name) => rows[name]?.who === 'user');

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

const deletions = {
  session: (client: pg.Client, { token }: User) =>
    client.query('delete from sessions where token_hash = $1', [hashToken(token)]),
  // As the operation does, in the same order.
  account: (client: pg.Client, { id }: User) =>
    client.query(`
      select w.id from workspaces w join members m on m.workspace_id = w.id where m.user_id = ${id}
        order by w.id for no key update of w;
      select id from users where id = ${id} for no key update;
      update rooms r set user_id = w.owner_id from workspaces w where w.id = r.workspace_id and r.user_id = ${id};
      delete from api_keys where created_by = ${id};
      delete from workspaces where owner_id = ${id};
      delete from users where id = ${id}`),
};
const kinds = ['session', 'account'] as const;
const cases = names.flatMap((name) => kinds.map((kind) => [name, kind] as const));

test.each(cases)('%s while its %s is deleted', async (name, kind) => {
  const { app } = world;
  const row = rows[name];
  if (!row) throw new Error(`No operation ${name}`);
  const by = (await row.caller?.(world)) ?? scene.member;
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await deletions[kind](client, by);
    const call = viaRest(app, validCall(name, row, scene, by));
    // Calls that only read do not wait for the deletion.
    await waitForLockWaitOr(app, call);
    await client.query('commit');
    const { status } = await call;
    expect(status).toBeLessThan(500);
    expect(status).toBe(EXPECTED[name]?.[kind] ?? status);
  } finally {
    await client.end();
  }
});

test.each(['passkeys.signIn', 'openid.complete'])(
  '%s while its account is locked asks to sign in again',
  async (name) => {
    const row = rows[name];
    if (!row) throw new Error(`No operation ${name}`);
    const { app } = world;
    const { id } = scene.member;
    const outcome = await changeWhileBlocked(
      app,
      `select from users where id = ${id} for no key update`,
      () => viaRest(app, validCall(name, row, scene, scene.member)),
      (client) => client.query('update users set locked_at = now() where id = $1', [id]),
    );
    expect(outcome).toMatchObject({
      status: 401,
      body: { code: 'SIGN_IN_REFUSED', error: 'The account has just been changed: sign in again' },
    });
  },
);
