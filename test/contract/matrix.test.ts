/**
 * The authorisation matrix: each operation, by each kind of caller, through both transports, with the status that its
 * row's `who` and `keys` demand. What is refused leaves every row of every table as it was.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isAtLeast, type Role } from '../../src/core/roles.ts';
import { operations } from '../support/api.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { upload } from '../support/world.ts';
import { rows } from './operations.ts';
import { type Restorer, rememberRows } from './restore.ts';
import { type Child, isNamedByText, type Row, workspaceOf } from './row.ts';
import { rowHints } from './row-hints.ts';
import { addKey, createWorld, foreignChildren, type Scene, type Someone, type World } from './scene.ts';
import { type Input, type Outcome, type Transport, transports, withoutRandomness } from './transports.ts';

const UNKNOWN_ID = 2_147_483_647;

/** What a kind of caller shows, and what it is worth. */
type Credential = {
  kind: 'none' | 'session' | 'key';
  /** Whether what it shows is good for nothing. */
  isWrong?: true;
  /** The role in the workspace that the call is about. */
  role: Role | null;
  /** Whether it is the owner, who the room belongs to, and may act as them here. */
  ownsRoom?: boolean;
  /** The operations that say 409 to this caller for what they are, not for what they may. */
  conflicts?: readonly string[];
};

/** Who owns a workspace with others cannot delete their account. */
const conflicts = ['auth.deleteMe'];

const callers = {
  anonymous: { kind: 'none', role: null },
  outsider: { kind: 'session', role: null },
  member: { kind: 'session', role: 'member' },
  admin: { kind: 'session', role: 'admin' },
  owner: { kind: 'session', role: 'owner', ownsRoom: true, conflicts },
  'removed member': { kind: 'session', role: null },
  'key of the owner': { kind: 'key', role: 'owner', ownsRoom: true },
  'key of an admin': { kind: 'key', role: 'admin' },
  'key of the owner for another workspace': { kind: 'key', role: null },
  'key of an outsider': { kind: 'key', role: null },
  'inactive key': { kind: 'none', role: null, isWrong: true },
  'key whose creator left': { kind: 'none', role: null, isWrong: true },
  'key that was deleted': { kind: 'none', role: null, isWrong: true },
} as const satisfies Record<string, Credential>;
type CallerName = keyof typeof callers;
const callerNames = Object.keys(callers) as CallerName[];

/** The one rule from a row and a caller to a status. */
function expectedStatus(name: string, row: Row, caller: Credential): number {
  const success = row.status ?? 200;
  if (row.who === 'anyone') return row.knowsCaller && caller.isWrong ? 401 : success;
  if (caller.kind === 'none') return 401;
  if (caller.kind === 'key' && !row.keys) return 403;
  if (caller.conflicts?.includes(name)) return 409;
  if (row.who === 'user') return success;
  if (row.who === 'room owner') return caller.ownsRoom ? success : 404;
  if (row.who === 'room host')
    return caller.ownsRoom || (caller.role !== null && isAtLeast(caller.role, 'admin')) ? success : 404;
  return caller.role !== null && isAtLeast(caller.role, row.who) ? success : 403;
}

type Shown = { token: string | undefined; by: Someone };

