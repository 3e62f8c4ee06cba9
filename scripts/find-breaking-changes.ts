/**
 * Compares two OpenAPI documents of this service, and finds what breaks a client of the first: a removed operation, a
 * request that accepts less, or a response that promises less or has values that a client does not expect.
 */

type Json = { [key: string]: Json | undefined } & {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  required?: string[];
  anyOf?: Json[];
  oneOf?: Json[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
};
type Parameter = { name: string; in: string; required?: boolean; schema: Json };
type Holder = { $ref?: string; required?: boolean; content?: Record<string, { schema: Json }> };
type Operation = {
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: Holder;
  responses: Record<string, Holder>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Json>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, Holder>;
  };
};

/** `operation` is the method and path; `text` says what breaks. */
export type BreakingChange = { operation: string; text: string };

/** Which way a schema is used. A request may accept more, and a response may promise more, but not less. */
type Direction = 'request' | 'response';
type Report = (text: string) => void;

export function findBreakingChanges(before: Document, after: Document): BreakingChange[] {
  const changes: BreakingChange[] = [];
  for (const [path, methods] of Object.entries(before.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const report: Report = (text) => changes.push({ operation: name, text });
      const current = after.paths[path]?.[method];
      if (current) compareOperations(operation, current, { before, after, report });
      else report('was removed');
    }
  return changes;
}

type Comparison = { before: Document; after: Document; report: Report };

function compareOperations(before: Operation, after: Operation, comparison: Comparison): void {
  const { report } = comparison;
  const known = parametersOf(before, comparison.before);
  const current = parametersOf(after, comparison.after);
  for (const [key, parameter] of known) {
    const now = current.get(key);
    if (now) compareSchemas(parameter.schema, now.schema, key, 'request', comparison);
    else report(`${key} was removed`);
  }
  for (const [key, parameter] of current)
    if (parameter.required && !known.get(key)?.required) report(`${key} became required`);
  if (after.requestBody?.required && !before.requestBody?.required) report('the body became required');
  compareContents(before.requestBody, after.requestBody, 'body', 'request', comparison);
  for (const [status, response] of Object.entries(before.responses)) {
    const now = after.responses[status];
    if (now) compareContents(response, now, status, 'response', comparison);
    else if (Number(status) < 400) report(`the response ${status} was removed`);
  }
}

/** The parameters of an operation by their place and name. */
function parametersOf({ parameters = [] }: Operation, { components }: Document): Map<string, Parameter> {
  const resolved = parameters.flatMap((parameter) =>
    '$ref' in parameter ? (components.parameters?.[nameOf(parameter.$ref)] ?? []) : parameter,
  );
  return new Map(resolved.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]));
}

function compareContents(
  before: Holder | undefined,
  after: Holder | undefined,
  place: string,
  direction: Direction,
  comparison: Comparison,
): void {
  const contents = resolveHolder(before, comparison.before)?.content ?? {};
  const current = resolveHolder(after, comparison.after)?.content ?? {};
  for (const [type, { schema }] of Object.entries(contents)) {
    const now = current[type];
    if (now) compareSchemas(schema, now.schema, place, direction, comparison);
    else comparison.report(`${place} is no longer ${type}`);
  }
}

function resolveHolder(holder: Holder | undefined, { components }: Document): Holder | undefined {
  return holder?.$ref === undefined ? holder : components.responses?.[nameOf(holder.$ref)];
}

