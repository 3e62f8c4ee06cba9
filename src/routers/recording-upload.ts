import type { Caller } from '../auth/identify.ts';
import { readRecordingPoster, setRecordingPoster } from '../features/recordings/recording-poster.ts';
import { RecordingAnswer, RecordingInput } from '../features/recordings/schemas.ts';
import { findRecorder, findUploader, type Uploader, uploadRecording } from '../features/recordings/upload.ts';
import { readWatchablePoster } from '../features/recordings/watch-recordings.ts';
import { appendBytes, readUpload } from '../features/uploads/append-bytes.ts';
import { cancelUpload } from '../features/uploads/cancel-upload.ts';
import { createRecordingUpload } from '../features/uploads/create-upload.ts';
import { findOwnUpload } from '../features/uploads/find-own-upload.ts';
import { limitCaller, requireCaller, requireScope } from '../trpc/access.ts';
import { posterReading, posterRequest, posterRules, sendPoster } from '../trpc/poster-operations.ts';
import {
  type RawAccess,
  rawOperation,
  requirePathId,
  WorkspaceParams,
  workspaceMember,
} from '../trpc/raw-operation.ts';
import { tusOperations } from '../trpc/tus-operations.ts';

/** A client with the recording's `upload_token`, or a host of the room. */
const recordingUploader: RawAccess<Uploader> = {
  credential: 'required',
  async admit({ context, operation, token, params }) {
    const { db } = context.services;
    const recorder = token === null ? null : await findRecorder(context.services, token);
    if (recorder !== null) limitCaller(context, `recorder:${recorder.id}`);
    const caller = recorder ?? requireCaller(context, await context.identify(null));
    const recordingId = requirePathId(params, 'recordingId');
    if ('credential' in caller) requireScope(caller, operation.name, operation);
    return findUploader(db, caller, recordingId);
  },
};

/** The operations of a resumable upload of the file. */
export const recordingUploads = tusOperations({
  router: 'recordings',
  path: '/api/recordings/{recordingId}/uploads',
  params: RecordingInput,
  tags: ['Recordings'],
  outcome:
    'When the last byte is stored, the recording becomes `uploaded`. A worker then makes it available, and ' +
    '`recording.completed` is emitted. If the length is not named, the recording is finished with what has arrived ' +
    '15 minutes (by default) after the last request, and can be continued for 24 hours. At the maximum size, what ' +
    'fits is stored, and the recording is complete: 413.',
  who:
    'Requires the `upload_token` that starting the recording returned, or the credentials of a host of the ' +
    'room. A recording has one unfinished upload, which each of them may continue or cancel.',
  access: recordingUploader,
  create: createRecordingUpload,
  // Whoever may upload the file may also continue or cancel what another has begun, because there can be only one.
  find: (services, { key, recordingId }, id) =>
    findOwnUpload(services, { workspaceId: key.workspaceId, recordingId, userId: null }, id),
  uploads: { append: appendBytes, read: readUpload, cancel: cancelUpload },
});

export const recordingsUpload = rawOperation({
  name: 'recordings.upload',
  method: 'POST',
  path: '/api/recordings/{recordingId}/file',
  params: RecordingInput,
  tags: ['Recordings'],
  summary: 'Upload the file of a recording',
  description:
    'Requires the `upload_token` that starting the recording returned (`Authorization: Bearer lnr_...`), or the ' +
    'credentials of a host of the room. An MP4 or WebM of at most 2 GiB (by default), as multipart/form-data. ' +
    'The recording becomes available. 409 "The recording already has a file", even if the same file is sent again; ' +
    '409 "The recording has failed"; 409 "The recording\'s file is being uploaded" while another upload of it is in ' +
    'progress. 500 "Upload failed: storage service unavailable" means that nothing was stored. Emits ' +
    '`recording.completed`.',
  access: recordingUploader,
  request: {
    kind: 'multipart',
    name: 'UploadRecordingRequest',
    types: ['video/mp4', 'video/webm'],
    fileDescription: 'video/mp4 (.mp4) or video/webm (.webm)',
    exampleFile: 'recording.mp4',
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

export const recordingsSetPoster = rawOperation({
  name: 'recordings.setPoster',
  method: 'PUT',
  path: '/api/recordings/{recordingId}/poster',
  params: RecordingInput,
  tags: ['Recordings'],
  summary: 'Set the poster of a recording',
  description:
    'Requires the `upload_token` that starting the recording returned, until 24 hours after the end of the ' +
    `recording, or the credentials of a host of the room. ${posterRules}`,
  access: recordingUploader,
  request: posterRequest,
  response: { kind: 'json', schema: RecordingAnswer, description: 'The recording with its new poster' },
  refusals: [404],
  handle: async ({ services, caller, body, origin }) => ({
    recording: await setRecordingPoster(services, caller, body, origin),
  }),
});

/** Any session or API key. Whether the recording may be read depends on its room. */
const signedIn: RawAccess<Caller> = {
  credential: 'required',
  async admit({ context, operation, params }) {
    const caller = requireCaller(context, await context.identify(null));
    requirePathId(params, 'recordingId');
    requireScope(caller, operation.name, operation);
    return caller;
  },
};

export const recordingsPoster = rawOperation({
  ...posterReading,
  name: 'recordings.poster',
  path: '/api/dashboard/recordings/{recordingId}/poster',
  params: RecordingInput,
  tags: ['Recordings'],
  summary: 'Read the poster of a recording',
  description: `Whoever manages the room of the recording. ${posterReading.description}`,
  access: signedIn,
  handle: async ({ services, caller, params, ...call }) => {
    const recordingId = requirePathId(params, 'recordingId');
    return sendPoster(await readRecordingPoster(services, caller, { recordingId }), call);
  },
});

export const recordingsPosterInWorkspace = rawOperation({
  ...posterReading,
  name: 'recordings.posterInWorkspace',
  path: '/api/workspaces/{id}/recordings/{recordingId}/poster',
  params: WorkspaceParams.extend(RecordingInput.shape),
  tags: ['Recordings'],
  summary: 'Read the poster of a recording of a workspace',
  description: `Any member who can read the recording. ${posterReading.description}`,
  access: workspaceMember('member', 'recordingId'),
  handle: async ({ services, caller, params, ...call }) =>
    sendPoster(
      await readWatchablePoster(services, caller, { recordingId: requirePathId(params, 'recordingId') }),
      call,
    ),
});
