/** Concurrent changes of labels. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

/** The SQLSTATE of a lock that was not granted within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function newLabel(name: string): Promise<number> {
  return (await app.http.post(`${team.path}/labels`, team.owner.token, { name })).body.label.id;
}

async function newItem(): Promise<string> {
  return `${team.path}/library/${(await upload(app, team.path, team.member.token)).body.item.id}`;
}

test('of 50 labels with the same name exactly one is created', async () => {
  const answers = await concurrently(50, () => app.http.post(`${team.path}/labels`, team.admin.token, { name: 'One' }));
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 49 });
  expect(await app.services.db.label.count({ where: { workspaceId: team.id, name: 'One' } })).toBe(1);
});

test('of 20 labels renamed to the same name exactly one gets it', async () => {
  const ids = await concurrently(20, (index) => newLabel(`Rename ${index}`));
  const answers = await Promise.all(
    ids.map((id) => app.http.patch(`${team.path}/labels/${id}`, team.admin.token, { name: 'Wanted' })),
  );
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 19 });
});

test('of 20 deletions of a label exactly one succeeds', async () => {
  const id = await newLabel('Once');
  const answers = await concurrently(20, () => app.http.delete(`${team.path}/labels/${id}`, team.admin.token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 19 });
});

test('20 assignments of a label to an item all succeed, and assign it once', async () => {
  const id = await newLabel('Twice');
  const item = await newItem();
  const answers = await concurrently(20, () => app.http.post(`${item}/labels`, team.member.token, { labelId: id }));
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  for (const { body } of answers) expect(body.labels).toMatchObject([{ id }]);
});

test('a label that is deleted while it is being assigned is on no item afterwards', async () => {
  const item = await newItem();
  await concurrently(20, async (index) => {
    const id = await newLabel(`Deleted ${index}`);
    const [assigned, deleted] = await Promise.all([
      app.http.post(`${item}/labels`, team.member.token, { labelId: id }),
      app.http.delete(`${team.path}/labels/${id}`, team.admin.token),
    ]);
    expect([200, 404]).toContain(assigned.status);
    expect(deleted.status).toBe(200);
  });
  expect((await app.http.get(item, team.member.token)).body.item.labels).toEqual([]);
});

test('deleting an item while its labels change leaves no assignment, and no call fails unexpectedly', async () => {
  const labelId = await newLabel('Staying');
  await concurrently(20, async () => {
    const item = await newItem();
    const answers = await Promise.all([
      app.http.post(`${item}/labels`, team.member.token, { labelId }),
      app.http.delete(`${item}/labels/${labelId}`, team.member.token),
      app.http.delete(item, team.member.token),
      app.http.patch(item, team.member.token, { name: 'Renamed' }),
    ]);
    for (const { status, body } of answers.with(2, { status: 200, headers: new Headers(), body: {} }))
      expect([status, status === 404 ? body.message : '']).toEqual(
        status === 404 ? [404, 'Item not found'] : [200, ''],
      );
    expect(answers[2]?.status).toBe(200);
  });
  expect(await app.services.db.itemLabel.count({ where: { labelId } })).toBe(0);
});

test('of two labels that are assigned at once, one answer lists both', async () => {
  const ids = await concurrently(2, (index) => newLabel(`Side by side ${index}`));
  for (let round = 0; round < 10; round += 1) {
    const item = await newItem();
    const answers = await Promise.all(
      ids.map((labelId) => app.http.post(`${item}/labels`, team.member.token, { labelId })),
    );
    const listed = answers.map(({ body }) => body.labels.map(({ id }: { id: number }) => id));
    expect(listed.some((labels) => ids.every((id) => labels.includes(id)))).toBe(true);
  }
});

test.each([
  ['label', 'Label not found'],
  ['item', 'Item not found'],
])('if the %s is deleted while an assignment waits for it, the answer is 404', async (kind, message) => {
  const labelId = await newLabel(`Waiting for the ${kind}`);
  const item = await newItem();
  const deletion =
    kind === 'label'
      ? `delete from labels where id = ${labelId}`
      : `delete from library_items where id = ${item.split('/').at(-1)}`;
  const assign = () => app.http.post(`${item}/labels`, team.member.token, { labelId });
  const { status, body } = await changeWhileBlocked(app, deletion, assign);
  expect([status, body.message]).toEqual([404, message]);
});

describe('a label that an admin creates during a change of their role', () => {
  const FORBIDDEN = [403, 'Only owners and admins can create labels'];
  let other: Team;
  beforeEach(async () => {
    other = await addTeam(app);
  });

  const create = () => app.http.post(`${other.path}/labels`, other.admin.token, { name: 'Contracts' });
  const ofAdmin = () => `where workspace_id = ${other.id} and user_id = ${other.admin.id}`;

  test.each([
    ['demoted', () => `update members set role = 'member' ${ofAdmin()}`],
    ['removed', () => `delete from members ${ofAdmin()}`],
  ])('is refused if they are %s', async (_, change) => {
    const { status, body } = await changeWhileBlocked(app, change(), create);
    expect([status, body.message]).toEqual(FORBIDDEN);
    expect(await app.services.db.label.count({ where: { workspaceId: other.id } })).toBe(0);
  });

  test('is created if the demotion is rolled back', async () => {
    const demotion = `update members set role = 'member' ${ofAdmin()}`;
    expect((await changeWhileBlocked(app, demotion, create, undefined, 'rollback')).status).toBe(200);
  });

  test('is not found if the workspace is deleted', async () => {
    const { status, body } = await changeWhileBlocked(app, `delete from workspaces where id = ${other.id}`, create);
    expect([status, body.message]).toEqual([404, 'Workspace not found']);
  });

  test('is created if it was first: the demotion waits', async () => {
    // Holds up the label after it has locked the role.
    const sameName = `insert into labels (workspace_id, name, color, created_at)
      values (${other.id}, 'Contracts', '#fff', now())`;
    let demoted: Promise<Answer> | undefined;
    const created = await changeWhileBlocked(
      app,
      sameName,
      create,
      () => {
        demoted = app.http.patch(`${other.path}/members/${other.admin.id}`, other.owner.token, { role: 'member' });
        return waitForLockWait(app, 2);
      },
      'rollback',
    );
    expect([created.status, (await demoted)?.status]).toEqual([200, 200]);
  });
});

test('an assignment that PostgreSQL cancels because of a deadlock is retried', async () => {
  const labelId = await newLabel('Deadlocked');
  const deleter = new pg.Client({ connectionString: app.superuserUrl });
  await deleter.connect();
  try {
    // PostgreSQL cancels whichever side looks for a deadlock while there is one, and each looks once per wait. The
    // assignment looks after a second. Here the deleter never does, which only a superuser may set, and gives up if
    // the assignment looked too early.
    await deleter.query(`set deadlock_timeout = '1min'; set lock_timeout = '4s'`);
    let answer: Answer | null = null;
    while (answer === null) answer = await assignInDeadlock(deleter, labelId);
    expect([answer.status, answer.body.labels]).toMatchObject([200, [{ id: labelId }]]);
  } finally {
    await deleter.end();
  }
});

/** Assigns the label to a new item in a deadlock with `deleter`. Returns null if `deleter` gave up instead. */
async function assignInDeadlock(deleter: pg.Client, labelId: number): Promise<Answer | null> {
  const item = await newItem();
  const itemId = Number(item.split('/').at(-1));
  // Locks the label and then the item, as deleting their workspace does. The assignment locks them in reverse order.
  await deleter.query('begin');
  await deleter.query('select from labels where id = $1 for update', [labelId]);
  const assigning = app.http.post(`${item}/labels`, team.member.token, { labelId });
  await waitForLockWait(app);
  try {
    // The assignment has locked the item. Only its cancellation lets this succeed.
    await deleter.query('select from library_items where id = $1 for update', [itemId]);
    await deleter.query('commit');
    return await assigning;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE)) throw error;
    await deleter.query('rollback');
    await assigning;
    return null;
  }
}
