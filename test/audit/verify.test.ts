/** Verification finds what somebody with full access to the database, but without the key of the service, changes. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sealState } from '../../src/audit/chain.ts';
import { recordAudits } from '../../src/audit/record-audit.ts';
import { type Verification, verifyLog } from '../../src/audit/verify-log.ts';
import { createEncryptionKey, createSealer } from '../../src/core/sealing.ts';
import { exampleEntry, numberAll } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let superuser: pg.Client;
let [first, second] = [0, 0];

beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  superuser = new pg.Client({ connectionString: app.superuserUrl });
  await superuser.connect();
  // Switches the triggers off.
  await superuser.query('set session_replication_role = replica');
});
afterAll(async () => {
  await superuser.end();
  await app.close();
});

/** Two workspaces with ten entries each. */
beforeEach(async () => {
  [first, second] = [await addWorkspace(), await addWorkspace()];
  for (const id of [first, second]) await add(id, 10);
  await numberAll(app);
});

async function addWorkspace(): Promise<number> {
  return (await team.owner.client.workspaces.create.mutate({ name: 'Log' })).workspace.id;
}

function add(workspaceId: number, count: number): Promise<void> {
  const entries = Array.from({ length: count }, () => exampleEntry(app, workspaceId, team.owner));
  return recordAudits(app.services.db.sql, entries);
}

function verify(workspaceId = first): Promise<Verification> {
  return verifyLog(app.services, workspaceId, null);
}

const tamper = (sql: string, values: unknown[] = [first]) => superuser.query(sql, values);

