import { pageAs } from '../core/list-page.ts';
import { listMeetings } from '../features/meetings/list-meetings.ts';
import { readMeeting } from '../features/meetings/read-meeting.ts';
import { ListMeetingsInput, MeetingAnswer, MeetingsAnswer, ReadMeetingInput } from '../features/meetings/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Meetings'];

export const meetingsRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/meetings',
        tags,
        summary: 'List the meetings of a workspace',
        successDescription: 'The meetings of the workspace',
        description:
          'Any member. The meetings in the rooms of the workspace, newest first; with a filter by person, by when ' +
          'the person joined. Only hosts of a room (its user, and the owner and admins of the workspace) see the ' +
          'addresses of its participants, and find its meetings by address or contact. Filters by name, address and ' +
          'contact compare the newest 20,000 visits in the range, and `user_id` those of the user. A page ends with ' +
          'the meeting with which it has 20,000 visits.',
      },
    })
    .input(ListMeetingsInput)
    .output(MeetingsAnswer)
    .query(async ({ ctx, input }) => pageAs('meetings', await listMeetings(ctx.services, ctx.actor, input))),

  read: inWorkspace('member')
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/meetings/{meetingId}',
        tags,
        summary: 'Read a meeting',
        successDescription: 'The meeting with a page of its participants',
        description:
          'Any member. The participants are in the order in which they joined; `next_cursor` leads to the next page ' +
          'of them. Their addresses are null unless the caller is a host of the room. Of a very large meeting, the ' +
          'first 10,000 visits are read.',
      },
    })
    .input(ReadMeetingInput)
    .output(MeetingAnswer)
    .query(({ ctx, input }) => readMeeting(ctx.services, ctx.actor, input)),
});
