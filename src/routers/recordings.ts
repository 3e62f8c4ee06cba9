import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { Download, ItemAnswer } from '../features/library/schemas.ts';
import { retryCopy } from '../features/meeting-providers/recording-copies/retry-copy.ts';
import {
  listOwnRecordings,
  listRoomRecordings,
  listWorkspaceRecordings,
} from '../features/recordings/list-recordings.ts';
import { deleteRecording, renameRecording } from '../features/recordings/manage-recordings.ts';
import { createDownload } from '../features/recordings/read-recordings.ts';
import { saveToLibrary } from '../features/recordings/save-to-library.ts';
import {
  ListRecordingsInput,
  ListRoomRecordingsInput,
  ListWorkspaceRecordingsInput,
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
import { createWatchableDownload, readWatchableRecording } from '../features/recordings/watch-recordings.ts';
import { inRoom, inWorkspace, router, signedIn } from '../trpc/procedures.ts';

const tags = ['Recordings'];

export const recordingsRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/dashboard/recordings',
        tags,
        summary: 'List my recordings',
        successDescription: 'The recordings of the caller',
        description:
          'The recordings of the rooms that belong to the caller, newest first, or those of them that the filters ' +
          'select. `from` and `to` refer to `created_at`. With an API key, only rooms in its workspace.',
      },
    })
    .input(ListRecordingsInput.default({}))
    .output(RecordingsAnswer)
    .query(async ({ ctx, input }) =>
      pageAs('recordings', await listOwnRecordings(ctx.services, ctx.caller, input, ctx.origin)),
    ),

  listInRoom: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms/{name}/recordings',
        tags,
        summary: 'List the recordings of a room',
        successDescription: 'The recordings of the room',
        description:
          'The recordings of one room, newest first, or those that the filters select. The room must belong to the ' +
          'caller, or they must be owner or admin of its workspace.',
      },
    })
    .input(ListRoomRecordingsInput)
    .output(RecordingsAnswer)
    .query(async ({ ctx, input }) =>
      pageAs('recordings', await listRoomRecordings(ctx.services, ctx.caller, input, ctx.origin)),
    ),

  listInWorkspace: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/recordings',
        tags,
        summary: 'List the recordings of a workspace',
        successDescription: 'The recordings of the workspace',
        description:
          'The recordings of the rooms of the workspace, newest first, or those that the filters select. The owner ' +
          'and admins get all of them; a member gets those of their own rooms, and of rooms whose ' +
          '`recordings_visible_to` is `members`. `from` and `to` refer to `created_at`.',
      },
    })
    .input(ListWorkspaceRecordingsInput)
    .output(RecordingsAnswer)
    .query(async ({ ctx, input }) =>
      pageAs('recordings', await listWorkspaceRecordings(ctx.services, ctx.actor, input, ctx.origin)),
    ),

  readInWorkspace: inWorkspace('member')
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/recordings/{recordingId}',
        tags,
        summary: 'Read a recording of a workspace',
        successDescription: 'The recording',
        description:
          'Any member, if the list of the recordings of the workspace contains the recording for them. Otherwise 404 ' +
          '"Recording not found".',
      },
    })
    .input(RecordingInput)
    .output(RecordingAnswer)
    .query(async ({ ctx, input }) => ({
      recording: await readWatchableRecording(ctx.services, ctx.actor, input, ctx.origin),
    })),

  downloadInWorkspace: inWorkspace('member')
    .meta({
      refusals: [404],
      redirectsTo: 'url',
      noStore: true,
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/recordings/{recordingId}/download',
        tags,
        summary: 'Download a recording of a workspace',
        successDescription: 'The download URL, if the `Accept` header contains `application/json`',
        description:
          'Like the download for hosts of the room, for any member who can read the recording. A URL that was ' +
          'created stays valid until it expires, even if the room no longer shows its recordings to members.',
      },
    })
    .input(RecordingInput)
    .output(Download)
    .query(({ ctx, input }) => createWatchableDownload(ctx.services, ctx.actor, input, ctx.origin)),

  start: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/recordings',
        tags,
        summary: 'Start a recording',
        successDescription: 'The new recording, and the token for uploading its file',
        description:
          'The room must belong to the caller, or they must be owner or admin of its workspace. Upload the file with ' +
          '`upload_token`. 409 if a recording is already running in the room, unless the participant who started it ' +
          'has left, or if the room already has a recording with this `archive_id`. Emits `recording.started`.',
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
        successDescription: 'The new recording, and the token for uploading its file',
        description:
          'For participants who have joined, with their `token`; others get 403 "Only participants who have joined ' +
          'can record". 403 also unless `who_may_record` of the room allows the participant to record. 409 if a ' +
          'recording is already running in the room, unless the participant who started it has left, or if 3 ' +
          'recordings that participants of the room have started have no file yet. 429 with `Retry-After` if ' +
          'participants have started 10 recordings in it within an hour, or stored 8 GiB (by default) in it within a ' +
          'day. With `egress: 1`, 403 for guests, and 409 if no LiveKit server of the service carries the meetings ' +
          'of the room, or if it makes 10 recordings of the workspace already. Emits `recording.started`.',
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
        successDescription: 'The recording, which has ended',
        description:
          'The room must belong to the caller, or they must be owner or admin of its workspace. Sets `ended_at`. The ' +
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
        successDescription: 'The recording, which has ended',
        description:
          'For participants who have joined, with their `token`. The person who started the recording, and hosts of ' +
          'the room, stop it; stopping it again changes nothing. For others, 403 while it is running, and 404 ' +
          'afterwards.',
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
      redirectsTo: 'url',
      noStore: true,
      openapi: {
        method: 'GET',
        path: '/api/dashboard/recordings/{recordingId}/download',
        tags,
        summary: 'Download a recording',
        successDescription: 'The download URL, if the `Accept` header contains `application/json`',
        description:
          'Redirects to a URL that serves the file as an attachment, for 15 minutes (by default), to anyone who has ' +
          'the URL. A video element or a link can therefore use the path of this operation directly. A caller ' +
          'whose `Accept` header contains `application/json` gets that URL as JSON. The room of the recording must ' +
          'belong to the caller, or they must be owner or admin of its workspace. 404 "Recording not found" is also ' +
          'returned while the recording is not available.',
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
        successDescription: 'The recording with its new title',
        description: 'Requires the role owner or admin in the workspace of the recording.',
      },
    })
    .input(RenameRecordingInput)
    .output(RecordingAnswer)
    .mutation(async ({ ctx, input }) => ({
      recording: await renameRecording(ctx.services, ctx.caller, input, ctx.origin),
    })),

  retryCopy: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/recordings/{recordingId}/retry-copy',
        tags,
        summary: 'Retry the copy of a recording',
        successDescription: 'The recording, whose file is tried again',
        description:
          'Tries now to copy the file from the link that a meeting provider reported, and again until the link ' +
          'expires, but at most for a day. A recording that has failed becomes `uploaded`. The room of the recording ' +
          'must belong to the caller, or they must be owner or admin of its workspace. 409 if the link has expired, ' +
          'or if no provider has reported one. Does not change a recording that is available.',
      },
    })
    .input(RecordingInput)
    .output(RecordingAnswer)
    .mutation(async ({ ctx, input }) => ({
      recording: await retryCopy(ctx.services, ctx.caller, input, ctx.origin),
    })),

  delete: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'DELETE',
        path: '/api/dashboard/recordings/{recordingId}',
        tags,
        summary: 'Delete a recording',
        successDescription: 'The recording and its file are deleted',
        description:
          'Requires the role owner or admin in the workspace. Deletes the recording and its file. Later callbacks of ' +
          'its provider do not recreate it.',
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
        successDescription: 'The new item of the library',
        description:
          'Copies the file of a recording, and its poster, into the library of its workspace. The room must belong ' +
          'to the caller, or they must be owner or admin of its workspace; the file must be at most 100 MB (by ' +
          'default). The recording is not deleted. 409 if it has failed or is not available yet. Emits ' +
          '`library_item.uploaded`.',
      },
    })
    .input(SaveToLibraryInput)
    .output(ItemAnswer)
    .mutation(async ({ ctx, input }) => ({
      item: await saveToLibrary(ctx.services, ctx.caller, input, ctx.origin),
    })),
});