/** Each kind of caller, in a workspace of the scene. Every key that works has been used before. */
async function createCallers(world: World, scene: Scene): Promise<Record<CallerName, Shown>> {
  const { app, workspaceId, owner, admin, member, outsider } = scene;
  const { http } = app;
  const path = `/api/workspaces/${workspaceId}`;
  const removed = await world.addSomeone('Remo');
  const leaver = await world.addSomeone('Lea');
  for (const { token } of [removed, leaver]) await http.post(`/api/workspaces/join/${scene.inviteToken}`, token);
  await http.patch(`${path}/members/${leaver.id}`, owner.token, { role: 'admin' });
  const second = await http.post('/api/workspaces', owner.token, { name: 'Second' });
  const ofOwner = await addKey(app, workspaceId, owner);
  const ofAdmin = await addKey(app, workspaceId, admin);
  const elsewhere = await addKey(app, second.body.workspace.id, owner);
  const ofOutsider = await addKey(app, scene.foreign.workspaceId, outsider);
  const inactive = await addKey(app, workspaceId, owner);
  const ofLeaver = await addKey(app, workspaceId, leaver);
  const deleted = await addKey(app, workspaceId, owner);
  for (const { key } of [ofOwner, ofAdmin, elsewhere, ofOutsider, inactive, ofLeaver, deleted])
    expect((await http.get('/api/workspaces', key)).status).toBe(200);
  await http.patch(`${path}/api-keys/${inactive.id}`, owner.token, { is_active: 0 });
  await http.delete(`${path}/api-keys/${deleted.id}`, owner.token);
  await http.delete(`${path}/members/${leaver.id}`, leaver.token);
  await http.delete(`${path}/members/${removed.id}`, owner.token);
  // Leaving has switched it off: it is to be refused also for the membership that is missing.
  await http.patch(`${path}/api-keys/${ofLeaver.id}`, owner.token, { is_active: 1 });
  return {
    anonymous: { token: undefined, by: member },
    outsider: { token: outsider.token, by: outsider },
    member: { token: member.token, by: member },
    admin: { token: admin.token, by: admin },
    owner: { token: owner.token, by: owner },
    'removed member': { token: removed.token, by: removed },
    'key of the owner': { token: ofOwner.key, by: owner },
    'key of an admin': { token: ofAdmin.key, by: admin },
    'key of the owner for another workspace': { token: elsewhere.key, by: owner },
    'key of an outsider': { token: ofOutsider.key, by: outsider },
    'inactive key': { token: inactive.key, by: owner },
    'key whose creator left': { token: ofLeaver.key, by: leaver },
    'key that was deleted': { token: deleted.key, by: owner },
  };
}

let app: TestApp;
let world: World;
let scene: Scene;
let shown: Record<CallerName, Shown>;
let restorer: Restorer;
beforeAll(async () => {
  // The clock stands, so that a key that was used is not noted again: no table and no column is left out below.
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
  world = await createWorld(app);
  scene = await world.addScene();
  shown = await createCallers(world, scene);
  restorer = await rememberRows(app);
});
afterAll(async () => {
  await restorer.close();
  await app.close();
});
afterEach(() => restorer.restore());

test('every operation of the router has a row, and so a place in the matrix', () => {
  expect(Object.keys(rows).sort(), rowHints()).toEqual(operations.map(({ name }) => name).sort());
});

/** The text of a refusal, where the status decides it. */
function expectedMessage(row: Row, status: number): string | undefined {
  return status === 401
    ? 'Unauthorized'
    : status === 403
      ? (row.forbidden ?? 'Forbidden')
      : status === 404
        ? Object.values(row.children ?? {})[0]
        : undefined;
}

function call(transport: Transport, name: string, by: CallerName, more: Input = {}): Promise<Outcome> {
  const row = rows[name];
  if (!row) throw new Error(`No row ${name}`);
  const { token, by: person } = shown[by];
  return transport(app, { name, token, input: { ...row.input(scene, person), ...more } });
}

test('the upload, which has a transport of its own, is for members and their keys', async () => {
  const row: Row = { who: 'member', keys: true, input: () => ({}), writes: true };
  const path = `/api/workspaces/${scene.workspaceId}`;
  for (const caller of callerNames) {
    const expected = expectedStatus('upload', row, callers[caller]);
    expect((await upload(app, path, shown[caller].token)).status, caller).toBe(expected);
    expect(await restorer.restore(), caller).toBe(expected === 200);
  }
  for (const caller of ['owner', 'key of the owner'] as const) {
    const { status } = await upload(app, `/api/workspaces/${scene.foreign.workspaceId}`, shown[caller].token);
    expect(status, caller).toBe(403);
  }
  expect(await dumpTables(app)).toEqual(restorer.rows);
});

