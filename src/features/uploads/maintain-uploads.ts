/** Finishes uploads whose last request failed, and removes those that nobody continues. */
import { inBatches } from '../../db/in-batches.ts';
import { int, json, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject } from '../../storage/discarded-objects.ts';
import type { PartialObject } from '../../storage/object-store.ts';
import { readUpload } from './append-bytes.ts';
import { FINISHING_MS } from './finish-idle-uploads.ts';
import { discardedBytes } from './upload-rows.ts';

/** Rows per statement. */
const BATCH_SIZE = 100;

/** In a random order, so that uploads that cannot be finished for now do not keep back the others. */
const findUnfinished = statement('find-complete-unfinished-uploads', {
  params: { now: time, limit: int },
  returns: { id: text },
  sql: `
    select id from uploads
    where result is null and received = length and (lease is null or leased_until <= $now) and expires_at > $now
    order by random() limit $limit`,
});

/** What a recording does not have yet of an expired upload is added to it first. */
const deleteExpired = statement('delete-expired-uploads', {
  params: { now: time, keptUntil: time, limit: int },
  returns: { fileKey: text, stored: nullable(json<PartialObject>()) },
  sql: `
    delete from uploads where id in (
      select id from uploads
      where expires_at <= $now and (expires_at <= $keptUntil or result is not null or not defers_length
        or recording_id is null or received <= finished_bytes)
      limit $limit for update skip locked)
    returning file_key as "fileKey", ${discardedBytes}`,
});

/** Finishes uploads whose bytes are all stored. A later run tries those again that fail. Never rejects for one. */
export async function finishCompleteUploads(services: Services): Promise<void> {
  const { db, clock, log } = services;
  for (const { id } of await db.sql.run(findUnfinished, { now: clock.now(), limit: BATCH_SIZE }))
    await readUpload(services, { id }).catch((error: unknown) =>
      log.warn({ err: error, upload: id }, 'Failed to finish an upload'),
    );
}

/** Removes expired uploads and their bytes. */
export async function removeExpiredUploads(services: Pick<Services, 'db' | 'clock' | 'log' | 'store'>): Promise<void> {
  const { db, clock } = services;
  await inBatches(BATCH_SIZE, async (limit) => {
    const now = clock.now();
    const keptUntil = new Date(now.getTime() - FINISHING_MS);
    const expired = await db.sql.run(deleteExpired, { now, keptUntil, limit });
    for (const { fileKey, stored } of expired)
      if (stored !== null) await removeDiscardedObject(services, fileKey, stored);
    return expired.length;
  });
}
