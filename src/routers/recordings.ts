import { ListPageInput } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { Download, ItemAnswer } from '../features/library/schemas.ts';
import { deleteRecording, renameRecording } from '../features/recordings/manage-recordings.ts';
import { createDownload, listOwnRecordings, listRoomRecordings } from '../features/recordings/read-recordings.ts';
import { saveToLibrary } from '../features/recordings/save-to-library.ts';
import {
  NewRecordingInput,
  RecordingAnswer,
  RecordingInput,
  RecordingsAnswer,
  RenameRecordingInput,
  RoomRecordingInput,
  SaveToLibraryInput,
  StartedRecording,
  StartRecordingInput,
} from '../features/recordings/schemas.ts';
import {
  startRecordingByParticipant,
  startRecordingByUser,
  stopRecordingByParticipant,
  stopRecordingByUser,
} from '../features/recordings/start-stop.ts';
import { findRecorder, findUploader, type Uploader, uploadRecording } from '../features/recordings/upload.ts';
import { RoomInput } from '../features/rooms/schemas.ts';
import { limitCaller, requireCaller } from '../trpc/access.ts';
import { inRoom, router, signedIn } from '../trpc/procedures.ts';
import { type RawAccess, rawOperation, requirePathId } from '../trpc/raw-operation.ts';

const tags = ['Recordings'];

export const recordingsRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/dashboard/recordings',
        tags,
        summary: 'List my recordings',
        description:
          'The recordings of all rooms of the caller, newest first. With an API key, only rooms in its workspace.',
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

  start: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/recordings',
        tags,
        summary: 'Start a recording',
        description:
          'The room must belong to the caller; their role in its workspace does not matter. Upload the file with ' +
          '`upload_token`. 409 if a recording is already running in the room, or if the room already has a ' +
          'recording with this `archive_id`. Emits `recording.started`.',
      },
    })
    .input(StartRecordingInput)
    .output(StartedRecording)
    .mutation(({ ctx, input }) => startRecordingByUser(ctx.services, ctx.caller, input, ctx.origin)),

  startInRoom: inRoom
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/recordings',
        protect: false,
        tags,
        summary: 'Start a recording from within the room',
        description:
          'For participants who have joined, with their `token`; others get 403 "Only participants who have joined ' +
          'can record". 409 if a recording is already running in the room, or if 3 recordings that participants ' +
          'started in it have no file yet. 429 with `Retry-After` if participants have started 10 recordings in it ' +
          'within an hour. Emits `recording.started`.',
      },
    })
    .input(NewRecordingInput)
    .output(StartedRecording)
    .mutation(({ ctx, input }) => startRecordingByParticipant(ctx.services, ctx.participant, input, ctx.origin)),

  stop: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/recordings/{recordingId}/stop',
        tags,
        summary: 'Stop a recording',
        description:
          'The room must belong to the caller; their role in its workspace does not matter. Sets `ended_at`. The ' +
          'file can be uploaded afterwards. Stopping a recording again changes nothing.',
      },
    })
    .input(RoomRecordingInput)
    .output(RecordingAnswer)
    .mutation(async ({ ctx, input }) => ({
      recording: await stopRecordingByUser(ctx.services, ctx.caller, input, ctx.origin),
    })),

  stopInRoom: inRoom
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/recordings/{recordingId}/stop',
        protect: false,
        tags,
        summary: 'Stop a recording from within the room',
        description:
          'For participants who have joined, with their `token`. Stops the recording if it is running in the room, ' +
          'whoever started it. 404 if it is not running, except for the participant who started it: stopping it ' +
          'again changes nothing.',
      },
    })
    .input(RecordingInput)
    .output(RecordingAnswer)
    .mutation(async ({ ctx, input }) => ({
      recording: await stopRecordingByParticipant(ctx.services, ctx.participant, input, ctx.origin),
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
          'Returns a URL that serves the file as an attachment for 15 minutes to anyone who has it. The recording ' +
          'must belong to a room of the caller. 404 "Recording not found" is also returned while the recording is ' +
          'not available.',
      },
    })
    .input(RecordingInput)
    .output(Download)
    .query(({ ctx, input }) => createDownload(ctx.services, ctx.caller, input, ctx.origin)),

  rename: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'PATCH',
        path: '/api/dashboard/recordings/{recordingId}',
        tags,
        summary: 'Rename a recording',
        description: 'The recording must belong to a room of the caller, who must be owner or admin of its workspace.',
      },
    })
    .input(RenameRecordingInput)
    .output(RecordingAnswer)
    .mutation(async ({ ctx, input }) => ({
      recording: await renameRecording(ctx.services, ctx.caller, input, ctx.origin),
    })),

  delete: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'DELETE',
        path: '/api/dashboard/recordings/{recordingId}',
        tags,
        summary: 'Delete a recording',
        description:
          'Deletes the recording and its file. The recording must belong to a room of the caller, who must be owner ' +
          'or admin of its workspace.',
      },
    })
    .input(RecordingInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteRecording(ctx.services, ctx.caller, input)),

  saveToLibrary: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/recordings/{recordingId}/save-to-library',
        tags,
        summary: 'Save a recording to the library',
        description:
          'Copies the file of a recording into the library of its workspace. The recording must belong to a room of ' +
          'the caller, and its file must be at most 100 MB. The recording is not deleted. 409 if it has failed or is ' +
          'not available yet. Emits `library_item.uploaded`.',
      },
    })
    .input(SaveToLibraryInput)
    .output(ItemAnswer)
    .mutation(async ({ ctx, input }) => ({ item: await saveToLibrary(ctx.services, ctx.caller, input) })),
});

/** A client with the recording's `upload_token`, or the room owner. */
const recordingUploader: RawAccess<Uploader> = {
  credential: 'required',
  async admit({ context, token, params }) {
    const { db } = context.services;
    const recorder = token === null ? null : await findRecorder(db, token);
    if (recorder !== null) limitCaller(context, `recorder:${recorder.id}`);
    const uploadedBy = recorder ?? requireCaller(context, await context.identify(null));
    return findUploader(db, uploadedBy, requirePathId(params, 'recordingId'));
  },
};

export const recordingsUpload = rawOperation({
  name: 'recordings.upload',
  method: 'POST',
  path: '/api/recordings/{recordingId}/file',
  params: RecordingInput,
  tags,
  summary: 'Upload the file of a recording',
  description:
    'Requires the `upload_token` that starting the recording returned (`Authorization: Bearer lnr_...`), or the ' +
    'credentials of the room owner. An MP4 of at most 2 GB (by default), as multipart/form-data. The recording ' +
    'becomes available. 409 "The recording already has a file", even if the same file is sent again; 409 "The ' +
    'recording has failed"; 409 "The recording\'s file is being uploaded" while another upload of it is in progress. ' +
    '500 "Upload failed: storage service unavailable" means that nothing was stored. Emits `recording.completed`.',
  access: recordingUploader,
  request: {
    kind: 'multipart',
    types: ['video/mp4'],
    fileDescription: 'video/mp4 (.mp4)',
    maxFileBytes: (settings) => settings.maxRecordingBytes,
  },
  response: { kind: 'json', schema: RecordingAnswer, description: 'The recording, which is now available' },
  refusals: [404, 409],
  handle: async ({ services, caller, body, origin }) => ({
    recording: await services.recordingUploads.run(caller.recordingId, () =>
      uploadRecording(services, caller, body, origin),
    ),
  }),
});
