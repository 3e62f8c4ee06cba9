/** Generates the OpenAPI document from the procedures, and adds what they do not declare, such as error responses. */
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { version } from '../core/version.ts';
import type { Deprecation } from '../trpc/deprecation.ts';
import { listOperations, type Operation } from '../trpc/operations.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';
import { createCodeSamples } from './code-samples.ts';
import { bodyOf, type Example, readExamples } from './examples.ts';
import { headers, headersOf, notModified } from './headers.ts';
import { idempotencyKey, idempotencyParameters, idempotencySecret } from './idempotency.ts';
import { withKeyAccess } from './key-access.ts';
import { description, tags } from './overview.ts';
import { createRawEntry, toOperationId } from './raw-operations.ts';
import { createErrorResponses, errorSchemas, refusalsOf } from './refusals.ts';
import { rewriteSchemas, withoutNull } from './schemas.ts';
import { webhookEntries } from './webhooks.ts';

/** Every operation of the API. */
export type Api = { router: AnyTRPCRouter; rawOperations: readonly RawOperation[] };

type OperationObject = {
  operationId: string;
  description?: string;
  deprecated?: true;
  security?: unknown;
  parameters?: { name: string; schema: object; example?: unknown }[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema: { required?: string[]; title?: string }; example?: unknown }>;
  };
  responses: Record<string, object>;
};

const noExample: Example = { input: {}, response: undefined, errors: {} };

const credentials = [{ bearer: [] }, { cookie: [] }];

/**
 * Set here, because the generator lists every scheme for a protected operation. `{}` allows a call without credentials.
 */
const security: Record<Operation['credential'], readonly object[]> = {
  required: credentials,
  optional: [{}, ...credentials],
  recognized: [{}, ...credentials],
  none: [],
};

/** The response to a caller that does not ask for JSON. */
const redirect = {
  description: 'A redirect to the URL, if the `Accept` header does not contain `application/json`',
  headers: { Location: { schema: { type: 'string', format: 'uri' }, description: 'The URL' }, ...headersOf(302) },
};

/** Builds the document. `serverUrl` is the URL of the service; `/` means the origin that serves the document. */
export function createOpenApiDocument({ router, rawOperations }: Api, serverUrl: string): OpenAPIObject {
  const document = generateOpenApiDocument(router, {
    title: 'Lynxroom',
    version,
    description,
    openApiVersion: '3.1.0',
    baseUrl: serverUrl,
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { name: 'The developers of Lynxroom' },
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A session token (`lns_...`) or an API key (`lnx_...`). For uploading the file of a recording, its ' +
          '`upload_token` (`lnr_...`) is also accepted, and where hosts of a room act, the token of a participant ' +
          '(`lnp_...`) whose pass has `is_host`',
      },
      cookie: { type: 'apiKey', in: 'cookie', name: 'session', description: 'A session token, set by signing in' },
    },
  });
  document.tags = tags.map(([name, text]) => ({ name, description: text }));
  // From here on the document is treated as plain JSON. The generator's types describe its own object model.
  const paths = document.paths as Record<string, Record<string, object>>;
  const schemas: Record<string, unknown> = Object.fromEntries(
    Object.entries(document.components?.schemas ?? {}).filter(([name]) => !name.startsWith('error.')),
  );
  const examples = readExamples();
  for (const operation of listOperations(router)) {
    const target = paths[operation.path]?.[operation.method.toLowerCase()];
    if (!target) throw new Error(`The document lacks ${operation.name}`);
    const example = examples[operation.name] ?? noExample;
    completeOperation(operation, target as OperationObject, example);
    const sampled = { ...operation, isSigned: operation.credential === 'required', request: null };
    Object.assign(target, { 'x-codeSamples': createCodeSamples(sampled, example, serverUrl) });
  }
  for (const operation of rawOperations) {
    const example = examples[operation.name] ?? noExample;
    const isSigned = operation.access.credential === 'required' || operation.request.kind === 'multipart';
    const entry = {
      ...createRawEntry(operation, credentials, schemas, example),
      'x-codeSamples': createCodeSamples(
        { ...operation, isSigned, headers: exampleHeaders(operation) },
        example,
        serverUrl,
      ),
    };
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: entry };
  }
  Object.assign(schemas, errorSchemas);
  allowMoreFields(paths);
  allowMoreFields(schemas);
  const components = {
    ...document.components,
    schemas,
    headers,
    parameters: idempotencyParameters,
    responses: createErrorResponses(paths),
    securitySchemes: { ...document.components?.securitySchemes, ...findOwnSchemes(rawOperations) },
  };
  document.components = components as unknown as NonNullable<OpenAPIObject['components']>;
  document.webhooks = webhookEntries as unknown as NonNullable<OpenAPIObject['webhooks']>;
  return rewriteSchemas(document as unknown as OpenAPIObject & { components: { schemas: Record<string, unknown> } });
}