test('contacts as CSV, which have transports of their own, are for admins and their keys', async () => {
  const path = (id: number): string => `/api/workspaces/${id}`;
  const importCsv = (id: number, token: string | undefined) =>
    app.http.call('POST', `${path(id)}/contacts/import`, {
      token,
      headers: { 'content-type': 'text/csv' },
      body: 'email\nwanda@example.com\n',
    });
  const row: Row = { who: 'admin', keys: true, input: () => ({}), writes: true };
  for (const caller of callerNames) {
    const { token } = shown[caller];
    const read = expectedStatus('contacts.csv', { ...row, writes: false }, callers[caller]);
    expect((await app.http.get(`${path(scene.workspaceId)}/contacts.csv`, token)).status, caller).toBe(read);
    const expected = expectedStatus('contacts/import', row, callers[caller]);
    expect((await importCsv(scene.workspaceId, token)).status, caller).toBe(expected);
    expect(await restorer.restore(), caller).toBe(expected === 200);
  }
  for (const caller of ['owner', 'key of the owner'] as const) {
    const { token } = shown[caller];
    expect((await importCsv(scene.foreign.workspaceId, token)).status, caller).toBe(403);
    expect((await app.http.get(`${path(scene.foreign.workspaceId)}/contacts.csv`, token)).status, caller).toBe(403);
  }
  expect(await dumpTables(app)).toEqual(restorer.rows);
});

