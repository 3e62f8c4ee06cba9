/** The OpenAPI document: generated once from the procedures, then completed with what they do not say. */
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { z } from 'zod';
import { ImportAnswer } from '../features/contacts/schemas.ts';
import {
  CONTACTS_EXPORT_PATH,
  CONTACTS_IMPORT_PATH,
  contactsExportOperation,
  contactsImportOperation,
  exportStatuses,
  importStatuses,
} from '../http/contacts-csv-document.ts';
import { INGEST_PATH, ingestOperation, meetingProviderScheme } from '../http/ingest-document.ts';
import { listOperations, type Operation } from '../http/rest.ts';
import {
  LIBRARY_UPLOAD_PATH,
  libraryUploadOperation,
  RECORDING_UPLOAD_PATH,
  recordingUploadOperation,
} from '../http/upload-document.ts';
import { appRouter } from '../routers/index.ts';
import { webhookEntries } from './webhooks.ts';

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

const tags = [
  ['Signing in', 'Accounts and sessions. Send the token as `Authorization: Bearer`, or use the cookie in a browser.'],
  ['Workspaces', 'What teams work in, and the links that invite to them.'],
  ['Members', 'Roles, removing and leaving.'],
  ['Rooms', 'Meeting rooms, known by a name that is unique in the whole service.'],
  ['Participants', 'Entering and leaving rooms, and letting in who waits.'],
  ['Recordings', 'What was recorded in rooms.'],
  ['Labels', 'Colored tags of a workspace, for the items of its library.'],
  ['Media library', 'PDF and MP4 files of a workspace, up to 100 MB each.'],
  ['Retention', 'How long the items of a library are kept.'],
  ['Contacts', 'Who joined rooms and booked meetings.'],
  ['Booking', 'Pages on which anyone may book a meeting, and what was booked.'],
  ['Meeting providers', 'Where providers of meetings tell what happens in rooms.'],
  ['Analytics', 'What happened in a workspace, in numbers.'],
  ['API keys', 'Credentials for programs, each for one workspace. Send a key as `Authorization: Bearer`.'],
  ['Webhooks', 'Where the service posts the events of a workspace, what became of it, and what is posted.'],
] as const;

const description = `Teams share meeting rooms inside workspaces, keep recordings and a media library, and label them.

Fields named \`*_at\` are Unix timestamps in seconds. Flags are 1 and 0. Every refusal has the same body, with the text in
\`error\` (and \`message\`) and a \`code\` for programs; 400 names each wrong field in \`issues\`. Where the path names a
workspace, checks come in this order: 401, 404 for the workspace, 403, 400, 404 for what is in it, 409. Version 1 of these paths only grows: expect new fields.`;

const problem = {
  type: 'object',
  description: 'Why a call was refused',
  required: ['error', 'message', 'code', 'request_id'],
  properties: {
    error: { type: 'string', description: 'What is wrong, for people', examples: ['Label not found'] },
    message: { type: 'string', description: 'The same text', examples: ['Label not found'] },
    code: { type: 'string', description: 'What is wrong, for programs', examples: ['NOT_FOUND'] },
    request_id: {
      type: 'string',
      description: 'Names this call in the log of the server',
      examples: ['706dfcfb-d38a-4184-b596-5642486d82e6'],
    },
    issues: {
      type: 'array',
      description: 'Each wrong field',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'The field, dotted; empty for the whole body', examples: ['name'] },
          message: { type: 'string', examples: ['Name is required'] },
        },
      },
    },
  },
} as const;

