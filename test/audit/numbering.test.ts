/** The entries of the audit log get their numbers behind the writers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNumbering } from '../../src/audit/number-entries.ts';
import { recordAudit, recordAudits } from '../../src/audit/record-audit.ts';
import { verifyLog } from '../../src/audit/verify-log.ts';
import { transact } from '../../src/db/client.ts';
import { exampleEntry, numberAll } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

async function addWorkspace(name: string): Promise<number> {
  return (await team.owner.client.workspaces.create.mutate({ name })).workspace.id;
}

async function sequencesOf(workspaceId: number): Promise<(bigint | null)[]> {
  const rows = await app.services.db.auditEntry.findMany({ where: { workspaceId }, orderBy: { id: 'asc' } });
  return rows.map(({ sequence }) => sequence);
}

function add(workspaceId: number, count: number): Promise<void> {
  return recordAudits(
    app.services.db.sql,
    Array.from({ length: count }, () => exampleEntry(app, workspaceId, team.owner)),
  );
}

test('writers that race and roll back leave no gap, and three processes number each entry once', async () => {
  const { db } = app.services;
  const workspaceId = await addWorkspace('Race');
  const numberings = Array.from({ length: 3 }, () => createNumbering(app.services));
  let isWriting = true;
  const numbering = numberings.map(async (numberBatch) => {
    while (isWriting) await numberBatch();
  });
  const write = async (writer: number) => {
    for (let index = 0; index < 20; index += 1) {
      const work = transact(db, async (tx) => {
        await recordAudit(tx, exampleEntry(app, workspaceId, team.owner));
        await new Promise((resolve) => setTimeout(resolve, (writer * index) % 7));
        if ((writer + index) % 4 === 0) throw new Error('rolled back');
      });
      await work.catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  isWriting = false;
  await Promise.all(numbering);
  await numberAll(app);
  const sequences = (await sequencesOf(workspaceId)).map(Number).sort((a, b) => a - b);
  expect(sequences).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  expect(await verifyLog(app.services, workspaceId, null)).toMatchObject({ problems: [], lastSequence: 120 });
});

test('an entry that is committed late is numbered after those that were committed before', async () => {
  const { db } = app.services;
  const workspaceId = await addWorkspace('Late');
  await transact(db, async (tx) => {
    await recordAudit(tx, exampleEntry(app, workspaceId, team.owner));
    await add(workspaceId, 1);
    await numberAll(app);
  });
  await numberAll(app);
  expect(await sequencesOf(workspaceId)).toEqual([2n, 1n]);
  expect(await verifyLog(app.services, workspaceId, null)).toMatchObject({ problems: [], lastSequence: 2 });
});

test('a writer does not wait for the numbering', async () => {
  const { db } = app.services;
  const workspaceId = await addWorkspace('Free');
  await add(workspaceId, 1);
  await transact(db, async (tx) => {
    // What the numbering holds until it commits.
    await tx.$queryRaw`select id from workspaces where id = ${workspaceId} for key share`;
    await tx.$queryRaw`select id from audit_log where workspace_id = ${workspaceId} for no key update`;
    await add(workspaceId, 1);
  });
  expect(await sequencesOf(workspaceId)).toEqual([null, null]);
});

test('neither a busy workspace nor one that is being deleted delays the others', async () => {
  const { db } = app.services;
  await numberAll(app);
  const [busy, deleted, quiet] = [await addWorkspace('Busy'), await addWorkspace('Gone'), await addWorkspace('Quiet')];
  await add(busy, 1_000);
  await add(deleted, 1);
  await add(quiet, 1);
  const deletion = new Error('not deleted after all');
  await transact(db, async (tx) => {
    await tx.$queryRaw`select id from workspaces where id = ${deleted} for update`;
    await createNumbering(app.services)();
    throw deletion;
  }).catch((error: unknown) => expect(error).toBe(deletion));
  expect(await sequencesOf(quiet)).toEqual([1n]);
  expect(await sequencesOf(deleted)).toEqual([null]);
  const numbered = (await sequencesOf(busy)).filter((sequence) => sequence !== null).length;
  expect(numbered).toBeGreaterThan(0);
  expect(numbered).toBeLessThan(1_000);
  await numberAll(app);
  expect(await sequencesOf(deleted)).toEqual([1n]);
  expect((await sequencesOf(busy)).at(-1)).toBe(1_000n);
});

test('a workspace can be deleted while its entries are numbered', async () => {
  const workspaceId = await addWorkspace('Short-lived');
  await add(workspaceId, 300);
  const deletion = team.owner.client.workspaces.delete.mutate({ id: workspaceId });
  await Promise.all([numberAll(app), deletion]);
  expect(await app.services.db.auditEntry.count({ where: { workspaceId } })).toBe(0);
  expect(await app.services.db.auditChain.count({ where: { workspaceId } })).toBe(0);
});