function completeOperation(operation: Operation, target: OperationObject, example: Example): void {
  target.operationId = toOperationId(operation.name);
  target.security = security[operation.credential];
  target.description = withKeyAccess(target.description, operation);
  if (operation.deprecated) markDeprecated(target, operation.deprecated);
  if (target.requestBody) {
    const body = target.requestBody.content['application/json'];
    target.requestBody.required = (body?.schema.required?.length ?? 0) > 0;
    Object.assign(target, { 'x-max-body-bytes': operation.maxBodyBytes });
    if (body) {
      if (operation.bodyName !== null) body.schema.title = operation.bodyName;
      body.example = bodyOf(example.input, operation.path);
    }
  }
  for (const parameter of target.parameters ?? []) {
    parameter.schema = withoutNull(parameter.schema);
    if (parameter.name in example.input) parameter.example = example.input[parameter.name];
  }
  const keys = [
    ...(operation.takesIdempotencyKeys ? [idempotencyKey] : []),
    ...(operation.takesIdempotencySecrets ? [idempotencySecret] : []),
  ];
  if (keys.length > 0) Object.assign(target, { parameters: [...(target.parameters ?? []), ...keys] });
  const hasTag = operation.method === 'GET' && !operation.noStore;
  // The generator declares every success as 200, with JSON.
  const success = target.responses[200] as { content: Record<string, object> } | undefined;
  if (!success) throw new Error(`The document lacks the response of ${operation.name}`);
  target.responses = {
    [operation.status]: {
      ...success,
      headers: headersOf(operation.status, hasTag),
      content: { 'application/json': { ...success.content['application/json'], example: example.response } },
    },
    ...(operation.redirectsTo !== null && { 302: redirect }),
    ...(hasTag && { 304: notModified }),
    ...refusalsOf(operation, example.errors),
  };
}

function markDeprecated(target: OperationObject, { since, sunset, instead }: Deprecation): void {
  target.deprecated = true;
  target.description = `Deprecated since ${since}, and may be removed after ${sunset}. Use ${instead}.\n\n${
    target.description ?? ''
  }`.trim();
}

/** The first request of a stream has no ID to resume from. */
function exampleHeaders({ headers = {}, response }: RawOperation): Record<string, string> {
  if (response.kind === 'events') return {};
  return Object.fromEntries(Object.keys(headers).map((name) => [name, 'EXAMPLE']));
}

/** Removes the `additionalProperties: false` that the generators add. Responses may get new fields. */
function allowMoreFields(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('additionalProperties' in node && node.additionalProperties === false) delete node.additionalProperties;
  for (const child of Object.values(node)) allowMoreFields(child);
}

function findOwnSchemes(rawOperations: readonly RawOperation[]): Record<string, object> {
  const own = rawOperations.map(({ access: { credential } }) => (credential === 'required' ? {} : credential.schemes));
  return Object.assign({}, ...own);
}
