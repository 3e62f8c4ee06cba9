/** Deletes for good what lies in the trash. What was moved there has been reported as deleted, so no event follows. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs, lockWorkspaceIfExists } from '../../auth/workspace-lock.ts';
import { toEnum } from '../../core/enums.ts';
import { notFound } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObjects, removeFilesOfCall, startRemoval } from '../../storage/discarded-objects.ts';
import { keysOf } from './copy-files.ts';
import { kindsOf, minRoleOf } from './read-entries.ts';
import { type EmptiedTrash, TRASH_DAYS, type TrashEntryInput, type TrashKind, trashKinds } from './schemas.ts';

/** Rows per transaction. A transaction blocks uploads to the workspace, so it has to be short. */
const BATCH_SIZE = 200;

const deleteOldest = statement('delete-oldest-trash', {
  params: { workspaceId: int, kinds: texts, until: time, max: int },
  returns: { id: int },
  sql: `
    delete from trash_entries where workspace_id = $workspaceId and id in (
      select id from trash_entries
      where workspace_id = $workspaceId and kind = any($kinds) and trashed_at <= $until and not with_room
      order by trashed_at, id limit $max)
    returning id`,
});

const deleteExpired = statement('delete-expired-trash', {
  params: { workspaceId: int, kind: text, expiry: time, max: int },
  returns: { resource_id: int },
  sql: `
    delete from trash_entries where workspace_id = $workspaceId and id in (
      select id from trash_entries
      where workspace_id = $workspaceId and kind = $kind and created_at < $expiry
      order by created_at, id limit $max)
    returning resource_id`,
});

const findWorkspaces = statement('find-workspaces-with-old-trash', {
  params: { until: time },
  returns: { id: int },
  sql: 'select distinct workspace_id as id from trash_entries where trashed_at <= $until order by 1',
});

/**
 * Deletes an entry and its file for good. Throws 404 "Trash entry not found", and 403 or 401 if the actor's role or
 * session has ended.
 */
export async function deleteEntry(
  services: Services,
  actor: Actor,
  { entryId }: TrashEntryInput,
): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  const kinds = kindsOf(actor);
  const keys = await transact(services.db, async (tx) => {
    await lockWorkspaceAs(tx, actor, minRoleOf(kinds));
    const where = { workspaceId, id: entryId, kind: { in: kinds }, withRoom: false };
    const entry = await tx.trashEntry.findFirst({ where });
    if (entry === null) throw notFound('Trash entry');
    await tx.trashEntry.deleteMany({ where });
    await recordAudit(tx, {
      workspaceId,
      at: services.clock.now(),
      actor: auditActorOf(actor),
      ...deletionOf(entry),
      before: { size: Number(entry.size) },
    });
    return keysOf(entry);
  });
  await removeFilesOfCall(services, keys);
  return { ok: true };
}

function deletionOf({ kind, resourceId: id, name }: { kind: string; resourceId: number; name: string }) {
  switch (toEnum(trashKinds, kind, 'kind')) {
    case 'recording':
      return { action: 'recording.deleted', target: { kind: 'recording', id, name } } as const;
    case 'room':
      return { action: 'room.deleted', target: { kind: 'room', id, name } } as const;
    case 'library_item':
      return { action: 'library_item.deleted', target: { kind: 'library_item', id, name } } as const;
  }
}

/**
 * Deletes for good everything that lies in the trash now and that the actor may delete. The files are removed in the
 * background. Each batch is recorded in the audit log: if a later one fails, for example with 403 or 401 because the
 * actor's role or session has ended meanwhile, what was deleted before stays deleted.
 */
export async function emptyTrash(services: Services, actor: Actor): Promise<EmptiedTrash> {
  const { workspaceId } = actor;
  const kinds = kindsOf(actor);
  const until = services.clock.now();
  const deleted = await inBatches(BATCH_SIZE, () =>
    transact(services.db, async (tx) => {
      await lockWorkspaceAs(tx, actor, minRoleOf(kinds));
      const ids = await deleteUntil(sqlIn(tx), workspaceId, kinds, until);
      if (ids.length > 0)
        await recordAudit(tx, {
          workspaceId,
          at: until,
          actor: auditActorOf(actor),
          action: 'trash.emptied',
          target: { kind: 'trash', id: null },
          before: { count: ids.length },
        });
      return ids.length;
    }),
  );
  if (deleted > 0) startRemoval(services);
  return { deleted };
}

async function deleteUntil(sql: Sql, workspaceId: number, kinds: readonly TrashKind[], until: Date) {
  return sql.run(deleteOldest, { workspaceId, kinds: [...kinds], until, max: BATCH_SIZE });
}

/**
 * Deletes up to `max` entries of a kind whose resource was created before `expiry`, oldest first. Returns the IDs that
 * the resources had. Call it with the workspace locked, and `removeDiscardedObjects` afterwards.
 */
export async function deleteExpiredFromTrash(
  sql: Sql,
  input: { workspaceId: number; kind: TrashKind; expiry: Date; max: number },
): Promise<number[]> {
  const rows = await sql.run(deleteExpired, input);
  return rows.map(({ resource_id }) => resource_id);
}

/**
 * Deletes everything that has lain in a trash for 30 days. If a workspace fails, the error is logged, and the next one
 * follows.
 */
export async function pruneTrash(services: Services): Promise<void> {
  const { db, clock, log } = services;
  const until = new Date(clock.now().getTime() - TRASH_DAYS * DAY_MS);
  let deleted = 0;
  for (const { id } of await db.sql.run(findWorkspaces, { until })) {
    try {
      deleted += await inBatches(BATCH_SIZE, () => pruneBatch(services, id, until));
    } catch (error) {
      log.error({ err: error, workspace: id }, 'Failed to delete the old trash of a workspace');
    }
  }
  if (deleted > 0) await removeDiscardedObjects(services);
  log.info({ deleted }, 'Deleted old trash');
}

function pruneBatch({ db, clock }: Services, workspaceId: number, until: Date): Promise<number> {
  return transact(db, async (tx) => {
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return 0;
    const ids = await deleteUntil(sqlIn(tx), workspaceId, trashKinds, until);
    if (ids.length > 0)
      await recordAudit(tx, {
        workspaceId,
        at: clock.now(),
        actor: { kind: 'system' },
        action: 'trash.expired',
        target: { kind: 'trash', id: null },
        before: { count: ids.length },
      });
    return ids.length;
  });
}