describe('verification', () => {
  test('finds nothing wrong with a log, an empty log, and one whose personal fields were erased', async () => {
    expect(await verify()).toMatchObject({ problems: [], from: 1, to: { sequence: 10 }, lastSequence: 10 });
    expect(await verify(await addWorkspace())).toMatchObject({ problems: [], lastSequence: 0 });
    await app.services.db.$executeRaw`
      update audit_log set actor_details = null, actor_salt = null, details = null, details_salt = null
      where workspace_id = ${first} and sequence < 5`;
    expect(await verify()).toMatchObject({ problems: [], lastSequence: 10 });
  });

  test.each([
    ["action = 'member.removed'", 'changed'],
    ['actor_user_id = 999', 'changed'],
    ["created_at = created_at + interval '1 day'", 'changed'],
    ['target_id = null', 'changed'],
    ["details = '{}'", 'personal fields changed'],
    ["actor_details = replace(actor_details, '192.0.2.7', '192.0.2.8')", 'personal fields changed'],
    ['details_salt = sha256(details_salt)', 'personal fields changed'],
    ["details = '{}', details_hash = sha256(details_salt || '{}'::bytea)", 'changed'],
    ['actor_details = null', 'personal fields changed'],
  ])('finds an entry that was changed: %s', async (assignment, problem) => {
    await tamper('alter table audit_log drop constraint if exists audit_log_actor_salt_check', []);
    await tamper(`update audit_log set ${assignment} where workspace_id = $1 and sequence = 4`);
    expect((await verify()).problems).toEqual([{ sequence: 4, problem }]);
    expect((await verify(second)).problems).toEqual([]);
  });

  test('finds an entry with a changed hash', async () => {
    await tamper("update audit_log set hash = sha256('') where workspace_id = $1 and sequence = 4");
    expect((await verify()).problems).toEqual([
      { sequence: 4, problem: 'changed' },
      { sequence: 5, problem: 'changed' },
    ]);
  });

  test('finds entries that were deleted at the beginning, in the middle and at the end', async () => {
    await tamper('delete from audit_log where workspace_id = $1 and sequence in (1, 5, 6, 10)');
    expect((await verify()).problems).toEqual([
      { sequence: 1, problem: 'missing' },
      { sequence: 5, problem: 'missing' },
      { sequence: 10, problem: 'missing' },
    ]);
  });

  test('finds a log that was shortened or emptied together with its end', async () => {
    await tamper('delete from audit_log where workspace_id = $1 and sequence > 7');
    await tamper(
      `update audit_chains c set last_sequence = 7, last_hash = a.hash from audit_log a
       where c.workspace_id = $1 and a.workspace_id = $1 and a.sequence = 7`,
    );
    expect((await verify()).problems).toEqual([{ sequence: 7, problem: 'end changed' }]);
    await tamper('delete from audit_chains where workspace_id = $1');
    expect((await verify()).problems).toEqual([{ sequence: 7, problem: 'end changed' }]);
  });

  test('finds entries that were reordered', async () => {
    await tamper('update audit_log set sequence = 100 where workspace_id = $1 and sequence = 3');
    await tamper('update audit_log set sequence = 3 where workspace_id = $1 and sequence = 4');
    await tamper('update audit_log set sequence = 4 where workspace_id = $1 and sequence = 100');
    expect((await verify()).problems.map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
  });

  test('finds an entry that was inserted behind the end, also if the end is moved', async () => {
    const columns = `created_at, actor_kind, actor_user_id, action, target_kind, target_id, actor_details, actor_salt,
      actor_hash, details, details_salt, details_hash`;
    await tamper(
      `insert into audit_log (workspace_id, sequence, hash, ${columns})
       select workspace_id, 11, hash, ${columns} from audit_log where workspace_id = $1 and sequence = 10`,
    );
    expect((await verify()).problems).toEqual([{ sequence: 11, problem: 'beyond the end' }]);
    await tamper('update audit_chains set last_sequence = 11 where workspace_id = $1');
    expect((await verify()).problems).toEqual([{ sequence: 11, problem: 'end changed' }]);
  });

  test('finds entries that were swapped between workspaces', async () => {
    await tamper('update audit_log set workspace_id = 0 where workspace_id = $1 and sequence = 6');
    await tamper('update audit_log set workspace_id = $1 where workspace_id = $2 and sequence = 6', [first, second]);
    await tamper('update audit_log set workspace_id = $1 where workspace_id = 0', [second]);
    for (const id of [first, second])
      expect((await verify(id)).problems).toEqual([
        { sequence: 6, problem: 'changed' },
        { sequence: 7, problem: 'changed' },
      ]);
    await tamper(
      `update audit_chains c set sealed = o.sealed, last_sequence = o.last_sequence, last_hash = o.last_hash
       from audit_chains o where c.workspace_id = $1 and o.workspace_id = $2`,
      [first, second],
    );
    expect((await verify()).problems).toEqual([{ sequence: 10, problem: 'end changed' }]);
  });

  test('finds a forged cut-off', async () => {
    const { rows } = await tamper('select hash from audit_log where workspace_id = $1 and sequence = 5');
    const { rows: ends } = await tamper('select hash from audit_log where workspace_id = $1 and sequence = 10');
    const [cutHash, lastHash] = [rows[0].hash.toString('hex'), ends[0].hash.toString('hex')];
    const state = { lastSequence: 10, lastHash, cutSequence: 5, cutHash };
    const sealed = sealState(createSealer(createEncryptionKey()), first, state);
    await tamper('delete from audit_log where workspace_id = $1 and sequence <= 5');
    for (const assignment of ['', ', sealed = $3']) {
      await tamper(
        `update audit_chains set cut_sequence = 5, cut_hash = $2 ${assignment} where workspace_id = $1`,
        assignment === '' ? [first, rows[0].hash] : [first, rows[0].hash, sealed],
      );
      expect((await verify()).problems).toEqual([{ sequence: 10, problem: 'end changed' }]);
    }
  });

  test('a log that was tampered with is not continued, which would hide it, and other logs are', async () => {
    await tamper('delete from audit_log where workspace_id = $1 and sequence = 10');
    await tamper('update audit_chains set last_sequence = 9 where workspace_id = $1');
    for (const id of [first, second]) await add(id, 1);
    await numberAll(app);
    expect((await verify()).problems).toEqual([{ sequence: 9, problem: 'end changed' }]);
    expect(await verify(second)).toMatchObject({ problems: [], lastSequence: 11 });
    expect(app.logLines.some((line) => String(line.msg).startsWith('The audit log of a workspace'))).toBe(true);
  });

  test('continues where an earlier call ended', async () => {
    const { to } = await verify();
    await add(first, 5);
    await numberAll(app);
    expect(await verifyLog(app.services, first, to)).toMatchObject({ problems: [], from: 11, to: { sequence: 15 } });
    const wrong = { sequence: 10, hash: 'f'.repeat(64) };
    expect((await verifyLog(app.services, first, wrong)).problems).toEqual([{ sequence: 11, problem: 'changed' }]);
  });
});
