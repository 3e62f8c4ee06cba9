import { jpeg } from '../../support/images.ts';
import { makeMp4 } from '../../support/media.ts';
import { bytesContent, fileContent, imageContent } from '../content.ts';
import { UNKNOWN_ID } from '../invalid-values.ts';
import type { Rows } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const tus = { 'tus-resumable': '1.0.0' };

const upload = ({ uploadingRecording, recordingUploadId }: Scene): Input => ({
  recordingId: uploadingRecording.recordingId,
  uploadId: recordingUploadId,
});

const children = { recordingId: 'Recording not found', uploadId: 'Upload not found' };

const withTheToken = (status: number) => ({
  'the upload token of the recording': {
    call: ({ uploadingRecording }: Scene) => ({ token: uploadingRecording.uploadToken }),
    status,
  },
  'the upload token of another recording': {
    call: ({ stoppedRecording }: Scene) => ({ token: stoppedRecording.uploadToken }),
    status: 404,
  },
});

export const recordingUploadRows: Rows = {
  'recordings.setPoster': {
    who: 'room host',
    keys: true,
    input: ({ stoppedRecording }) => ({ recordingId: stoppedRecording.recordingId }),
    content: () => imageContent(jpeg),
    writes: true,
    children: { recordingId: 'Recording not found' },
    cases: {
      'its upload token': {
        call: ({ stoppedRecording }) => ({ token: stoppedRecording.uploadToken }),
        status: 200,
      },
      'the upload token of another recording': {
        call: ({ uploadingRecording }) => ({ token: uploadingRecording.uploadToken }),
        status: 404,
        message: 'Recording not found',
      },
    },
  },
  'recordings.poster': {
    who: 'room host',
    keys: true,
    input: ({ recordingId }) => ({ recordingId }),
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.posterInWorkspace': {
    who: 'member',
    keys: true,
    input: ({ workspaceId, recordingId }) => ({ id: workspaceId, recordingId }),
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.createUpload': {
    who: 'room host',
    keys: true,
    status: 201,
    input: ({ stoppedRecording }) => ({ recordingId: stoppedRecording.recordingId }),
    headers: { ...tus, 'upload-defer-length': '1', 'upload-metadata': 'filetype dmlkZW8vbXA0' },
    writes: true,
    children: { recordingId: 'Recording not found' },
    conflict: {
      input: ({ uploadingRecording }) => ({ recordingId: uploadingRecording.recordingId }),
      message: 'The recording has an unfinished upload: continue or cancel it',
    },
    cases: {
      'its upload token': {
        call: ({ stoppedRecording }) => ({ token: stoppedRecording.uploadToken }),
        status: 201,
      },
    },
  },
  'recordings.appendUpload': {
    who: 'room host',
    keys: true,
    status: 204,
    input: upload,
    content: () => bytesContent(makeMp4({ durationSeconds: 61.6, moov: 'front' }).subarray(0, 50)),
    headers: tus,
    writes: true,
    children,
    cases: withTheToken(204),
  },
  'recordings.readUpload': {
    who: 'room host',
    keys: true,
    input: upload,
    headers: tus,
    writes: false,
    children,
    cases: withTheToken(200),
  },
  'recordings.cancelUpload': {
    who: 'room host',
    keys: true,
    status: 204,
    input: upload,
    headers: tus,
    writes: true,
    children,
    cases: withTheToken(204),
  },

  'recordings.upload': {
    who: 'room host',
    keys: true,
    input: ({ stoppedRecording }) => ({ recordingId: stoppedRecording.recordingId }),
    content: () => fileContent(makeMp4({ durationSeconds: 61.6, moov: 'front' }), 'capture.mp4', 'video/mp4'),
    writes: true,
    children: { recordingId: 'Recording not found' },
    conflict: { input: ({ recordingId }) => ({ recordingId }), message: 'The recording already has a file' },
    cases: {
      'its upload token': {
        call: ({ stoppedRecording }) => ({ token: stoppedRecording.uploadToken }),
        status: 200,
      },
      'the upload token of another recording': {
        call: ({ foreign }) => ({ token: foreign.stoppedRecording.uploadToken }),
        status: 404,
        message: 'Recording not found',
      },
      'its upload token for an unknown recording': {
        call: ({ stoppedRecording }) => ({
          token: stoppedRecording.uploadToken,
          input: { recordingId: UNKNOWN_ID },
        }),
        status: 404,
        message: 'Recording not found',
      },
      'its upload token and a malformed id': {
        call: ({ stoppedRecording }) => ({ token: stoppedRecording.uploadToken, input: { recordingId: 'x' } }),
        status: 400,
        message: 'recordingId must be a positive 32-bit integer',
      },
      'an unknown upload token': {
        call: () => ({ token: `lnr_${'A'.repeat(43)}` }),
        status: 401,
        message: 'Unauthorized',
      },
      'the token of a participant': {
        call: ({ participantToken }) => ({ token: participantToken }),
        status: 401,
        message: 'Unauthorized',
      },
    },
  },
};