describe.each(transports)('through %s', (_, transport) => {
  test.each(Object.entries(rows))('%s is for exactly whom it should be', async (name, row) => {
    const expected = Object.fromEntries(
      callerNames.map((caller) => [caller, expectedStatus(name, row, callers[caller])]),
    );
    const isLetIn = (caller: CallerName): boolean => (expected[caller] ?? 0) < 400;
    const got: Record<string, number> = {};
    for (const caller of callerNames.filter((one) => !isLetIn(one))) {
      const { status, body } = await call(transport, name, caller);
      got[caller] = status;
      const message = expectedMessage(row, status);
      if (message !== undefined) expect(body, caller).toMatchObject({ message });
    }
    expect(await dumpTables(app), 'what was refused changed nothing').toEqual(restorer.rows);
    for (const caller of callerNames.filter(isLetIn)) {
      got[caller] = (await call(transport, name, caller)).status;
      const isChanged = row.writes && (await restorer.restore());
      // Who is a member already joins without a change.
      if (row.writes && name !== 'workspaces.join') expect(isChanged, `${caller} changed something`).toBe(true);
    }
    expect(got).toEqual(expected);
    if (!row.writes) expect(await dumpTables(app), 'a read changed nothing').toEqual(restorer.rows);
  });

  const insiders = ['owner', 'key of the owner'] as const;

  test.each(
    Object.entries(rows).flatMap(([name, row]) => {
      const place = workspaceOf(row);
      return place === null ? [] : [[name, row, place.parameter] as const];
    }),
  )('%s in a foreign workspace: 403 to who owns this one', async (name, row, parameter) => {
    for (const caller of insiders) {
      const { status, body } = await call(transport, name, caller, { [parameter]: scene.foreign.workspaceId });
      expect([status, body], caller).toEqual([403, expect.objectContaining({ message: row.forbidden ?? 'Forbidden' })]);
    }
    expect(await dumpTables(app)).toEqual(restorer.rows);
  });

  const withChildren = Object.entries(rows).flatMap(([name, row]) =>
    (Object.entries(row.children ?? {}) as [Child, string][]).map(
      ([child, message]) => [name, child, message] as const,
    ),
  );

  test.each(withChildren)('%s: a foreign %s looks exactly like an unknown one', async (name, child, message) => {
    const foreign = foreignChildren(scene)[child];
    expect(foreign).toBeDefined();
    for (const caller of insiders.filter((one) => rows[name]?.keys || callers[one].kind !== 'key')) {
      const unknown = await call(transport, name, caller, {
        [child]: isNamedByText(child) ? 'no-such-room' : UNKNOWN_ID,
      });
      const other = await call(transport, name, caller, { [child]: foreign });
      expect(withoutRandomness(other), caller).toEqual(withoutRandomness(unknown));
      expect(other).toMatchObject({ status: 404, body: { message } });
    }
    expect(await dumpTables(app)).toEqual(restorer.rows);
  });

  test('library.list: a foreign label filters exactly as an unknown one', async () => {
    for (const caller of insiders) {
      const unknown = await call(transport, 'library.list', caller, { label: UNKNOWN_ID });
      const foreign = await call(transport, 'library.list', caller, { label: scene.foreign.labelId });
      expect(foreign).toEqual(unknown);
      expect(foreign.body).toEqual({ items: [], total: 0 });
      const own = await call(transport, 'library.list', caller, { label: scene.redId });
      expect(own.body).toMatchObject({ total: 1 });
    }
  });

  test('rooms.create: an unknown workspace in the body is 404, and the name of a foreign room is taken', async () => {
    for (const caller of insiders) {
      const unknown = await call(transport, 'rooms.create', caller, { workspace_id: UNKNOWN_ID });
      // A key is for one workspace, and learns nothing of others.
      expect(unknown.status, caller).toBe(404);
      expect(unknown.body).toMatchObject({ message: 'Workspace not found' });
      const taken = await call(transport, 'rooms.create', caller, { name: scene.foreign.roomName });
      expect(taken).toMatchObject({ status: 409, body: { message: 'Room name already taken' } });
    }
    expect(await dumpTables(app)).toEqual(restorer.rows);
  });

  test('lists show nothing of another workspace or person', async () => {
    for (const name of ['rooms.list', 'recordings.list', 'rooms.listInWorkspace', 'webhooks.list', 'apiKeys.list']) {
      const { body } = await call(transport, name, 'key of the owner');
      const text = JSON.stringify(body);
      expect(text, name).toMatch(/contract-1|Chat|Nightly/);
      expect(text, name).not.toContain(`"workspace_id":${scene.foreign.workspaceId}`);
      expect(text, name).not.toContain(scene.foreign.roomName);
    }
    for (const name of ['rooms.list', 'recordings.list'])
      for (const caller of ['member', 'admin', 'key of an admin', 'key of the owner for another workspace'] as const)
        expect(Object.values((await call(transport, name, caller)).body as object), `${name}, ${caller}`).toEqual([[]]);
  });

  describe('counts from the very next request:', () => {
    const path = (): string => `/api/workspaces/${scene.workspaceId}`;
    let key: { id: number; key: string };
    const read = async (): Promise<number> =>
      (await transport(app, { name: 'labels.list', token: key.key, input: { id: scene.workspaceId } })).status;
    const write = async (): Promise<number> => {
      const input = { ...rows['library.update']?.input(scene, scene.admin), name: 'By key' };
      return (await transport(app, { name: 'library.update', token: key.key, input })).status;
    };
    const statuses = async (): Promise<number[]> => [await read(), await write()];
    beforeEach(async () => {
      key = await addKey(app, scene.workspaceId, scene.admin);
      expect(await statuses()).toEqual([200, 200]);
    });

    test('a key is switched off, and on again', async () => {
      const toggle = `${path()}/api-keys/${key.id}`;
      await app.http.patch(toggle, scene.owner.token, { is_active: 0 });
      expect(await statuses()).toEqual([401, 401]);
      await app.http.patch(toggle, scene.owner.token);
      expect(await statuses()).toEqual([200, 200]);
    });

    test('a key is deleted', async () => {
      await app.http.delete(`${path()}/api-keys/${key.id}`, scene.owner.token);
      expect(await statuses()).toEqual([401, 401]);
    });

    test('its creator is removed: it stays off when they come back, and active helps only once they do', async () => {
      const toggle = `${path()}/api-keys/${key.id}`;
      await app.http.delete(`${path()}/members/${scene.admin.id}`, scene.owner.token);
      expect(await statuses()).toEqual([401, 401]);
      expect((await call(transport, 'labels.list', 'admin')).status).toBe(403);
      await app.http.patch(toggle, scene.owner.token, { is_active: 1 });
      expect(await statuses()).toEqual([401, 401]);
      await app.http.patch(toggle, scene.owner.token, { is_active: 0 });
      await app.http.post(`/api/workspaces/join/${scene.inviteToken}`, scene.admin.token);
      expect(await statuses()).toEqual([401, 401]);
      await app.http.patch(toggle, scene.owner.token, { is_active: 1 });
      expect(await statuses()).toEqual([200, 200]);
    });

    test('its creator is demoted', async () => {
      await app.http.patch(`${path()}/members/${scene.admin.id}`, scene.owner.token, { role: 'member' });
      expect(await statuses()).toEqual([200, 200]);
      const input = { id: scene.workspaceId };
      for (const token of [key.key, scene.admin.token])
        expect((await transport(app, { name: 'webhooks.list', token, input })).status).toBe(403);
    });

    test('its creator deletes their account', async () => {
      const { status } = await app.http.delete('/api/auth/me', scene.admin.token);
      expect(status).toBe(200);
      expect(await statuses()).toEqual([401, 401]);
      expect((await call(transport, 'labels.list', 'admin')).status).toBe(401);
    });
  });
});
