/** The uploads in the OpenAPI document: the operations that no procedure describes. */
import { z } from 'zod';
import { UploadFields } from '../features/library/schemas.ts';

export const LIBRARY_UPLOAD_PATH = '/api/workspaces/{id}/library';
export const RECORDING_UPLOAD_PATH = '/api/recordings/{recordingId}/file';

export function libraryUploadOperation(refusals: object) {
  return {
    operationId: 'libraryUpload',
    tags: ['Media library'],
    summary: 'Upload a file',
    description:
      'Any member. A PDF or MP4 of at most 100 MB (104,857,600 bytes), as multipart/form-data; the fields may come in any order. The type that the part declares decides, or the extension where it declares none; a file whose bytes are of another kind is refused. Emits `library_item.uploaded`. 500 "Upload failed: storage service unavailable" leaves nothing behind.',
    security: [{ bearer: [] }, { cookie: [] }],
    parameters: [idInPath('id', 'Workspace ID')],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: {
              file: { type: 'string', format: 'binary', description: 'application/pdf (.pdf) or video/mp4 (.mp4)' },
              ...z.toJSONSchema(UploadFields, { io: 'input' }).properties,
            },
          },
          encoding: { file: { contentType: 'application/pdf, video/mp4' } },
        },
      },
    },
    responses: { 200: answerWith('item', 'LibraryItem', 'The new item'), ...refusals },
  };
}

function idInPath(name: string, description: string) {
  return {
    in: 'path',
    name,
    required: true,
    description,
    schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  };
}

function answerWith(name: string, shape: string, description: string) {
  return {
    description,
    content: {
      'application/json': {
        schema: { type: 'object', required: [name], properties: { [name]: { $ref: `#/components/schemas/${shape}` } } },
      },
    },
  };
}

export function recordingUploadOperation(refusals: object) {
  return {
    operationId: 'recordingsUpload',
    tags: ['Recordings'],
    summary: 'Upload the file of a recording',
    description:
      'With the `upload_token` that starting the recording answered (`Authorization: Bearer lnr_...`), which opens this recording only; or by the room\'s user. An MP4 of at most 2 GB (or what the installation takes), as multipart/form-data. The recording becomes available, and `recording.completed` is emitted. 409 "The recording has its file already" once it has, also to who sends it again, or when it has failed; 409 "The recording\'s file is being uploaded" while another upload of it is under way. 500 "Upload failed: storage service unavailable" leaves nothing behind.',
    security: [{ bearer: [] }, { cookie: [] }],
    parameters: [idInPath('recordingId', 'Recording ID')],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: { file: { type: 'string', format: 'binary', description: 'video/mp4 (.mp4)' } },
          },
          encoding: { file: { contentType: 'video/mp4' } },
        },
      },
    },
    responses: { 200: answerWith('recording', 'Recording', 'The recording, available now'), ...refusals },
  };
}
