/** Holds every answer against the OpenAPI document: documented status, and exactly the documented fields. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { document as openApiDocument } from './api.ts';

type Operation = { path: string; pattern: RegExp; method: string; responses: Record<string, Response> };
type Response = { $ref?: string; content?: Record<string, { schema: object }> };
type Document = {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response>; schemas: Record<string, object> };
};

const document = openApiDocument as unknown as Document;

/** The document leaves answers open to grow; a test wants to know of every field that it does not list. */
function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
  return closed.type === 'object' && closed.properties ? { ...closed, additionalProperties: false } : closed;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/);
ajv.addSchema({ $id: 'doc', components: { schemas: close(document.components.schemas) } });

const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    path,
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
    responses,
  })),
);

/** Literal paths win over parameters, as in the router. */
function findOperation(method: string, pathname: string): Operation | undefined {
  return operations
    .filter((operation) => operation.method === method && operation.pattern.test(pathname))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(operation: Operation, status: number): ValidateFunction {
  const name = `${operation.method} ${operation.path} ${status}`;
  const known = validators.get(name);
  if (known) return known;
  const listed = operation.responses[status];
  if (!listed) throw new Error(`The document does not list ${name}`);
  const response = listed.$ref ? document.components.responses[listed.$ref.split('/').at(-1) ?? ''] : listed;
  const { content = {} } = response ?? {};
  const schema = (content['application/json'] ?? content['text/csv'])?.schema;
  if (!schema) throw new Error(`The document has no schema for ${name}`);
  const text = JSON.stringify(close(schema)).replaceAll('"#/components', '"doc#/components');
  const validate = ajv.compile(JSON.parse(text));
  validators.set(name, validate);
  return validate;
}

/** Which operations and statuses the tests have seen, as `GET /api/workspaces 200`. */
export const seenAnswers = new Set<string>();

/** Throws when the answer is not as documented. Paths that the document does not list are not its matter. */
export function checkAnswer(method: string, pathname: string, answer: { status: number; body: unknown }): void {
  const operation = findOperation(method, pathname);
  if (!operation || answer.status === 405) return;
  const validate = validatorOf(operation, answer.status);
  seenAnswers.add(`${method} ${operation.path} ${answer.status}`);
  if (validate(answer.body)) return;
  const name = `${method} ${operation.path} ${answer.status}`;
  throw new Error(`${name} is not as documented: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(answer.body)}`);
}
