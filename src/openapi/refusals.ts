/** Error responses in the OpenAPI document: their body, and the error statuses of each operation. */
import { STATUS_CODES } from 'node:http';
import type { Operation } from '../trpc/operations.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';

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
    code: { type: 'string', description: 'What is wrong, as a constant for programs', examples: ['NOT_FOUND'] },
    request_id: {
      type: 'string',
      description: "Identifies this call in the server's log",
      examples: ['706dfcfb-d38a-4184-b596-5642486d82e6'],
    },
    issues: {
      type: 'array',
      description: 'The invalid fields',
      items: { $ref: '#/components/schemas/ErrorIssue' },
    },
  },
} as const;

export const errorSchemas = { Error: error, ErrorIssue: errorIssue };

/** The error responses by status. */
const refusals: Record<number, { name: string; description: string; headers?: object }> = {
  400: { name: 'BadRequest', description: 'The input is invalid; `issues` names each field' },
  401: {
    name: 'Unauthorized',
    description: 'No valid credential',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' }, description: '`Bearer`' } },
  },
  403: {
    name: 'Forbidden',
    description:
      'The caller is not a member of the workspace, their role is too low, the operation does not accept API keys, ' +
      'or a page of another origin sent a write with the session cookie',
  },
  404: { name: 'NotFound', description: 'The resource does not exist, or belongs to another workspace' },
  408: { name: 'RequestTimeout', description: 'The body arrived too slowly' },
  409: { name: 'Conflict', description: 'The resource already exists, or its state does not allow the change' },
  413: { name: 'PayloadTooLarge', description: 'The body is too large' },
  414: { name: 'UriTooLong', description: 'A path parameter is too long' },
  415: { name: 'UnsupportedMediaType', description: 'The body has the wrong content type' },
  429: {
    name: 'TooManyRequests',
    description: 'A rate limit, or another limit on calls, is exceeded',
    headers: { 'Retry-After': { schema: { type: 'integer', minimum: 0 }, description: 'Seconds to wait' } },
  },
  431: { name: 'HeadersTooLarge', description: 'The request headers are too large' },
  503: {
    name: 'ServiceUnavailable',
    description: 'The service is overloaded, or the database is unavailable: try again in a moment',
  },
  500: {
    name: 'InternalServerError',
    description: 'A bug in the service (report the request id), or the storage service is unavailable (try again)',
  },
};

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** The error responses as components, by name. */
export function createErrorResponses(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, { name, ...refusal }]) => [
      name,
      { ...refusal, description: `${refusal.description} (${STATUS_CODES[status]})`, content: errorContent },
    ]),
  );
}

/**
 * Returns references to the error responses of a procedure, by status. The procedure declares further statuses in its
 * `meta`.
 */
export function refusalsOf(operation: Operation): Record<string, object> {
  const isInWorkspace = /^\/api\/workspaces\/\{(?:id|workspaceId)\}/.test(operation.path);
  const isWrite = operation.method !== 'GET';
  return toReferences(operation.path, [
    ...(operation.fields.size > 0 || operation.takesBody ? [400] : []),
    ...(operation.credential === 'none' ? [] : [401]),
    ...(isInWorkspace ? [403, 404] : []),
    // A cross-origin write with the session cookie.
    ...(isWrite && operation.credential !== 'none' ? [403] : []),
    // A body is checked on every write, even if the operation expects none.
    ...(isWrite ? [408, 413, 415] : []),
    ...operation.refusals,
  ]);
}

/** The same for a raw operation. */
export function refusalsOfRaw({
  method,
  path,
  access,
  request,
  refusals: own = [],
}: RawOperation): Record<string, object> {
  return toReferences(path, [
    400,
    ...(access.credential === 'required' ? [401] : []),
    ...(access.credential === 'required' && method !== 'GET' ? [403] : []),
    ...(access.minRole === undefined ? [] : [403, 404]),
    ...(request.kind === 'none' ? [] : [408, 413]),
    ...(request.kind === 'csv' ? [415] : []),
    ...own,
  ]);
}

function toReferences(path: string, statuses: readonly number[]): Record<string, object> {
  const hasParameters = path.includes('{');
  return Object.fromEntries(
    [...new Set([...statuses, ...(hasParameters ? [414] : []), 429, 431, 500, 503])]
      .sort()
      .map((status) => [status, { $ref: `#/components/responses/${refusals[status]?.name}` }]),
  );
}
