/** Error responses in the OpenAPI document: their body, and the error statuses of each operation. */
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, statusOf } from '../core/errors.ts';
import type { Problem } from '../core/problem.ts';
import type { Operation } from '../trpc/operations.ts';
import { type RawOperation, takesIdempotencyKeys } from '../trpc/raw-operation.ts';
import type { Example, ExampleError } from './examples.ts';
import { headers, headersOf } from './headers.ts';

const REFERENCE = '#/components/responses/';
const REQUEST_ID = headers.RequestId.example;

/** An invalid field, as an error response lists it. */
const errorIssue = {
  type: 'object',
  description: 'An invalid field',
  required: ['path', 'message'],
  properties: {
    path: {
      type: 'string',
      description: 'The field, with dots for nested ones; empty for the whole body',
      examples: ['name'],
    },
    message: { type: 'string', examples: ['Name is required'] },
  },
} as const;

/** The body of every error response. */
const error = {
  type: 'object',
  description: 'Why the call failed',
  required: ['error', 'message', 'code', 'request_id'],
  properties: {
    error: { type: 'string', description: 'What is wrong, as a sentence', examples: ['Label not found'] },
    message: { type: 'string', description: 'The same text as `error`', examples: ['Label not found'] },
    code: { type: 'string', description: 'What is wrong, as a machine-readable code', examples: ['NOT_FOUND'] },
    request_id: {
      type: 'string',
      description: "Identifies this call in the server's log",
      examples: [REQUEST_ID],
    },
    issues: {
      type: 'array',
      description: 'The invalid fields',
      items: { $ref: '#/components/schemas/ErrorIssue' },
    },
  },
} as const;

export const errorSchemas = { Error: error, ErrorIssue: errorIssue };

type Refusal = { name: string; description: string; message: string };

/** The error responses by status, with the text of an example. */
const refusals: Record<number, Refusal> = {
  400: {
    name: 'BadRequest',
    description: 'The input is invalid; `issues` names each field',
    message: 'Request body must be valid JSON',
  },
  401: { name: 'Unauthorized', description: 'No valid credential', message: 'Unauthorized' },
  403: {
    name: 'Forbidden',
    description:
      'The caller is not a member of the workspace, their role is too low, the operation does not accept API keys ' +
      '(`KEY_IS_NO_PERSON` if it is for people), the API key lacks the scope (`SCOPE_MISSING`) or may not be used ' +
      'from this address (`NETWORK_NOT_ALLOWED`), the account works only once its address is confirmed ' +
      '(`EMAIL_NOT_CONFIRMED`), the workspace requires another sign-in ' +
      '(`WORKSPACE_REQUIRES_SECOND_FACTOR`, `WORKSPACE_REQUIRES_PROVIDER`), the room is locked (`ROOM_LOCKED`) ' +
      'or only for members (`MEMBERS_ONLY`), a host has removed the participant (`PARTICIPANT_REMOVED`), or a page ' +
      'of another origin sent a write with the session cookie',
    message: 'Forbidden',
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist, or belongs to another workspace',
    message: 'Not found',
  },
  408: {
    name: 'RequestTimeout',
    description: 'The body arrived too slowly',
    message: 'The request body arrived too slowly',
  },
  409: {
    name: 'Conflict',
    description:
      'The resource already exists, or its state does not allow the change. Also returned if an earlier request with ' +
      'the same `Idempotency-Key` is still being carried out (then with `Retry-After`), or was carried out but ' +
      'its response was not stored',
    message: 'You have reached the quota of 100 workspaces (QUOTA_WORKSPACES)',
  },
  412: {
    name: 'PreconditionFailed',
    description:
      'The request does not name the version 1.0.0 of the protocol tus; `Tus-Version` names what is supported',
    message: 'Tus-Resumable must be 1.0.0',
  },
  413: { name: 'PayloadTooLarge', description: 'The body is too large', message: 'Request body is too large' },
  414: { name: 'UriTooLong', description: 'A path parameter is too long', message: 'A path parameter is too long' },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has the wrong content type',
    message: 'Content type must be application/json',
  },
  422: {
    name: 'IdempotencyKeyReused',
    description: 'The `Idempotency-Key` was already used for a different request',
    message: 'This Idempotency-Key was already used for a different request',
  },
  429: {
    name: 'TooManyRequests',
    description: 'A rate limit, or another limit on calls, is exceeded',
    message: 'Too many requests: try again in 5 s',
  },
  431: {
    name: 'HeadersTooLarge',
    description: 'The request headers are too large',
    message: 'Request headers are too large',
  },
  500: {
    name: 'InternalServerError',
    description: 'A bug in the service (report the request id), or the storage service is unavailable (try again)',
    message: 'Internal server error',
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The service is overloaded, or the database is unavailable: try again in a moment',
    message: 'The service is busy: try again in a moment',
  },
};

