/** The tool that uploads a small file, whose bytes are in the arguments. The operation takes multipart bodies. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { runCall } from '../core/call-bounds.ts';
import { AppError, badField } from '../core/errors.ts';
import type { IncomingUpload } from '../media/receive-file.ts';
import { fromUnexpected } from '../trpc/errors.ts';
import { beginCall, ownerOfCaller } from '../trpc/idempotency.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';
import type { ToolSchema } from './input-schema.ts';
import type { Described, McpOperation } from './mcp-operation.ts';
import type { McpSession } from './session.ts';

/** 700 KiB. In base64, the file is a third larger. */
export const MAX_FILE_BYTES = 700 * 1024;
const MAX_BASE64_LENGTH = Math.ceil(MAX_FILE_BYTES / 3) * 4;
/** For the other arguments. */
const MAX_OTHER_BYTES = 8 * 1024;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const schema: ToolSchema = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      description: 'The name of the file with its extension, such as `Offer.pdf`. The extension determines the type',
    },
    content_base64: {
      type: 'string',
      maxLength: MAX_BASE64_LENGTH,
      description: `The bytes of the file in base64, at most ${MAX_FILE_BYTES} bytes before encoding`,
    },
    description: { type: 'string', description: 'Description of the item' },
  },
  required: ['name', 'content_base64'],
  additionalProperties: false,
};

type File = { name: string; description: string; bytes: Buffer };

/** `upload` is the raw operation `library.upload`. */
export function createUploadOperation(upload: RawOperation, described: Described): McpOperation {
  return {
    ...described,
    title: upload.summary,
    description:
      `Uploads a PDF or MP4 file of at most ${MAX_FILE_BYTES} bytes to the library. For a larger file, ask the ` +
      'person to use the console or `lynxroom upload`. Emits `library_item.uploaded`.',
    takesIdempotencyKeys: true,
    maxBytes: MAX_BASE64_LENGTH + MAX_OTHER_BYTES,
    schema,
    async call(session, given, idempotencyKey) {
      const context = { ...session.context, idempotencyKey };
      const { workspaceId } = session.credential;
      const params = { id: String(workspaceId) };
      const operation = { name: upload.name, isRead: false };
      const bounds = { feature: 'library', isRead: false };
      return runCall(context.bounds, bounds, async () => {
        try {
          const call = { context, operation, token: session.token, params, query: {}, headers: {} };
          session.count.isDone = true;
          const caller = await upload.access.admit(call);
          const file = readFile(given);
          const { services, origin, setHeader } = context;
          const body = toUpload(file);
          const run = async () =>
            upload.handle({ services, caller, headers: {}, params, body, origin, query: null, setHeader });
          return await runOnce(session, context, file, run);
        } catch (error) {
          throw error instanceof AppError ? error : fromUnexpected(error);
        }
      });
    },
  };
}

/** Throws 400 for an argument that is no text, or no base64, or too long. */
function readFile({ name, content_base64: content, description = '' }: Readonly<Record<string, unknown>>): File {
  if (typeof name !== 'string' || name.trim() === '') throw badField('name', 'name is required');
  if (typeof description !== 'string') throw badField('description', 'description must be a string');
  if (typeof content !== 'string' || content === '') throw badField('content_base64', 'content_base64 is required');
  if (content.length % 4 !== 0 || !BASE64.test(content))
    throw badField('content_base64', 'content_base64 must be base64 with padding, without line breaks');
  const bytes = Buffer.from(content, 'base64');
  if (bytes.length > MAX_FILE_BYTES)
    throw badField('content_base64', `The file is larger than ${MAX_FILE_BYTES} bytes: use \`lynxroom upload\``);
  return { name, description, bytes };
}

function toUpload({ name, description, bytes }: File): IncomingUpload {
  return {
    file: Promise.resolve({ stream: Readable.from([bytes]), filename: name, declaredType: undefined }),
    fields: Promise.resolve({ name, description }),
    signal: new AbortController().signal,
  };
}

/** Carries out a call with an idempotency key only once. The file is compared by its hash. */
async function runOnce(
  { caller, credential }: McpSession,
  context: McpSession['context'],
  { name, description, bytes }: File,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { idempotencyKey: key } = context;
  if (key === null) return run();
  const hash = createHash('sha256').update(bytes).digest('hex');
  const owner = ownerOfCaller(caller, credential.workspaceId);
  const input = { name, description, hash };
  const begun = await beginCall(context, { key, owner, operation: 'library.upload', input, checksRoles: false });
  if ('replay' in begun) return begun.replay();
  try {
    const data = await run();
    await begun.settle({ data });
    return data;
  } catch (error) {
    await begun.settle(error instanceof AppError ? { refusal: error } : { failure: error });
    throw error;
  }
}
