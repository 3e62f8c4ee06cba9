import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { Metadata } from '../../core/metadata.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, json, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import {
  addressParams,
  firstVisit,
  meetingJson,
  meetingParts,
  meetingTables,
  participantColumns,
  toViewer,
  viewerParams,
} from './meeting-parts.ts';
import { MAX_VISITS, type Meeting, type MeetingParticipant, type ReadMeetingInput } from './schemas.ts';

/** The meeting to which a visit belongs. */
const page = `
    page as materialized (
      select p.id, p.room_id, p.joined_at, s.started_at, s.meeting_id
      from participants p cross join lateral (${firstVisit}) s
      where p.workspace_id = $workspaceId and p.id = $visitId and p.joined_at is not null)`;

const meetingByVisit = statement('find-meeting', {
  params: { ...viewerParams, visitId: int },
  returns: { meeting: json<Meeting>('json') },
  sql: `
    with ${page}, ${meetingParts(MAX_VISITS)}
    select ${meetingJson("'[]'::json")} as meeting from ${meetingTables}`,
});

const participantsOfMeeting = pagedList('list-participants-of-meeting', {
  order: byTime('o.joined_at', 'o.id', 'asc'),
  params: { ...addressParams, visitId: int },
  returns: {
    id: int,
    name: text,
    user_id: nullable(int),
    email: nullable(text),
    contact_id: nullable(int),
    external_id: nullable(text),
    metadata: nullable(json<Metadata>()),
    joined_at: float,
    left_at: nullable(float),
    visit_count: int,
    visits: json<MeetingParticipant['visits']>('json'),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    with ${page}, ${meetingParts(MAX_VISITS)}
    select ${participantColumns}, ${timeKeyOf('o.joined_at')}
    from ${meetingTables} join people o on o.meeting_id = m.meeting_id where true ${after}
    ${window}`,
});

/**
 * Reads a meeting by the ID of one of its visits, with a page of its participants in the order in which they joined.
 * Only its first 10,000 visits are read. Throws 404 "Meeting not found".
 */
export async function readMeeting(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { meetingId, ...request }: ReadMeetingInput,
): Promise<{ meeting: Meeting; next_cursor?: string | undefined }> {
  const { readsRecordings, ...viewer } = toViewer(actor);
  const values = { ...viewer, visitId: meetingId };
  const [[found], { entries, next_cursor }] = await db.sql.runBoth(
    (sql) => sql.run(meetingByVisit, { ...values, readsRecordings }),
    (sql) => readPage(sql, participantsOfMeeting, values, request, [actor.workspaceId, meetingId]),
  );
  if (!found) throw notFound('Meeting');
  return { meeting: { ...found.meeting, participants: entries }, next_cursor };
}
