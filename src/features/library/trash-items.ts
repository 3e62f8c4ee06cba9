/** Takes items out of the library for the trash, and puts them back. Call these functions with the workspace locked. */
import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { creatorNameOf } from '../../db/columns.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, ints, json, nullable, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import { emitAll } from '../../events/emit.ts';
import { addMediaJob } from '../../media/add-media-job.ts';
import { itemDeleted, itemUploaded } from './item-events.ts';

/** The row of an item without its keys and its uploader, and with the IDs of its labels. */
type ItemRecord = Readonly<Record<string, unknown>>;

export type TakenItem = {
  id: number;
  name: string;
  size: number;
  fileKey: string;
  posterKey: string | null;
  uploadedBy: number | null;
  createdAt: Date;
  record: ItemRecord;
};

/** An item to put back. The keys are those that its file and its poster have now. */
export type StoredItem = Pick<TakenItem, 'fileKey' | 'posterKey' | 'uploadedBy' | 'record'>;

const filesOfItems = statement('find-files-of-items', {
  params: { workspaceId: int, itemIds: ints },
  returns: { id: int, fileKey: text, posterKey: nullable(text) },
  sql: `
    select id, file_key as "fileKey", poster_key as "posterKey" from library_items
    where workspace_id = $workspaceId and id = any($itemIds)`,
});

// The file is compared, so that no item is taken without a copy of its file.
const takeStatement = statement('take-items', {
  params: { workspaceId: int, itemIds: ints, fileKeys: texts },
  returns: {
    id: int,
    name: text,
    mime_type: text,
    size: float,
    fileKey: text,
    posterKey: nullable(text),
    uploadedBy: nullable(int),
    createdAt: time,
    record: json<ItemRecord>(),
  },
  sql: `
    with labelled as materialized (
      select item_id, jsonb_agg(label_id) as label_ids from item_labels
      where workspace_id = $workspaceId and item_id = any($itemIds) group by 1),
    taken as (
      delete from library_items where workspace_id = $workspaceId
        and (id, file_key) in (select * from unnest($itemIds, $fileKeys))
      returning *)
    select t.id, t.name, t.mime_type, t.size::float8 as size, t.file_key as "fileKey", t.poster_key as "posterKey",
      t.uploaded_by as "uploadedBy", t.created_at as "createdAt",
      to_jsonb(t) - '{workspace_id,uploaded_by,file_key,poster_key,search_name}'::text[]
        || jsonb_build_object('label_ids', coalesce(l.label_ids, '[]')) as record
    from taken t left join labelled l on l.item_id = t.id order by t.id`,
});

const putBackStatement = statement('put-back-items', {
  params: { workspaceId: int, items: json<readonly StoredItem[]>() },
  returns: {
    id: int,
    name: text,
    description: text,
    mime_type: text,
    size: float,
    duration: nullable(int),
    uploadedBy: nullable(int),
    uploadedByName: text,
    createdAt: time,
  },
  sql: `
    with restored as (
      insert into library_items (workspace_id, id, uploaded_by, name, description, file_key, mime_type, size, sha256,
        duration, poster_key, created_at, updated_at)
      select $workspaceId, r.id, i."uploadedBy", r.name, r.description, i."fileKey", r.mime_type, r.size, r.sha256,
        r.duration, i."posterKey", r.created_at, r.updated_at
      from jsonb_to_recordset($items) i ("uploadedBy" int, "fileKey" text, "posterKey" text, record jsonb)
      cross join lateral jsonb_populate_record(null::library_items, i.record) r
      returning *)
    select r.id, r.name, r.description, r.mime_type, r.size::float8 as size, r.duration, r.uploaded_by as "uploadedBy",
      ${creatorNameOf('u.name')} as "uploadedByName", r.created_at as "createdAt"
    from restored r left join users u on u.id = r.uploaded_by order by r.id`,
});

// Labels that were deleted meanwhile are left out.
const putBackLabels = statement('put-back-labels-of-items', {
  params: { workspaceId: int, items: json<readonly StoredItem[]>() },
  plansAnew: true,
  sql: `
    with present as materialized (
      select l.id from labels l where l.workspace_id = $workspaceId and l.id in (
        select label_id::int from jsonb_to_recordset($items) i (record jsonb)
        cross join lateral jsonb_array_elements_text(i.record->'label_ids') label_id)
      order by l.id for key share)
    insert into item_labels (workspace_id, item_id, label_id)
    select $workspaceId, (i.record->>'id')::int, p.id
    from jsonb_to_recordset($items) i (record jsonb)
    join present p on i.record->'label_ids' @> to_jsonb(p.id)
    order by 2, 3`,
});

/** Returns the keys of the files and posters of those of the items that exist. */
export function findFilesOfItems(sql: Sql, workspaceId: number, itemIds: readonly number[]) {
  return sql.run(filesOfItems, { workspaceId, itemIds: [...itemIds] });
}

/**
 * Removes the items that exist and have these files from the library. Emits `library_item.deleted` for each. Triggers
 * discard their files and posters.
 */
export async function takeItems(
  tx: Tx,
  at: Date,
  actor: Actor,
  files: readonly { id: number; fileKey: string }[],
): Promise<TakenItem[]> {
  const { workspaceId } = actor;
  const sql = sqlIn(tx);
  const itemIds = files.map(({ id }) => id);
  const taken = await sql.run(takeStatement, { workspaceId, itemIds, fileKeys: files.map(({ fileKey }) => fileKey) });
  await recordAudits(
    sql,
    taken.map((item) => ({
      workspaceId,
      at,
      actor: auditActorOf(actor),
      action: 'library_item.trashed',
      target: { kind: 'library_item', id: item.id, name: item.name },
      before: { mime_type: item.mime_type, size: item.size },
    })),
  );
  await emitAll(
    sql,
    at,
    taken.map((item) => itemDeleted(workspaceId, item, actor)),
  );
  return taken;
}

/**
 * Puts items back, with those of their labels that still exist. Emits `library_item.uploaded` for each, because those
 * who follow the events have seen it deleted.
 */
export async function putBackItems(tx: Tx, at: Date, actor: Actor, items: readonly StoredItem[]): Promise<void> {
  const { workspaceId } = actor;
  const sql = sqlIn(tx);
  const restored = await sql.run(putBackStatement, { workspaceId, items });
  await sql.run(putBackLabels, { workspaceId, items });
  await recordAudits(
    sql,
    restored.map((item) => ({
      workspaceId,
      at,
      actor: auditActorOf(actor),
      action: 'library_item.restored',
      target: { kind: 'library_item', id: item.id, name: item.name },
    })),
  );
  await emitAll(
    sql,
    at,
    restored.map(({ uploadedBy, uploadedByName, createdAt, ...item }) =>
      itemUploaded(workspaceId, {
        ...item,
        // If the account of the uploader was deleted, the item is as if its restorer had added it.
        uploaded_by: uploadedBy ?? actor.userId,
        uploaded_by_name: uploadedBy === null ? actor.name : uploadedByName,
        created_at: toUnixSeconds(createdAt),
      }),
    ),
  );
  // The job that reads the duration ended when the item left the library.
  for (const { id, mime_type, duration } of restored)
    if (mime_type === 'video/mp4' && duration === null) await addMediaJob(tx, at, { workspaceId, itemId: id });
}
