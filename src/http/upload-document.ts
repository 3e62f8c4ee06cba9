/** The upload in the OpenAPI document: the one operation that no procedure describes. */
import { z } from 'zod';
import { UploadFields } from '../routers/library/schemas.ts';

export const UPLOAD_PATH = '/api/workspaces/{id}/library';

export const uploadOperation = (refusals: object) => ({
  operationId: 'libraryUpload',
  tags: ['Media library'],
  summary: 'Upload a file',
  description:
    'Any member. A PDF or MP4 of at most 100 MB (104,857,600 bytes), as multipart/form-data; the fields may come in any order. The type that the part declares decides, or the extension where it declares none; a file whose bytes are of another kind is refused. Emits `library_item.uploaded`. 500 "Upload failed: storage service unavailable" leaves nothing behind.',
  security: [{ bearer: [] }, { cookie: [] }],
  parameters: [
    {
      in: 'path',
      name: 'id',
      required: true,
      description: 'Workspace ID',
      schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    },
  ],
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
  responses: {
    200: {
      description: 'The new item',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['item'],
            properties: { item: { $ref: '#/components/schemas/LibraryItem' } },
          },
        },
      },
    },
    ...refusals,
  },
});
