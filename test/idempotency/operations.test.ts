/** Every operation that writes accepts a key, and records in its own transaction that it was carried out. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/client.ts';
import type { SqlDatabase } from '../../src/db/sql.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { allowedRoles, type Row, validCall } from '../contract/row.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { type Call, isServed, type Transport, viaRest, viaTrpc } from '../contract/transports.ts';
import { startTestApp } from '../support/test-app.ts';
import { newKey, readKeys } from './idempotent.ts';

/**
 * What signs in or proves who the caller is answers with a secret, or takes one that works once. Providers have
 * identifiers of their own. An export is a GET, which is recorded in the audit log.
 */
const IGNORES_KEYS = [
  ...['auth.register', 'auth.login', 'auth.reauthenticate', 'passwords.forgot', 'passwords.reset'],
  ...['openid.start', 'openid.complete', 'openid.link', 'openid.reauthenticate'],
  ...['passkeys.startSignIn', 'passkeys.signIn', 'passkeys.startRegistration'],
  ...['passkeys.startReauthentication', 'passkeys.reauthenticate'],
  'apps.connect',
  'ingest.callback',
  // The offset of a resumable upload tells whether a request was carried out.
  ...['library', 'recordings'].flatMap((of) => ['create', 'append', 'cancel'].map((act) => `${of}.${act}Upload`)),
  ...['contacts.export', 'audit.export', 'audit.exportLines'],
  ...['people.exportAccount', 'people.export', 'people.exportContact', 'people.exportParticipant'],
];

/** They consist of several transactions, and can be repeated. */
const REPEATABLE = ['contacts.import', 'webhooks.resendFailed', 'people.erase'];
/** Afterwards the caller may not make the call any more. */
const ENDS_ACCESS: Record<string, number> = {
  'auth.logout': 401,
  'auth.deleteMe': 401,
  'sessions.end': 401,
  'workspaces.delete': 404,
  'members.remove': 403,
};

const writes = Object.entries(rows).filter(([name, { writes }]) => writes && !IGNORES_KEYS.includes(name));

let world: World;
let scene: Scene;
let restorer: Restorer;
let losesAnswers = false;

beforeAll(async () => {
  world = await createWorld(await startTestApp({ wrapDatabase: loseAnswers }));
  scene = await world.addScene();
  restorer = await saveRows(world.app);
});
afterEach(async () => {
  losesAnswers = false;
  await restorer.restore();
});
afterAll(async () => {
  await restorer.close();
  await world.app.close();
});

/** While `losesAnswers`, no answer is stored after its operation, as if the process had ended. */
function loseAnswers(db: Database): Database {
  const { sql } = db;
  const lossy: SqlDatabase = {
    ...sql,
    run: (statement, params) =>
      losesAnswers && statement.name === 'store-idempotent-answer'
        ? Promise.reject(new Error('The process has ended'))
        : sql.run(statement, params),
  };
  return Object.assign(db, { sql: lossy });
}

async function toCall(name: string, row: Row, key: string): Promise<Call> {
  const by = (await row.caller?.(world)) ?? scene[allowedRoles(row).at(-1) ?? 'owner'];
  const call = validCall(name, row, scene, by);
  return { ...call, headers: { 'idempotency-key': key, 'idempotency-secret': newKey() } };
}

describe.each<[string, Transport]>([
  ['REST', viaRest],
  ['tRPC', viaTrpc],
])('over %s', (_, transport) => {
  const served = writes.filter(([name]) => isServed(name, transport));

  test.each(served)('%s is carried out once', async (name, row) => {
    const key = newKey();
    const call = await toCall(name, row, key);
    const first = await transport(world.app, call);
    expect(first.status).toBe(row.status ?? 200);
    const changed = await readSequences();
    const second = await transport(world.app, call);
    const status = ENDS_ACCESS[name];
    if (status === undefined) expect(second).toEqual(first);
    else expect(second.status).toBe(status);
    expect(await readSequences()).toEqual(changed);
  });
});

test.each(writes)('%s records that it was carried out when it commits', async (name, row) => {
  const key = newKey();
  losesAnswers = true;
  expect((await viaRest(world.app, await toCall(name, row, key))).status).toBe(row.status ?? 200);
  const [stored] = (await readKeys(world.app)).filter((one) => one.key === key);
  // Deleting a workspace or an account deletes the keys with it.
  if (['workspaces.delete', 'auth.deleteMe'].includes(name)) expect(stored).toBeUndefined();
  else expect(stored?.isExecuted).toBe(!REPEATABLE.includes(name));
});

/** The last ID of each table, except that of the rate limits and jobs. */
function readSequences(): Promise<unknown[]> {
  return world.app.services.db.$queryRaw`
    select sequencename, last_value from pg_sequences where schemaname = current_schema order by sequencename`;
}
