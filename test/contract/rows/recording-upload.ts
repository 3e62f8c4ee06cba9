import { makeMp4 } from '../../support/media.ts';
import { fileContent } from '../content.ts';
import { UNKNOWN_ID } from '../invalid-values.ts';
import type { Rows } from '../row.ts';

export const recordingUploadRows: Rows = {
  'recordings.upload': {
    who: 'room owner',
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
