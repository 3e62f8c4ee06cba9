/** The columns of recordings, as the API returns them. */
import type { RecordingStatus } from '../../core/recording-status.ts';
import { secondsOf } from '../../db/columns.ts';
import { float, int, nullable, oneOf, text } from '../../db/statements.ts';
import { posterUrlOf } from '../../media/posters.ts';
import { isAbandoned } from './abandoned-recordings.ts';

export const recordingFields = {
  id: int,
  room_id: int,
  room_name: text,
  archive_id: text,
  title: nullable(text),
  url: nullable(text),
  poster_url: nullable(text),
  duration: float,
  size: float,
  status: oneOf<RecordingStatus>(),
  failure_reason: nullable(text),
  copy_error: nullable(text),
  is_abandoned: int,
  created_at: float,
  ended_at: nullable(float),
};

/**
 * The public fields of the recording `c` in the room `r`. `$origin` is the origin of its URLs, and `path` an expression
 * for their path: hosts of a room and members of its workspace use different operations.
 */
function columnsWithPath(path: string): string {
  return `c.id, c.room_id, r.name as room_name, c.archive_id, c.title,
      case when c.status = 'available' then $origin || ${path} || '/download' end as url,
      ${posterUrlOf('c.poster_key', path)} as poster_url,
      c.duration::float8 as duration, c.size::float8 as size, c.status, c.failure_reason,
      case when c.status = 'uploaded' then (
        select k.last_error from recording_copies k
        where k.workspace_id = c.workspace_id and k.recording_id = c.id and k.next_attempt_at is not null
      ) end as copy_error,
      (${isAbandoned})::int as is_abandoned,
      ${secondsOf('c.created_at')} as created_at, ${secondsOf('c.ended_at')} as ended_at`;
}

/** With the URLs for hosts of the room. */
export const forHosts = columnsWithPath("'/api/dashboard/recordings/' || c.id");
/** With the URLs for members of the workspace. */
export const forMembers = columnsWithPath("'/api/workspaces/' || c.workspace_id || '/recordings/' || c.id");

export const recordingTables = 'rooms r join recordings c on c.workspace_id = r.workspace_id and c.room_id = r.id';
