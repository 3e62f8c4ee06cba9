/** Validates every answer against the OpenAPI document: a documented status and exactly the documented fields. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { document as openApiDocument } from './api.ts';

type Operation = { path: string; pattern: RegExp; method: string; responses: Record<string, Response> };
type Response = { $ref?: string; headers?: Record<string, object>; content?: Record<string, { schema: object }> };
type Document = {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response>; schemas: Record<string, object> };
};

// The types of OpenAPI do not say that every response and schema is there. The document itself is valid.
const document = openApiDocument as unknown as Document;

/** Forbids additional properties. The document allows them, but in tests every field must be documented. */
function forbidAdditional(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forbidAdditional);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, forbidAdditional(value)]));
  return closed.type === 'object' && closed.properties ? { ...closed, additionalProperties: false } : closed;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('int64', true);
ajv.addFormat('binary', true);
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/);
ajv.addSchema({ $id: 'doc', components: { schemas: forbidAdditional(document.components.schemas) } });

const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    path,
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
    responses,
  })),
);

/** Finds the operation of a path. Literal paths take precedence over parameters, as in the router. */
function findOperation(method: string, pathname: string): Operation | undefined {
  return operations
    .filter((operation) => operation.method === method && operation.pattern.test(pathname))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}

function getResponse({ method, path, responses }: Operation, status: number): Response {
  const documented = responses[status];
  if (!documented) throw new Error(`The document does not contain ${method} ${path} ${status}`);
  const { $ref } = documented;
  return $ref === undefined ? documented : (document.components.responses[$ref.split('/').at(-1) ?? ''] ?? {});
}

const validators = new Map<string, ValidateFunction>();

function getValidator(operation: Operation, status: number): ValidateFunction {
  const name = `${operation.method} ${operation.path} ${status}`;
  const existing = validators.get(name);
  if (existing) return existing;
  const { content } = getResponse(operation, status);
  if (content === undefined) {
    // A redirect has no body.
    const validateNothing = ajv.compile({ enum: [''] });
    validators.set(name, validateNothing);
    return validateNothing;
  }
  const [{ schema } = { schema: undefined }] = Object.values(content);
  if (!schema) throw new Error(`The document has no schema for ${name}`);
  const text = JSON.stringify(forbidAdditional(schema)).replaceAll('"#/components', '"doc#/components');
  const validate = ajv.compile(JSON.parse(text));
  validators.set(name, validate);
  return validate;
}

/** The operations and statuses that the tests have seen, such as `GET /api/workspaces 200`. */
export const seenAnswers = new Set<string>();

/** The headers that must be documented where a response has them. */
const documentedHeaders = [
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'www-authenticate',
  'location',
  'etag',
];

type CheckedAnswer = { status: number; headers?: Headers; body: unknown };

/** Throws if the answer is not as documented. Ignores paths that are not in the document. */
export function checkAnswer(method: string, path: string, answer: CheckedAnswer): void {
  // A trailing slash changes nothing.
  const operation = findOperation(method, path.replace(/(?<=.)\/$/, ''));
  if (!operation || answer.status === 405) return;
  const validate = getValidator(operation, answer.status);
  seenAnswers.add(`${method} ${operation.path} ${answer.status}`);
  checkHeaders(operation, answer);
  if (validate(answer.body)) return;
  const name = `${method} ${operation.path} ${answer.status}`;
  throw new Error(`${name} is not as documented: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(answer.body)}`);
}

function checkHeaders(operation: Operation, { status, headers }: CheckedAnswer): void {
  const documented = Object.keys(getResponse(operation, status).headers ?? {}).map((name) => name.toLowerCase());
  const missing = documentedHeaders.filter((name) => headers?.has(name) && !documented.includes(name));
  if (missing.length === 0) return;
  const { method, path } = operation;
  throw new Error(`The document does not contain the headers ${missing.join(', ')} of ${method} ${path} ${status}`);
}
