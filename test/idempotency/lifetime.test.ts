/** How long keys last, and what happens to a request whose process has died. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim } from '../../src/core/call-bounds.ts';
import { DAY_MS } from '../../src/core/time.ts';
import type { Database } from '../../src/db/client.ts';
import { claimKey, LEASE_MS, markExecuted, pruneKeys, storeAnswer } from '../../src/db/idempotency-keys.ts';
import type { SqlDatabase } from '../../src/db/sql.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { mutate, newKey, readKeys, send } from './idempotent.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
/** What happens instead of the statement of this name. */
let faults: Record<string, () => Promise<never>> = {};

beforeAll(async () => {
  app = await startTestApp({ wrapDatabase: withFaults });
  team = await addTeam(app);
});
afterAll(() => app.close());

function withFaults(db: Database): Database {
  const { sql } = db;
  const faulty: SqlDatabase = {
    ...sql,
    run: (statement, params) => faults[statement.name]?.() ?? sql.run(statement, params),
  };
  return Object.assign(db, { sql: faulty });
}

/** Runs `work` as in a process that ends before it stores an answer. */
async function withoutAnswers<Result>(work: () => Promise<Result>): Promise<Result> {
  const lose = () => Promise.reject(new Error('The process has ended'));
  faults = { 'store-idempotent-answer': lose, 'free-idempotency-key': lose };
  return work().finally(() => {
    faults = {};
  });
}

function createRoom(key: string, token = team.admin.token) {
  return send(app, ROOMS, { key, token, json: { display_name: 'Once' } });
}

test('a key is free again after 24 hours', async () => {
  const key = newKey();
  const first = await createRoom(key);
  app.clock.advance(DAY_MS - 60_000);
  expect(await createRoom(key)).toEqual({ ...first, isReplayed: true });
  app.clock.advance(60_000);
  const second = await createRoom(key);
  expect(second).toMatchObject({ status: 201, isReplayed: false });
  expect(second.body.room.id).not.toBe(first.body.room.id);
});

test('maintenance deletes keys after 24 hours, and the oldest of a caller who has too many', async () => {
  const { db } = app.services;
  const person = await addPerson(app, 'Busy');
  const old = newKey();
  await createRoom(old, person.token);
  app.clock.advance(DAY_MS);
  const recent = [newKey(), newKey(), newKey(), newKey()];
  for (const key of recent) {
    app.clock.advance(1000);
    await createRoom(key, person.token);
  }
  app.clock.advance(LEASE_MS);
  await pruneKeys(db.sql, app.clock.now(), 2);
  const left = (await readKeys(app)).map(({ key }) => key).filter((key) => [old, ...recent].includes(key));
  expect(left).toEqual(recent.slice(2));
});

describe('if the process ends', () => {
  test('before the request has changed anything, it is carried out again once the lease has expired', async () => {
    const key = newKey();
    const create = () => send(app, `${team.path}/labels`, { key, token: team.admin.token, json: { name: 'New' } });
    const end = () => Promise.reject(new Error('The process has ended'));
    faults = { 'insert-label': end, 'free-idempotency-key': end };
    expect((await create()).status).toBe(500);
    faults = {};
    expect(await create()).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_IN_USE' }, retryAfter: '1' });
    // The lease should have been renewed 2 seconds ago.
    app.clock.advance(12_000);
    const late = await create();
    expect(late).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_IN_USE' } });
    expect(Number(late.retryAfter)).toBeGreaterThan(1);
    expect(Number(late.retryAfter)).toBeLessThanOrEqual(18);
    app.clock.advance(Number(late.retryAfter) * 1000);
    expect(await create()).toMatchObject({ status: 200, isReplayed: false });
    expect(await create()).toMatchObject({ status: 200, isReplayed: true });
  });

  test('after the commit, it is not carried out again, and the retry says so', async () => {
    const key = newKey();
    const before = await app.services.db.room.count();
    expect((await withoutAnswers(() => createRoom(key))).status).toBe(201);
    expect(await createRoom(key)).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_IN_USE' } });
    app.clock.advance(LEASE_MS);
    for (let times = 0; times < 2; times += 1)
      expect(await createRoom(key)).toMatchObject({
        status: 409,
        body: { code: 'IDEMPOTENCY_ANSWER_LOST' },
        isReplayed: false,
        retryAfter: null,
      });
    expect(await app.services.db.room.count()).toBe(before + 1);
  });

  test('a failure leaves the key free', async () => {
    const key = newKey();
    faults = { 'insert-label': () => Promise.reject(new Error('An error')) };
    const create = () =>
      mutate(app, 'labels.create', { key, token: team.admin.token, json: { id: team.id, name: 'After a failure' } });
    expect((await create()).status).toBe(500);
    faults = {};
    expect(await create()).toMatchObject({ status: 200, isReplayed: false });
  });
});

test('an attempt whose lease was taken over changes nothing', async () => {
  const key = newKey();
  const { db } = app.services;
  const before = await db.room.count();
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    // The attempt waits for the name, like a process that is suspended for longer than its lease.
    await client.query('begin');
    await client.query(
      `insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
       values ($1, 'contested', $2, '#000', now(), now())`,
      [team.id, team.owner.id],
    );
    const attempt = send(app, ROOMS, { key, token: team.admin.token, json: { name: 'contested' } });
    await waitForLockWait(app);
    await db.$executeRaw`update idempotency_keys set lease = 'another' where key = ${key}`;
    await client.query('rollback');
    expect((await attempt).body.code).toBe('IDEMPOTENCY_KEY_IN_USE');
  } finally {
    await client.end();
  }
  expect(await db.room.count()).toBe(before);
});

test.each(['markExecuted', 'storeAnswer'] as const)(
  'the call of an account that is deleted meanwhile does not count as taken over in %s',
  async (step) => {
    const { id } = await addPerson(app);
    const { sql } = app.services.db;
    const claim: Claim = {
      caller: `user:${id}`,
      key: newKey(),
      lease: 'lease',
      isAnswered: false,
      toStored: () => ({ answer: null, bodyHash: null, withRoles: false, workspaceId: null }),
    };
    await claimKey(sql, app.clock.now(), { ...claim, userId: id, workspaceId: null, fingerprint: new Uint8Array(32) });
    const deletion = `delete from workspaces where owner_id = ${id}; delete from users where id = ${id}`;
    await changeWhileBlocked(app, deletion, () =>
      step === 'markExecuted' ? markExecuted(sql, claim) : storeAnswer(sql, claim, {}),
    );
    expect((await readKeys(app)).filter(({ key }) => key === claim.key)).toEqual([]);
  },
);
