/**
 * The operations of a resumable upload, in the protocol tus 1.0 (https://tus.io/protocols/resumable-upload) with the
 * extensions `creation`, `creation-defer-length`, `expiration` and `termination`.
 */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { toUnixSeconds } from '../core/time.ts';
import { integerFrom, unixSeconds } from '../core/validation.ts';
import type { Services } from '../services.ts';
import { type RawAccess, type RawOperation, rawOperation } from './raw-operation.ts';

const VERSION = '1.0.0';

/** The headers of the response to OPTIONS, which say what the server supports. */
export const tusHeaders = {
  'tus-resumable': VERSION,
  'tus-version': VERSION,
  'tus-extension': 'creation,creation-defer-length,expiration,termination',
};

/** Matches the paths of the operations, with or without a query. */
export const tusPath = /^\/api\/(?:workspaces\/[^/?]+\/library|recordings\/[^/?]+)\/uploads(?:\/[^/?]+)?\/?(?:\?|$)/;

const BYTES = 'application/offset+octet-stream';

/** A number of bytes, which may not fit into 32 bits. */
const size = integerFrom(0);

const UploadAnswer = z
  .object({
    upload: z.object({
      id: z.string(),
      received: size.describe('How many bytes are stored'),
      length: size.nullable().describe('The size of the file in bytes; null until the client names it'),
      result: z
        .string()
        .nullable()
        .describe('The path of the library item or recording; null until the last byte is stored'),
      expires_at: unixSeconds.describe('Until when the upload can be continued'),
    }),
  })
  .meta({ id: 'UploadAnswer' });

/** An upload. Sizes are in bytes. `result` is the path of what it has added; null until it is complete. */
type TusUpload = {
  id: string;
  metadata: string;
  length: number | null;
  received: number;
  result: string | null;
  expiresAt: Date;
};

type NewUpload = { length: string | undefined; deferLength: string | undefined; metadata: string | undefined };

type SentBytes = {
  offset: string | undefined;
  length: string | undefined;
  body: Readable;
};

type TusOptions<Caller, Upload extends TusUpload> = {
  /** The router in whose name the operations are: `library.createUpload`. */
  router: string;
  /** The path of the uploads, such as `/api/workspaces/{id}/library/uploads`. */
  path: string;
  params: z.ZodObject;
  tags: string[];
  /** Completes the descriptions: what the file becomes, and who may upload it. */
  outcome: string;
  who: string;
  access: RawAccess<Caller>;
  create(services: Services, caller: Caller, upload: NewUpload): Promise<{ id: string; expiresAt: Date }>;
  /** Finds an upload of the caller. Throws 404. */
  find(services: Services, caller: Caller, id: string): Promise<Upload>;
  /** What happens to an upload that `find` has found. */
  uploads: {
    append(
      services: Services,
      upload: Upload,
      sent: SentBytes,
      setOffset: (received: number) => void,
    ): Promise<TusUpload>;
    read(services: Services, upload: Upload): Promise<TusUpload>;
    cancel(services: Services, upload: Upload): Promise<void>;
  };
};

const responseHeaders = {
  'Tus-Resumable': 'The version of the protocol: 1.0.0',
  'Upload-Offset': 'How many bytes are stored',
  'Upload-Length': 'The size of the file in bytes, if the client has named it',
  'Upload-Defer-Length': '1 as long as the client has not named the size',
  'Upload-Metadata': 'The metadata of the request that created the upload',
  'Upload-Expires': 'Until when the upload can be continued; each request that sends bytes extends this',
  'Upload-Result': 'The path of the library item or recording, once the last byte is stored',
  Location: 'The URL of the upload',
};

type HeaderName = keyof typeof responseHeaders;

function describe(...names: HeaderName[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, responseHeaders[name]]));
}

