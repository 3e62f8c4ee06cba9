/** The database itself keeps the audit log from being changed, also for the role of the service. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccountEvent } from '../../src/audit/account-events.ts';
import { type NewAuditEntry, recordAudits } from '../../src/audit/record-audit.ts';
import { numberAll } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

function renamed(workspaceId: number): NewAuditEntry {
  const { id: userId, name } = team.owner;
  return {
    workspaceId,
    at: app.clock.now(),
    actor: { kind: 'user', userId, name, address: '192.0.2.7' },
    action: 'workspace.renamed',
    target: { kind: 'workspace', id: workspaceId },
    before: { name: 'Old' },
    after: { name: 'New' },
  };
}

async function addEntry(workspaceId = team.id): Promise<bigint> {
  const { db } = app.services;
  await recordAudits(db.sql, [renamed(workspaceId)]);
  const { id } = await db.auditEntry.findFirstOrThrow({ where: { workspaceId }, orderBy: { id: 'desc' } });
  return id;
}

test('an entry has the personal fields of the actor and of the change, each with its salted hash', async () => {
  const id = await addEntry();
  const row = await app.services.db.auditEntry.findFirstOrThrow({ where: { workspaceId: team.id, id } });
  expect(JSON.parse(row.actorDetails ?? '')).toEqual({ name: team.owner.name, address: '192.0.2.7' });
  expect(JSON.parse(row.details ?? '')).toEqual({ before: { name: 'Old' }, after: { name: 'New' } });
  const hashOf = (salt: Uint8Array | null, text: string | null): string =>
    createHash('sha256')
      .update(salt ?? '')
      .update(text ?? '')
      .digest('hex');
  expect(Buffer.from(row.actorHash).toString('hex')).toBe(hashOf(row.actorSalt, row.actorDetails));
  expect(Buffer.from(row.detailsHash).toString('hex')).toBe(hashOf(row.detailsSalt, row.details));
  expect(row).toMatchObject({ sequence: null, hash: null, actorKind: 'user', actorUserId: team.owner.id });
});

test.each([
  ["update audit_log set action = 'member.left'"],
  ['update audit_log set created_at = now()'],
  ['update audit_log set actor_user_id = 999'],
  ["update audit_log set details = '{}'"],
  ["update audit_log set actor_details = '{}', actor_hash = actor_hash"],
  ['update audit_log set details_hash = sha256(details_hash)'],
  ['update audit_log set workspace_id = 1'],
  ['delete from audit_log'],
  ['truncate audit_log'],
  ['truncate workspaces cascade'],
])('the database refuses %s', async (sql) => {
  await addEntry();
  await expect(app.services.db.$executeRawUnsafe(sql)).rejects.toThrow(/audit log cannot be/);
});

test.each([
  ['create temp table workspaces (id int) on commit drop', 'delete from audit_log'],
  ['create temp table workspaces (id int) on commit drop', 'delete from audit_chains'],
  [
    `create temp table audit_chains on commit drop as
      select id as workspace_id, 1000000::bigint as cut_sequence from workspaces`,
    'delete from audit_log',
  ],
  ["set local search_path = ''", 'delete from public.audit_log'],
])('after %s the database refuses %s', async (trick, sql) => {
  await addEntry();
  await numberAll(app);
  const work = app.services.db.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(trick);
    await tx.$executeRawUnsafe(sql);
  });
  await expect(work).rejects.toThrow(/audit log cannot be/);
});

test('an entry cannot be inserted with a number', async () => {
  const { db } = app.services;
  const sql = `insert into audit_log (workspace_id, sequence, hash, created_at, actor_kind, action, target_kind)
    values (${team.id}, 1, '', now(), 'system', 'room.deleted', 'room')`;
  await expect(db.$executeRawUnsafe(sql)).rejects.toThrow(/without a number/);
});

test('an entry is numbered once, and the number then stays', async () => {
  const { db } = app.services;
  const id = await addEntry();
  const number = (sequence: number) =>
    db.$executeRaw`update audit_log set sequence = ${sequence}, hash = sha256('') where id = ${id}`;
  await number(1_000);
  await expect(number(1_001)).rejects.toThrow(/audit log cannot be changed/);
  await expect(db.$executeRaw`update audit_log set sequence = null, hash = null where id = ${id}`).rejects.toThrow();
});

test('personal fields can be erased with their salts, and do not come back', async () => {
  const { db } = app.services;
  const id = await addEntry();
  await expect(db.$executeRaw`update audit_log set actor_details = null where id = ${id}`).rejects.toThrow();
  await db.$executeRaw`update audit_log set actor_details = null, actor_salt = null where id = ${id}`;
  await expect(
    db.$executeRaw`update audit_log set actor_details = '{}', actor_salt = sha256('') where id = ${id}`,
  ).rejects.toThrow(/audit log cannot be changed/);
});

test('the end and the cut-off of a chain only move forward, and it is not deleted', async () => {
  const { db } = app.services;
  // Its log has no entry with a number yet.
  const { id: workspaceId } = await addTeam(app, 'Other');
  const bytes = new Uint8Array(32);
  const row = {
    workspaceId,
    lastSequence: 5n,
    lastHash: bytes,
    cutSequence: 3n,
    cutHash: bytes,
    sealed: bytes,
  };
  await db.auditChain.create({ data: row });
  for (const data of [{ lastSequence: 4n }, { cutSequence: 2n }, { workspaceId: team.id }, { cutSequence: 6n }])
    await expect(db.auditChain.update({ where: { workspaceId }, data })).rejects.toThrow();
  await expect(db.auditChain.deleteMany()).rejects.toThrow(/cannot be taken back/);
});

test('deleting a workspace deletes its log', async () => {
  const { db } = app.services;
  const { workspace } = await team.owner.client.workspaces.create.mutate({ name: 'Short-lived' });
  await addEntry(workspace.id);
  await team.owner.client.workspaces.delete.mutate({ id: workspace.id });
  expect(await db.auditEntry.count({ where: { workspaceId: workspace.id } })).toBe(0);
  expect(await db.auditEntry.count({ where: { workspaceId: team.id } })).toBeGreaterThan(0);
});

test('the failures of an hour share a row of the account, and other events have their own', async () => {
  const { db } = app.services;
  const event = { userId: team.member.id, at: new Date('2026-11-27T10:05:00Z'), userAgent: 'curl/8' } as const;
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    await insertAccountEvent(db.sql, { ...event, action: 'sign_in_failed', address });
  await insertAccountEvent(db.sql, {
    ...event,
    action: 'sign_in_failed',
    at: new Date('2026-11-27T11:05:00Z'),
    address: '192.0.2.4',
  });
  for (const address of ['192.0.2.5', '192.0.2.6'])
    await insertAccountEvent(db.sql, { ...event, action: 'signed_in', address, details: { method: 'password' } });
  const rows = await db.accountEvent.findMany({
    where: { userId: team.member.id, address: { startsWith: '192.0.2.' } },
    orderBy: { id: 'asc' },
  });
  expect(rows.map(({ action, address, count }) => [action, address, count])).toEqual([
    ['sign_in_failed', '192.0.2.3', 3],
    ['sign_in_failed', '192.0.2.4', 1],
    ['signed_in', '192.0.2.5', 1],
    ['signed_in', '192.0.2.6', 1],
  ]);
});