type Errors = Example['errors'];

/** The error responses that operations of `paths` share, as components, by name. */
export function createErrorResponses(paths: object): Record<string, object> {
  const text = JSON.stringify(paths);
  const shared = Object.entries(refusals).filter(([, { name }]) => text.includes(`"${REFERENCE}${name}"`));
  return Object.fromEntries(
    shared.map(([status, { name, message }]) => [
      name,
      toResponse(Number(status), [{ message, code: codeOf(Number(status)) }]),
    ]),
  );
}

/**
 * Returns the error responses of a procedure, by status. The procedure declares further statuses in its `meta`.
 * `errors` are examples of this operation.
 */
export function refusalsOf(operation: Operation, errors: Errors): Record<string, object> {
  const isInWorkspace = /^\/api\/workspaces\/\{(?:id|workspaceId)\}/.test(operation.path);
  const isWrite = operation.method !== 'GET';
  return toResponses(operation.path, errors, [
    ...(operation.fields.size > 0 || operation.takesBody ? [400] : []),
    // 403 for an API key without the scope or from another network, and for a cross-origin write with the cookie.
    ...(operation.credential === 'none' || operation.credential === 'recognized' ? [] : [401, 403]),
    ...(isInWorkspace ? [404] : []),
    // A body is checked on every write, even if the operation expects none.
    ...(isWrite ? [408, 413, 415] : []),
    ...(operation.takesIdempotencyKeys ? [400, 409, 422] : []),
    ...operation.refusals,
  ]);
}

/** The same for a raw operation. */
export function refusalsOfRaw(operation: RawOperation, errors: Errors): Record<string, object> {
  const { path, access, request, refusals: own = [] } = operation;
  const type = request.kind === 'stream' ? request.contentType : 'text/csv';
  const contentType = { 415: [{ message: `Content type must be ${type}`, code: codeOf(415) }] };
  const hasType = request.kind === 'csv' || request.kind === 'stream';
  return toResponses(path, { ...(hasType && contentType), ...errors }, [
    400,
    ...(access.credential === 'required' ? [401, 403] : []),
    ...(access.minRole === undefined ? [] : [404]),
    ...(request.kind === 'none' ? [] : [408, 413]),
    ...(hasType ? [415] : []),
    ...(takesIdempotencyKeys(operation) ? [409, 422] : []),
    ...own,
  ]);
}

function toResponses(path: string, errors: Errors, statuses: readonly number[]): Record<string, object> {
  const hasParameters = path.includes('{');
  return Object.fromEntries(
    [...new Set([...statuses, ...(hasParameters ? [414] : []), 429, 431, 500, 503])]
      .sort()
      .map((status) => [status, toResponseOrReference(status, errors[status] ?? [])]),
  );
}

/** Returns a reference to the shared response, unless an example of the operation has another message. */
function toResponseOrReference(status: number, errors: readonly ExampleError[]): object {
  const { name, message } = refusalOf(status);
  const isShared = errors.every((error) => error.message === message);
  return isShared ? { $ref: REFERENCE + name } : toResponse(status, errors);
}

function toResponse(status: number, errors: readonly ExampleError[]): object {
  const { description } = refusalOf(status);
  const [first, ...others] = errors.map(toBody);
  const examples =
    others.length === 0
      ? { example: first }
      : {
          examples: Object.fromEntries(errors.map((error) => [toPascalCase(error.message), { value: toBody(error) }])),
        };
  return {
    description: `${description} (${STATUS_CODES[status]})`,
    headers: headersOf(status),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, ...examples } },
  };
}

function toBody({ message, code, issues }: ExampleError): Problem {
  return { error: message, message, code, request_id: REQUEST_ID, ...(issues && { issues }) };
}

function toPascalCase(text: string): string {
  return text.replace(/\W*(\w+)\W*/g, (_, word: string) => word.charAt(0).toUpperCase() + word.slice(1));
}

function refusalOf(status: number): Refusal {
  const refusal = refusals[status];
  if (!refusal) throw new Error(`The document does not describe ${status}`);
  return refusal;
}

/** The code of an error with the status. Throws if there is none. */
function codeOf(status: number): ErrorCode {
  // `Object.entries` returns the keys as plain strings.
  const codes = Object.entries(statusOf) as [ErrorCode, number][];
  const [code] = codes.find(([, one]) => one === status) ?? [];
  if (code === undefined) throw new Error(`No error has the status ${status}`);
  return code;
}
