/** The audit log, as the database has it. */
import { createNumbering } from '../../src/audit/number-entries.ts';
import type { NewAuditEntry } from '../../src/audit/record-audit.ts';
import type { TestApp } from './test-app.ts';
import type { Person } from './world.ts';

export type RecordedEntry = {
  actor: [kind: string, userId: number | null, keyId: number | null];
  action: string;
  target: [kind: string, id: number | null];
  actorDetails: unknown;
  details: unknown;
};

/** Returns the entries of a workspace that were added after `after`, in the order of their ids. */
export async function auditOf(app: TestApp, workspaceId: number, after = 0n): Promise<RecordedEntry[]> {
  const rows = await app.services.db.auditEntry.findMany({
    where: { workspaceId, id: { gt: after } },
    orderBy: { id: 'asc' },
  });
  return rows.map((row) => ({
    actor: [row.actorKind, row.actorUserId, row.actorKeyId],
    action: row.action,
    target: [row.targetKind, row.targetId],
    actorDetails: JSON.parse(row.actorDetails ?? 'null'),
    details: JSON.parse(row.details ?? 'null'),
  }));
}

/** Returns the id of the newest entry; 0 if there is none. */
export async function lastAuditId(app: TestApp): Promise<bigint> {
  const { _max } = await app.services.db.auditEntry.aggregate({ _max: { id: true } });
  return _max.id ?? 0n;
}

/** Numbers all entries that were committed, as the background work does. */
export async function numberAll(app: TestApp): Promise<void> {
  const numberBatch = createNumbering(app.services);
  while ((await numberBatch()) === 0);
}

/** An entry of `actor`, without a purpose. */
export function exampleEntry(app: TestApp, workspaceId: number, { id: userId, name }: Person): NewAuditEntry {
  return {
    workspaceId,
    at: app.clock.now(),
    actor: { kind: 'user', userId, name, address: '192.0.2.7' },
    action: 'member.role_changed',
    target: { kind: 'member', id: userId, name },
    before: { role: 'member' },
    after: { role: 'admin' },
  };
}
