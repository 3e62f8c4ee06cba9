/** Old entries of an audit log are pruned behind a sealed cut-off. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pruneAudit } from '../../src/audit/prune-log.ts';
import { recordAudits } from '../../src/audit/record-audit.ts';
import { verifyLog } from '../../src/audit/verify-log.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { exampleEntry, numberAll } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, type Person } from '../support/world.ts';

let app: TestApp;
let owner: Person;
let workspaceId: number;
beforeAll(async () => {
  app = await startTestApp();
  owner = await addPerson(app);
});
afterAll(() => app.close());

/** A log with 1,500 entries that are 40 days old, and ten new ones. */
beforeEach(async () => {
  workspaceId = (await owner.client.workspaces.create.mutate({ name: 'Log' })).workspace.id;
  await add(1_500, 40);
  await add(10, 0);
  await numberAll(app);
});

async function add(count: number, daysAgo: number): Promise<void> {
  const entry = exampleEntry(app, workspaceId, owner);
  const at = new Date(entry.at.getTime() - daysAgo * DAY_MS);
  await recordAudits(app.services.db.sql, Array(count).fill({ ...entry, at }));
}

const prune = (days = 30) => pruneAudit(app.services, app.clock.now(), days);
const count = () => app.services.db.auditEntry.count({ where: { workspaceId } });
const verify = () => verifyLog(app.services, workspaceId, null);

test('entries that are too old are pruned, and the rest can be verified and continued', async () => {
  const { to } = await verifyLog(app.services, workspaceId, null);
  expect(await prune()).toBe(1_500);
  expect(await count()).toBe(10);
  expect(await verify()).toMatchObject({ problems: [], from: 1_501, cutSequence: 1_500, to });
  await add(1, 0);
  await numberAll(app);
  expect(await verify()).toMatchObject({ problems: [], lastSequence: 1_511 });
  expect(await prune()).toBe(0);
});

test('a whole log can be pruned, and continues with the next number', async () => {
  await pruneAudit(app.services, new Date(app.clock.now().getTime() + 2 * DAY_MS), 1);
  expect(await count()).toBe(0);
  expect(await verify()).toMatchObject({ problems: [], from: 1_511, lastSequence: 1_510 });
  await add(1, 0);
  await numberAll(app);
  expect(await verify()).toMatchObject({ problems: [], to: { sequence: 1_511 } });
});

test('0 days keep every entry, and an entry without a number is never pruned', async () => {
  expect(await prune(0)).toBe(0);
  await add(1, 50);
  await prune();
  expect(await count()).toBe(11);
});

test('an old entry after a younger one remains until that one is old too', async () => {
  await add(5, 40);
  await numberAll(app);
  expect(await prune()).toBe(1_500);
  expect(await count()).toBe(15);
});

test('entries that were tampered with are not pruned, so that verification still shows it', async () => {
  const client = new pg.Client({ connectionString: app.superuserUrl });
  await client.connect();
  await client.query('set session_replication_role = replica');
  await client.query('delete from audit_log where workspace_id = $1 and sequence = 700', [workspaceId]);
  await client.end();
  expect(await prune()).toBe(0);
  expect((await verify()).problems).toEqual([{ sequence: 700, problem: 'missing' }]);
});

test('verification that runs while entries are pruned finds nothing wrong', async () => {
  const checks = Array.from({ length: 10 }, async () => (await verify()).problems);
  await prune();
  expect((await Promise.all(checks)).flat()).toEqual([]);
});
