import { z } from 'zod';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { externalId, metadata } from '../../core/metadata.ts';
import { recordingStatuses } from '../../core/recording-status.ts';
import { requestedId } from '../../core/requested-id.ts';
import { count, email, id, integerBetween, LAST_SECOND, searchText, unixSeconds } from '../../core/validation.ts';

/** How many participants a meeting has in a list. Reading the meeting returns all of them, in pages. */
export const MAX_LISTED_PARTICIPANTS = 20;
/** How many visits of one participant a list, and reading a meeting, returns. */
export const MAX_LISTED_VISITS = 10;
export const MAX_VISITS = 100;
/** How many recordings of a meeting are returned. */
export const MAX_RECORDINGS = 20;
/**
 * How many visits a filter by person compares: of a user the user's own, else all. There is no index for names,
 * addresses and contacts.
 */
export const MAX_SEARCHED_VISITS = 20_000;
/** How many visits of a meeting are read: later ones count neither as participants nor in the peak. */
export const MAX_MEETING_VISITS = 10_000;
/** A page of a list ends with the meeting with which it has this many visits. */
export const MAX_PAGE_VISITS = 20_000;

const seconds = integerBetween(0, LAST_SECOND);

export const ListMeetingsInput = z.object({
  room: z.string().describe('Name of a room; only its meetings').optional(),
  user_id: requestedId.describe('Only meetings in which this user took part').optional(),
  email: email
    .describe(
      'Only meetings in which somebody with exactly this address took part. Finds only meetings in rooms of which ' +
        'the caller is a host',
    )
    .optional(),
  contact_id: requestedId
    .describe(
      'Only meetings in which this contact took part. Finds only meetings in rooms of which the caller is a host',
    )
    .optional(),
  search: searchText()
    .describe('Only meetings in which somebody took part whose name contains this text, case-insensitive')
    .optional(),
  from: seconds
    .describe(
      'Only meetings that began at this time or later, as a Unix timestamp in seconds. With a filter by person: that ' +
        'the person joined at this time or later',
    )
    .optional(),
  to: seconds
    .describe('Only meetings that began, or that the person joined, before this time. Must be after `from`')
    .optional(),
  limit: integerBetween(1, 100)
    .default(50)
    .describe('Maximum number of meetings. A page with very large meetings ends earlier'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of meetings to skip'),
  cursor,
});
export type ListMeetingsInput = z.infer<typeof ListMeetingsInput>;

export const ReadMeetingInput = z.object({
  meetingId: requestedId.describe('Meeting ID'),
  limit: integerBetween(1, 100).default(50).describe('Maximum number of participants'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of participants to skip'),
  cursor,
});
export type ReadMeetingInput = z.infer<typeof ReadMeetingInput>;

const leftAt = unixSeconds.nullable().describe('Unix timestamp in seconds; null while they are in the room');

const MeetingVisit = z
  .object({ participant_id: id, joined_at: unixSeconds, left_at: leftAt })
  .meta({ id: 'MeetingVisit', description: 'A visit to the room: from joining to leaving' });

const MeetingParticipant = z
  .object({
    id: id.describe('The participant ID of their first visit'),
    name: z.string(),
    user_id: id.nullable().describe('User ID; null for a guest'),
    email: z
      .string()
      .nullable()
      .describe('null for a guest who sent no address, and for callers who are not a host of the room'),
    contact_id: id.nullable().describe('The contact with their address; null if `email` is null'),
    external_id: externalId.describe('The id of the person in your product; null as `metadata` is'),
    metadata: metadata.describe('null for a person without a pass, and for callers who are not a host of the room'),
    joined_at: unixSeconds.describe('When they joined first, Unix timestamp in seconds'),
    left_at: leftAt,
    visit_count: count,
    visits: z
      .array(MeetingVisit)
      .describe(`At most the first ${MAX_LISTED_VISITS}; at most the first ${MAX_VISITS} when reading one meeting`),
  })
  .meta({
    id: 'MeetingParticipant',
    description:
      'A person who took part in a meeting. A user, the holder of a pass, and a guest who joined again with the ' +
      'token of the earlier visit or with the same name and address, is one participant with several visits',
  });
export type MeetingParticipant = z.infer<typeof MeetingParticipant>;

export const Meeting = z
  .object({
    id: id.describe(
      'The participant ID of the first visit. The ID of any other visit of the meeting leads to the same meeting',
    ),
    room: z.object({ id, name: z.string(), display_name: z.string().nullable() }),
    started_at: unixSeconds.describe('When somebody joined first, Unix timestamp in seconds'),
    ended_at: unixSeconds
      .nullable()
      .describe(
        'When the last participant left; null while somebody is in the room. If somebody joins less than ten minutes ' +
          'later, the meeting continues',
      ),
    participant_count: count.describe(`Of the first ${MAX_MEETING_VISITS} visits of the meeting, as all that follows`),
    peak: count.describe('The most participants who were in the room at the same time'),
    participants: z
      .array(MeetingParticipant)
      .describe(
        `In the order in which they joined. At most the first ${MAX_LISTED_PARTICIPANTS} in a list; a page of all ` +
          'when reading one meeting',
      ),
    recordings: z
      .array(
        z
          .object({ id, title: z.string().nullable(), status: z.enum(recordingStatuses) })
          .meta({ id: 'MeetingRecording' }),
      )
      .describe(
        `The recordings that were made during the meeting and that the caller may watch, at most ${MAX_RECORDINGS}`,
      ),
  })
  .meta({
    id: 'Meeting',
    description:
      'The time from the first join to the last leave in a room. Ten minutes without anybody separate two meetings',
  });
export type Meeting = z.infer<typeof Meeting>;

export const MeetingsAnswer = z
  .object({ meetings: z.array(Meeting), next_cursor: nextCursor })
  .meta({ id: 'MeetingList' });
export const MeetingAnswer = z
  .object({
    meeting: Meeting,
    next_cursor: nextCursor.describe(
      'Send it as `cursor` to get the next page of the participants. Absent if there are no more',
    ),
  })
  .meta({ id: 'MeetingResponse' });
