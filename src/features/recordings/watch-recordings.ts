/** Reads recordings for members of the workspace, who watch those of rooms whose `recordings_visible_to` allows it. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { int, type Sql, statement, text } from '../../db/statements.ts';
import { type Poster, readPoster } from '../../media/posters.ts';
import type { Services } from '../../services.ts';
import type { Download } from '../library/schemas.ts';
import { isWatchable, toWatcher, watcherParams } from './list-recordings.ts';
import { type FoundRecording, foundColumns, foundFields, toDownload } from './read-recordings.ts';
import { forMembers, recordingFields, recordingTables } from './recording-columns.ts';
import type { Recording, RecordingInput } from './schemas.ts';

const watchable = statement('read-watchable-recording', {
  params: { ...watcherParams, recordingId: int, origin: text },
  returns: recordingFields,
  sql: `select ${forMembers} from ${recordingTables} where c.id = $recordingId and ${isWatchable}`,
});

const foundWatchable = statement('find-watchable-recording', {
  params: { ...watcherParams, recordingId: int },
  returns: foundFields,
  sql: `select ${foundColumns} from ${recordingTables} where c.id = $recordingId and ${isWatchable}`,
});

/**
 * Reads a recording that the member can watch. `origin` is the origin of its URLs. Throws the same 404 "Recording not
 * found" for every other recording.
 */
export async function readWatchableRecording(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { recordingId }: RecordingInput,
  origin: string,
): Promise<Recording> {
  const [recording] = await db.sql.run(watchable, { ...toWatcher(actor), recordingId, origin });
  if (!recording) throw notFound('Recording');
  return recording;
}

/** Like `createDownload`, for a recording that the member can watch. */
export async function createWatchableDownload(
  services: Pick<Services, 'db' | 'store' | 'clock' | 'settings'>,
  actor: Actor,
  input: RecordingInput,
  origin: string,
): Promise<Download> {
  return toDownload(services, await findWatchable(services.db.sql, actor, input), origin);
}

async function findWatchable(sql: Sql, actor: Actor, { recordingId }: RecordingInput): Promise<FoundRecording> {
  const [recording] = await sql.run(foundWatchable, { ...toWatcher(actor), recordingId });
  if (!recording) throw notFound('Recording');
  return recording;
}

/** Reads the poster of a recording that the member can watch. Throws 404, also without a poster. */
export async function readWatchablePoster(services: Services, actor: Actor, input: RecordingInput): Promise<Poster> {
  const { posterKey } = await findWatchable(services.db.sql, actor, input);
  return readPoster(services, posterKey);
}