const refusals: Record<number, { name: string; description: string; headers?: object }> = {
  400: { name: 'BadRequest', description: 'The input is wrong; `issues` names each field' },
  401: {
    name: 'Unauthorized',
    description: 'No valid credential',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' }, description: '`Bearer`' } },
  },
  403: {
    name: 'Forbidden',
    description:
      'Not a member of the workspace, the role is too low, not for API keys, or a write with the cookie from a foreign page',
  },
  404: { name: 'NotFound', description: 'There is no such thing, or not in this workspace' },
  408: { name: 'RequestTimeout', description: 'The body arrived too slowly' },
  409: { name: 'Conflict', description: 'It is there already, or something else stands against it' },
  413: { name: 'PayloadTooLarge', description: 'The body is too large' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON' },
  429: {
    name: 'TooManyRequests',
    description: 'Too many calls in a minute',
    headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait' } },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'More is asked than the service can do: try again in a moment',
  },
  500: {
    name: 'InternalServerError',
    description: 'Our fault: tell us the request id; or the storage does not answer: try again',
  },
};

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

type Answer = { description: string; content?: unknown };
type OperationObject = {
  operationId: string;
  security?: unknown;
  requestBody?: { required?: boolean; content: Record<string, { schema: { required?: string[] } }> };
  responses: Record<string, Answer | { $ref: string }>;
};

const credentials = [{ bearer: [] }, { cookie: [] }];

/** Ours, since the generator takes any of the schemes for what is protected. An empty one is a call without. */
const security: Record<Operation['credential'], readonly object[]> = {
  required: credentials,
  optional: [{}, ...credentials],
  none: [],
};

/** Builds the document. `serverUrl` is where the service is reached; `/` means where the document came from. */
export function createOpenApiDocument(serverUrl: string): OpenAPIObject {
  const document = generateOpenApiDocument(appRouter, {
    title: 'Lynxroom',
    version,
    description,
    openApiVersion: '3.1.0',
    baseUrl: serverUrl,
    // No procedure answers it.
    defs: { ContactImport: ImportAnswer },
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { name: 'The developers of Lynxroom' },
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A session token (`lns_...`) or an API key (`lnx_...`); for uploading the file of a recording also its `upload_token` (`lnr_...`)',
      },
      cookie: { type: 'apiKey', in: 'cookie', name: 'session', description: 'A session token, set by signing in' },
      meetingProvider: meetingProviderScheme,
    },
  });
  document.tags = tags.map(([name, text]) => ({ name, description: text }));
  openShapes(document.paths);
  openShapes(document.components?.schemas);
  const paths = document.paths as Record<string, Record<string, OperationObject>>;
  for (const operation of listOperations()) {
    const target = paths[operation.path]?.[operation.method.toLowerCase()];
    if (!target) throw new Error(`The document lacks ${operation.name}`);
    completeOperation(operation, target);
  }
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(([name]) => !name.startsWith('error.'));
  const components = {
    ...document.components,
    schemas: { ...Object.fromEntries(schemas), Error: problem },
    responses: Object.fromEntries(
      Object.entries(refusals).map(([status, { name, ...refusal }]) => [
        name,
        { ...refusal, description: `${refusal.description} (${STATUS_CODES[status]})`, content: errorContent },
      ]),
    ),
  };
  // Plain JSON of the right shape; the generator's types are those of an object model with mutable arrays.
  document.components = components as unknown as NonNullable<OpenAPIObject['components']>;
  const uploadRefusals = [400, 401, 403, 404, 408, 413, 429, 500, 503];
  for (const [path, operation] of [
    [LIBRARY_UPLOAD_PATH, libraryUploadOperation(refusalsFor(uploadRefusals))],
    [RECORDING_UPLOAD_PATH, recordingUploadOperation(refusalsFor([...uploadRefusals, 409]))],
    [INGEST_PATH, ingestOperation(refusalsFor([400, 401, 404, 408, 413, 429, 500, 503]))],
  ] as const) {
    paths[path] = { ...paths[path], post: operation } as (typeof paths)[string];
  }
  const csv = {
    [CONTACTS_EXPORT_PATH]: { get: contactsExportOperation(refusalsFor(exportStatuses)) },
    [CONTACTS_IMPORT_PATH]: { post: contactsImportOperation(refusalsFor(importStatuses)) },
  };
  Object.assign(paths, csv);
  // Plain JSON too.
  document.webhooks = webhookEntries as unknown as NonNullable<OpenAPIObject['webhooks']>;
  return document;
}

/** Shapes of answers may grow, so they are open; the generator closes them. */
function openShapes(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('additionalProperties' in node && node.additionalProperties === false) delete node.additionalProperties;
  for (const child of Object.values(node)) openShapes(child);
}

function completeOperation(operation: Operation, target: OperationObject): void {
  // `labels.create` of the router is `labelsCreate` in generated clients.
  target.operationId = operation.name.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
  target.security = security[operation.credential];
  if (target.requestBody) {
    const body = target.requestBody.content['application/json'];
    target.requestBody.required = (body?.schema.required?.length ?? 0) > 0;
  }
  const success = target.responses[200];
  if (!success) throw new Error(`The document lacks the answer of ${operation.name}`);
  target.responses = { [operation.status]: success, ...refusalsFor(statusesOf(operation)) };
}

/** References to the refusals of an operation, by status. */
function refusalsFor(statuses: readonly number[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...new Set(statuses)]
      .sort()
      .map((status) => [status, { $ref: `#/components/responses/${refusals[status]?.name}` }]),
  );
}

/** Which refusals an operation can give, by what it is; what only it can give stands in its meta. */
function statusesOf(operation: Operation): number[] {
  const isInWorkspace = /^\/api\/workspaces\/\{(?:id|workspaceId)\}/.test(operation.path);
  const writes = operation.method !== 'GET';
  return [
    ...(operation.kinds.size > 0 || operation.takesBody ? [400] : []),
    ...(operation.credential === 'none' ? [] : [401]),
    ...(isInWorkspace ? [403, 404] : []),
    // A write with the session cookie from a foreign page, and a body where none is meant, are refused everywhere.
    ...(writes && operation.credential !== 'none' ? [403] : []),
    ...(writes ? [408, 413, 415] : []),
    ...operation.errorStatuses,
    429,
    500,
    503,
  ];
}
