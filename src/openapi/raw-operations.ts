/** Raw operations in the OpenAPI document, from the declarations that the REST transport serves. */
import { z } from 'zod';
import {
  fileTypes,
  type RawOperation,
  type RawRequest,
  requiredScopeOfRaw,
  takesIdempotencyKeys,
} from '../trpc/raw-operation.ts';
import { bodyOf, type Example } from './examples.ts';
import { headersOf, notModified } from './headers.ts';
import { idempotencyKey } from './idempotency.ts';
import { withKeyAccess } from './key-access.ts';
import { refusalsOfRaw } from './refusals.ts';
import { withoutNull } from './schemas.ts';

type Schemas = Record<string, unknown>;

/** Returns the operation id, which names the method in generated clients: `labelsCreate` for `labels.create`. */
export function toOperationId(name: string): string {
  return name.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Creates the entry of an operation. Adds the named schemas that it uses to `schemas`. */
export function createRawEntry(
  operation: RawOperation,
  credentials: readonly object[],
  schemas: Schemas,
  example: Example,
): object {
  const { name, tags, summary, description, access, request } = operation;
  const { needsSession = false } = access;
  return {
    operationId: toOperationId(name),
    tags,
    summary,
    description: withKeyAccess(description, { needsSession, requiredScope: requiredScopeOfRaw(operation) }),
    security:
      access.credential === 'required'
        ? credentials
        : // `{}` is included, because some callers send a signature that is not declared as a scheme.
          [{}, ...Object.keys(access.credential.schemes).map((scheme) => ({ [scheme]: [] }))],
    parameters: [
      ...createParameters('path', operation.params, example),
      ...(operation.query ? createParameters('query', operation.query, example) : []),
      ...createHeaderParameters(operation),
      ...(takesIdempotencyKeys(operation) ? [idempotencyKey] : []),
    ],
    ...(request.kind !== 'none' && {
      requestBody: { required: true, ...createRequestBody(operation, request, schemas, example) },
    }),
    responses: {
      [operation.response.kind === 'empty' ? operation.response.status : 200]: createResponse(
        operation,
        schemas,
        example,
      ),
      ...(hasTag(operation) && { 304: notModified }),
      ...refusalsOfRaw(operation, example.errors),
    },
  };
}

function createParameters(place: 'path' | 'query', parameters: z.ZodType, { input }: Example): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(parameters, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = typeof property === 'object' ? property : {};
    return {
      in: place,
      name,
      required: required.includes(name),
      description,
      schema: withoutNull(schema),
      example: input[name],
    };
  });
}

function createHeaderParameters({ headers = {} }: RawOperation): object[] {
  return Object.entries(headers).map(([name, description]) => ({
    in: 'header',
    name,
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function createRequestBody(
  { path }: RawOperation,
  request: Exclude<RawRequest, { kind: 'none' }>,
  schemas: Schemas,
  { input }: Example,
): object {
  switch (request.kind) {
    case 'multipart': {
      const { properties = {} } = request.fields ? z.toJSONSchema(request.fields, { io: 'input' }) : {};
      const fields = Object.entries(properties).map(([name, property]) => [
        name,
        withoutNull(typeof property === 'object' ? property : {}),
      ]);
      const file = { type: 'string', format: 'binary', description: request.fileDescription };
      return {
        content: {
          'multipart/form-data': {
            schema: {
              type: 'object',
              title: request.name,
              required: ['file'],
              properties: { file, ...Object.fromEntries(fields) },
            },
            example: { file: request.exampleFile, ...bodyOf(input, path) },
            encoding: { file: { contentType: request.types.join(', ') } },
          },
        },
      };
    }
    case 'csv':
      return { content: { 'text/csv': { schema: { type: 'string' }, example: request.example } } };
    case 'stream':
      return {
        content: {
          [request.contentType]: { schema: { type: 'string', format: 'binary' }, example: request.example },
        },
      };
    case 'bytes':
      if (request.types) return { content: toFiles(request.types) };
      return {
        content: {
          'application/json': { schema: toSchema(request.schema, 'input', schemas), example: bodyOf(input, path) },
        },
      };
  }
}

function createResponse(operation: RawOperation, schemas: Schemas, { response: example }: Example): object {
  const { response } = operation;
  const { description } = response;
  const own = 'headers' in response ? describeHeaders(response.headers) : {};
  if (response.kind === 'empty') return { description, headers: { ...headersOf(response.status, false), ...own } };
  if (response.kind === 'image')
    return { description, headers: headersOf(200, hasTag(operation)), content: toFiles(response.types) };
  const content =
    response.kind === 'json' || response.kind === 'document'
      ? { 'application/json': { schema: toSchema(response.schema, 'output', schemas), example } }
      : { [fileTypes[response.kind]]: { schema: { type: 'string' }, example } };
  return { description, headers: { ...headersOf(200, hasTag(operation)), ...own }, content };
}

function toFiles(types: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    types.map((type) => [
      type,
      { schema: { type: 'string', format: 'binary' }, example: `file.${type.slice(type.indexOf('/') + 1)}` },
    ]),
  );
}

function describeHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, object> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

/** Whether responses have an `ETag`. Streams have none, because a tag is a hash of the whole response. */
function hasTag({ method, response }: RawOperation): boolean {
  const isStored = response.kind === 'json' ? !response.noStore : ['calendar', 'image'].includes(response.kind);
  return method === 'GET' && isStored;
}

/** Returns the JSON Schema of a zod schema, with references to `components` for named schemas. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Schemas): unknown {
  const { $schema: _, $defs = {}, ...body } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  for (const [name, definition] of Object.entries($defs)) {
    // zod repeats the name as `id`, which is not a keyword of JSON Schema.
    const { id: _, ...named } = definition;
    schemas[name] ??= withComponentReferences(named);
  }
  return withComponentReferences(body);
}

/** Replaces zod's references to `$defs` with references to `components`. */
function withComponentReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withComponentReferences);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace('#/$defs/', '#/components/schemas/')
        : withComponentReferences(value),
    ]),
  );
}