function compareSchemas(
  before: Json,
  after: Json,
  place: string,
  direction: Direction,
  comparison: Comparison,
  seen: readonly string[] = [],
): void {
  const { report } = comparison;
  // A schema that refers to itself is compared once.
  if (before.$ref !== undefined && seen.includes(before.$ref)) return;
  const path = before.$ref === undefined ? seen : [...seen, before.$ref];
  const one = resolveSchema(before, comparison.before);
  const other = resolveSchema(after, comparison.after);
  // What must still be accepted, and what must not appear in addition.
  const [narrow, wide] = direction === 'request' ? [other, one] : [one, other];
  const lost = typesOf(wide).filter((type) => !typesOf(narrow).includes(type));
  if (typesOf(narrow).length > 0 && lost.length > 0) {
    const verb = direction === 'request' ? 'no longer accepts' : 'can now have';
    report(`${place} ${verb} the type ${lost.join(', ')}`);
  }
  compareValues(narrow, wide, place, direction, report);
  if (direction === 'request') compareBounds(one, other, place, report);
  for (const [name, schema] of Object.entries(one.properties ?? {})) {
    const now = other.properties?.[name];
    const field = `${place}.${name}`;
    if (now) compareSchemas(schema as Json, now, field, direction, comparison, path);
    else report(`${field} was removed`);
    const wasRequired = one.required?.includes(name) ?? false;
    if (direction === 'response' && now && wasRequired && !other.required?.includes(name))
      report(`${field} is no longer always present`);
  }
  if (direction === 'request')
    for (const name of other.required ?? [])
      if (!one.required?.includes(name)) report(`${place}.${name} became required`);
  if (one.items && other.items) compareSchemas(one.items, other.items, `${place}[]`, direction, comparison, path);
  compareUnions(one, other, place, direction, comparison);
}

/** New values of a response surprise clients that list them all. Values that a request loses are refused. */
function compareValues(narrow: Json, wide: Json, place: string, direction: Direction, report: Report): void {
  const allowed = narrow.enum ?? ('const' in narrow ? [narrow.const] : null);
  if (allowed === null) return;
  const values = wide.enum ?? ('const' in wide ? [wide.const] : null);
  const lost = values?.filter((value) => !allowed.includes(value));
  if (lost?.length === 0) return;
  const verb = direction === 'request' ? 'no longer accepts' : 'can now be';
  report(`${place} ${verb} ${lost ? lost.map((value) => JSON.stringify(value)).join(', ') : 'other values'}`);
}

function compareBounds(before: Json, after: Json, place: string, report: Report): void {
  for (const key of ['maximum', 'maxLength', 'maxItems'] as const) {
    const [was, is] = [Number(before[key] ?? Number.POSITIVE_INFINITY), Number(after[key] ?? Number.POSITIVE_INFINITY)];
    if (is < was) report(`${place} has a lower ${key}: ${is}`);
  }
  for (const key of ['minimum', 'minLength', 'minItems'] as const) {
    const [was, is] = [Number(before[key] ?? Number.NEGATIVE_INFINITY), Number(after[key] ?? Number.NEGATIVE_INFINITY)];
    if (is > was) report(`${place} has a higher ${key}: ${is}`);
  }
  if (after.pattern !== undefined && after.pattern !== before.pattern) report(`${place} has another pattern`);
}

/** Members of a union are compared by position, and by name: a request may not lose one, a response not gain one. */
function compareUnions(before: Json, after: Json, place: string, direction: Direction, comparison: Comparison): void {
  const [one, other] = [membersOf(before), membersOf(after)];
  if (one.length === 0 && other.length === 0) return;
  const [narrow, wide] = direction === 'request' ? [other, one] : [one, other];
  const lost = wide.filter((member) => !narrow.includes(member));
  const verb = direction === 'request' ? 'no longer accepts' : 'can now be';
  if (lost.length > 0) comparison.report(`${place} ${verb} ${lost.join(', ')}`);
}

function membersOf({ anyOf = [], oneOf = [] }: Json): string[] {
  return [...anyOf, ...oneOf].map((member) => (member.$ref ? nameOf(member.$ref) : JSON.stringify(member)));
}

/** The types of a schema. A number accepts integers, so it counts as both. */
function typesOf({ type }: Json): string[] {
  const types = type === undefined ? [] : [type].flat();
  return types.includes('number') ? [...types, 'integer'] : types;
}

function resolveSchema(schema: Json, { components }: Document): Json {
  return schema.$ref === undefined ? schema : (components.schemas[nameOf(schema.$ref)] ?? {});
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}
