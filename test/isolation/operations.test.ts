/** No statement of an operation reaches a row of a workspace that it is not about. Policies of PostgreSQL watch. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/client.ts';
import type { SqlDatabase } from '../../src/db/sql.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { allowedRoles, type Row, validCall } from '../contract/row.ts';
import { createWorld, foreignChildren, type Scene, type User, type World } from '../contract/scene.ts';
import { viaRest } from '../contract/transports.ts';
import { startTestApp } from '../support/test-app.ts';
import { installRowGuard, REACHED, type RowGuard } from './row-guard.ts';

let world: World;
let scene: Scene;
let restorer: Restorer;
let guard: RowGuard;
let isFaulty = false;

beforeAll(async () => {
  world = await createWorld(await startTestApp({ wrapDatabase: forgetWorkspaces }));
  scene = await world.addScene();
  guard = await installRowGuard(world.app);
  restorer = await saveRows(world.app);
});
afterEach(async () => {
  await guard.allowAll();
  await restorer.restore();
});
afterAll(async () => {
  await restorer.close();
  await guard.close();
  await world.app.close();
});

/** While `isFaulty`, the list of API keys forgets the condition on the workspace. */
function forgetWorkspaces(db: Database): Database {
  const { sql } = db;
  const forgetful: SqlDatabase = {
    ...sql,
    run(statement, params) {
      if (!isFaulty || statement.name !== 'list-api-keys') return sql.run(statement, params);
      const text = statement.text.replace('k.workspace_id = $1::int4', '$1::int4 is not null');
      return sql.run({ ...statement, name: 'list-all-api-keys', text }, params);
    },
  };
  return Object.assign(db, { sql: forgetful });
}

/** The workspaces that a call may reach: that of the scene, and all of the caller if the operation is about them. */
async function reachable(name: string, row: Row, by: User): Promise<number[]> {
  if (name === 'workspaces.joinByDomain') return [scene.joinableId];
  // A reset ends what was made in the workspaces of the user whose link it is.
  const user = name === 'passwords.reset' ? { email: scene.links.email } : { id: by.id };
  const isAboutCaller =
    ['user', 'room host'].includes(row.who) ||
    // The apps of a person are counted in all their workspaces.
    ['workspaces.usage', 'passwords.reset', 'apps.connect'].includes(name);
  if (!isAboutCaller) return [scene.workspaceId];
  const memberships = await world.app.services.db.member.findMany({ where: { user } });
  return [scene.workspaceId, ...memberships.map(({ workspaceId }) => workspaceId)];
}

async function callGuarded(name: string, input: (scene: Scene, by: User) => Record<string, unknown>) {
  const row = rows[name];
  if (!row) throw new Error(`No operation ${name}`);
  const by = (await row.caller?.(world)) ?? scene[allowedRoles(row).at(-1) ?? 'owner'];
  const call = validCall(name, row, scene, by);
  await guard.allowOnly(await reachable(name, row, by), by.id);
  const [before, logged] = [await guard.countViolations(), world.app.logLines.length];
  const { status } = await viaRest(world.app, { ...call, input: { ...call.input, ...input(scene, by) } });
  const lines = world.app.logLines.slice(logged).map((line) => JSON.stringify(line));
  const messages = lines.flatMap((line) => REACHED.exec(line)?.[0] ?? []);
  return { row, status, violations: (await guard.countViolations()) - before, messages };
}

/**
 * Anyone may read a logo, which is found by a part of its key, and workspaces to join are found by the domain of an
 * address. The guard is asked about every workspace before that: neither condition is leakproof.
 */
const FOUND_IN_ALL = ['branding.logo', 'workspaces.listJoinable'];

test.each(Object.keys(rows).filter((name) => !FOUND_IN_ALL.includes(name)))(
  '%s reaches no other workspace',
  async (name) => {
    const { row, status, violations, messages } = await callGuarded(name, () => ({}));
    expect(messages).toEqual([]);
    expect([status, violations]).toEqual([row.status ?? 200, 0]);
  },
);

/**
 * These are unique across workspaces, and the path of a call names no workspace. The row is read to find its workspace,
 * or is joined with the memberships of the caller, in the order that the planner chooses.
 */
const GLOBAL = ['name', 'roomName', 'slug', 'token', 'recordingId', 'uploadId'];

const withChildren = Object.entries(rows).flatMap(([name, { children = {} }]) =>
  Object.keys(children)
    .filter((child) => !GLOBAL.includes(child))
    .map((child) => [name, child] as const),
);

test.each(withChildren)('%s does not reach the %s of another workspace', async (name, child) => {
  const { status, violations } = await callGuarded(name, (of) => ({ [child]: foreignChildren(of)[child] }));
  expect([status, violations]).toEqual([404, 0]);
});

test('an operation that forgets the workspace is found', async () => {
  isFaulty = true;
  const { status, violations, messages } = await callGuarded('apiKeys.list', () => ({}));
  isFaulty = false;
  expect(status).toBe(500);
  expect(violations).toBeGreaterThan(0);
  expect(messages).toContain(`reached workspace ${scene.foreign.workspaceId} in api_keys`);
});

test.each([
  ['reads', (db: Database) => db.label.count()],
  ['updates', (db: Database) => db.label.updateMany({ data: { color: '#000000' } })],
  ['deletes', (db: Database) => db.$executeRaw`delete from labels where id = ${scene.foreign.labelId}`],
  ['inserts', (db: Database) => db.label.create({ data: { ...aLabel(), workspaceId: scene.foreign.workspaceId } })],
  ['joins', (db: Database) => db.workspace.findMany({ where: { id: scene.workspaceId, members: { every: {} } } })],
])('a statement that %s across workspaces is found', async (kind, statement) => {
  await guard.allowOnly([scene.workspaceId]);
  const before = await guard.countViolations();
  const work = statement(world.app.services.db).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  // The last one is right: it only proves that a join by the workspace is not mistaken for a fault.
  if (kind === 'joins') expect(await work).toBe('done');
  else expect(await work).toMatch(/reached workspace/);
  expect((await guard.countViolations()) > before).toBe(kind !== 'joins');
});

function aLabel() {
  return { name: 'New', color: '#000000', createdAt: new Date() };
}
