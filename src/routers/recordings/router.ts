import { router, signedIn } from '../../trpc.ts';
import { Download } from '../library/schemas.ts';
import { ListPageInput, RoomInput } from '../rooms/schemas.ts';
import { createDownload, listOwnRecordings, listRoomRecordings } from './read-recordings.ts';
import { RecordingInput, RecordingsAnswer } from './schemas.ts';

const tags = ['Recordings'];

export const recordingsRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/dashboard/recordings',
        tags,
        summary: 'List my recordings',
        description: 'The recordings of all rooms of the caller, newest first; with a key, of those in its workspace.',
      },
    })
    .input(ListPageInput.default({}))
    .output(RecordingsAnswer)
    .query(async ({ ctx, input }) => ({
      recordings: await listOwnRecordings(ctx.services, ctx.caller, input, ctx.origin),
    })),

  listInRoom: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms/{name}/recordings',
        tags,
        summary: 'List the recordings of a room',
        description: 'The recordings of one room of the caller, newest first.',
      },
    })
    .input(RoomInput.extend(ListPageInput.shape))
    .output(RecordingsAnswer)
    .query(async ({ ctx, input }) => ({
      recordings: await listRoomRecordings(ctx.services, ctx.caller, input, ctx.origin),
    })),

  download: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/recordings/{recordingId}/download',
        tags,
        summary: 'Get a download URL of a recording',
        description:
          'A URL that serves the file as an attachment for 15 minutes, to whoever has it. 404 until the recording is available.',
      },
    })
    .input(RecordingInput)
    .output(Download)
    .query(({ ctx, input }) => createDownload(ctx.services, ctx.caller, input, ctx.origin)),
});