/** Declares the four operations of the uploads below `path`: create, append, read the offset, cancel. */
export function tusOperations<Caller, Upload extends TusUpload>({
  router,
  path,
  params,
  tags,
  outcome,
  who,
  access,
  create,
  find,
  uploads,
}: TusOptions<Caller, Upload>): readonly RawOperation[] {
  const uploadParams = params.extend({
    uploadId: z.string().describe('The ID at the end of the URL of the upload'),
  });
  const shared = { tags, access };
  const ofUpload = { ...shared, path: `${path}/{uploadId}`, params: uploadParams };

  const createUpload = rawOperation({
    ...shared,
    name: `${router}.createUpload`,
    method: 'POST',
    path,
    params,
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Length': 'The size of the file in bytes. Required, unless Upload-Defer-Length is sent',
      'Upload-Defer-Length': '1 if the size is not known yet. A later PATCH names it in Upload-Length',
      'Upload-Metadata':
        '`filename`, `filetype` (`application/pdf` or `video/mp4`; for a recording `video/mp4` or `video/webm`), ' +
        '`name` and `description`: each a key, a space and a value in Base64; separated by commas',
    },
    summary: 'Create a resumable upload',
    description:
      `Begins an upload that several requests continue, in the protocol tus 1.0. ${outcome} ${who} Access, quotas ` +
      'and the size are checked before the first byte. 409 if there are too many unfinished uploads. 413 "File is ' +
      'larger than ..." if the file is too large. 412 without the header `Tus-Resumable: 1.0.0`.',
    request: { kind: 'none' },
    response: {
      kind: 'empty',
      status: 201,
      description: 'The upload is created',
      headers: describe('Tus-Resumable', 'Location', 'Upload-Expires'),
    },
    refusals: [404, 409, 412, 413],
    async handle({ services, caller, headers, params: values, origin, setHeader }) {
      requireVersion(headers, setHeader);
      const { id, expiresAt } = await create(services, caller, {
        length: one(headers['upload-length']),
        deferLength: one(headers['upload-defer-length']),
        metadata: one(headers['upload-metadata']),
      });
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
      const base = services.settings.publicUrl ?? origin;
      return { location: `${base}${filled}/${id}`, 'upload-expires': expiresAt.toUTCString() };
    },
  });

  const appendUpload = rawOperation({
    ...ofUpload,
    name: `${router}.appendUpload`,
    method: 'PATCH',
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': 'The number of bytes that are stored; required',
      'Upload-Length': 'The size of the file in bytes, if it was not known before',
    },
    summary: 'Append bytes to an upload',
    description:
      `Sends the next bytes of the file. Only who created the upload may continue it. ${outcome} The response to the ` +
      'request with the last byte names the result in `Upload-Result`. What has arrived is stored even if the ' +
      'request is cut off: `HEAD` tells how much. 409 with `Upload-Offset` if the offset is not the number of stored ' +
      'bytes, or if another request does not stop in time. 400 if the file has another type than it declares, or if ' +
      'the parts are smaller than 1 kB on average. 413 if the file is too large. A file that cannot be ' +
      'accepted ends the upload.',
    request: { kind: 'stream', contentType: BYTES, example: '%PDF-1.7 ...' },
    response: {
      kind: 'empty',
      status: 204,
      description: 'The bytes are stored',
      headers: describe('Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'Upload-Result'),
    },
    refusals: [404, 408, 409, 412, 413],
    async handle({ services, caller, headers, params: values, body, setHeader }) {
      requireVersion(headers, setHeader);
      const found = await find(services, caller, values.uploadId ?? '');
      const sent = { offset: one(headers['upload-offset']), length: one(headers['upload-length']), body };
      const upload = await uploads.append(services, found, sent, (received) =>
        setHeader('upload-offset', String(received)),
      );
      return stateHeaders(upload);
    },
  });

  const readUpload = rawOperation({
    ...ofUpload,
    name: `${router}.readUpload`,
    method: 'GET',
    headers: { 'Tus-Resumable': '1.0.0; may be absent' },
    summary: 'Read how much of an upload is stored',
    description:
      'Returns the number of stored bytes, from which the client continues; clients of tus send `HEAD`. A request ' +
      'that is still sending bytes of the upload is stopped. Only who created the upload may read it.',
    request: { kind: 'none' },
    response: {
      kind: 'json',
      schema: UploadAnswer,
      description: 'The state of the upload',
      noStore: true,
      headers: describe(
        'Tus-Resumable',
        'Upload-Offset',
        'Upload-Length',
        'Upload-Defer-Length',
        'Upload-Metadata',
        'Upload-Expires',
        'Upload-Result',
      ),
    },
    refusals: [404, 409, 412],
    async handle({ services, caller, headers, params: values, setHeader }) {
      requireVersion({ 'tus-resumable': VERSION, ...headers }, setHeader);
      const upload = await uploads.read(services, await find(services, caller, values.uploadId ?? ''));
      const { id, received, length, metadata, result, expiresAt } = upload;
      const shown = {
        ...stateHeaders(upload),
        ...(length === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) }),
        ...(metadata !== '' && { 'upload-metadata': metadata }),
        'cache-control': 'no-store',
      };
      for (const [name, value] of Object.entries(shown)) setHeader(name, value);
      return { upload: { id, received, length, result, expires_at: toUnixSeconds(expiresAt) } };
    },
  });

  const cancelUpload = rawOperation({
    ...ofUpload,
    name: `${router}.cancelUpload`,
    method: 'DELETE',
    headers: { 'Tus-Resumable': '1.0.0' },
    summary: 'Cancel an upload',
    description:
      'Ends the upload and discards its bytes. What a complete upload has added stays. Only who created the upload ' +
      'may cancel it.',
    request: { kind: 'none' },
    response: {
      kind: 'empty',
      status: 204,
      description: 'The upload is cancelled',
      headers: describe('Tus-Resumable'),
    },
    refusals: [404, 412],
    async handle({ services, caller, headers, params: values, setHeader }) {
      requireVersion(headers, setHeader);
      await uploads.cancel(services, await find(services, caller, values.uploadId ?? ''));
      return {};
    },
  });

  return [createUpload, appendUpload, readUpload, cancelUpload];
}

/** Sets the version in the response. Throws 412 if the request has none or another one. */
function requireVersion(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  setHeader: (name: string, value: string) => void,
): void {
  setHeader('tus-resumable', VERSION);
  if (headers['tus-resumable'] === VERSION) return;
  setHeader('tus-version', VERSION);
  throw new AppError('UNSUPPORTED_TUS_VERSION', `Tus-Resumable must be ${VERSION}`);
}

/** Node joins repeated headers of these names with commas, so a list never occurs. */
function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function stateHeaders({ received, result, expiresAt }: TusUpload): Record<string, string> {
  return {
    'upload-offset': String(received),
    'upload-expires': expiresAt.toUTCString(),
    ...(result !== null && { 'upload-result': result }),
  };
}
