/**
 * Rewrites the schemas of the document for readers and code generators. Objects with a title become components, a
 * nullable schema has the form `type: [string, "null"]`, and no integer has the bounds of a JavaScript number.
 */

type Node = Record<string, unknown>;
type Document = { components: { schemas: Node } };
type AddComponent = (name: string, schema: Node) => void;

const REFERENCE = '#/components/schemas/';
const MAX_INT32 = 2 ** 31 - 1;
/** Keys whose values are data, even if they look like schemas. */
const dataKeys: readonly string[] = ['example', 'examples', 'default', 'enum', 'const'];

/** Returns the document with rewritten schemas, sorted by name. Throws if two schemas have the same name. */
export function rewriteSchemas<Given extends Document>(document: Given): Given {
  const schemas: Node = {};
  const add: AddComponent = (name, schema) => {
    if (name in schemas && !isSame(schemas[name], schema)) throw new Error(`Two schemas have the name ${name}`);
    schemas[name] = schema;
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) schemas[name] = rewrite(schema, add);
  // The copy has the fields of the original, whose type is not known here.
  const rewritten = rewrite({ ...document, components: { ...document.components, schemas: {} } }, add) as Given;
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  return mergeOutputs({ ...rewritten, components: { ...rewritten.components, schemas: Object.fromEntries(sorted) } });
}

function rewrite(node: unknown, add: AddComponent): unknown {
  if (Array.isArray(node)) return node.map((entry) => rewrite(entry, add));
  if (!isNode(node)) return node;
  const entries = Object.entries(node).map(([key, value]) => {
    if (dataKeys.includes(key)) return [key, value];
    // The keys of `properties` are the names of fields, which may be `example` or `title`.
    if (key === 'properties' && isNode(value)) return [key, mapValues(value, (field) => rewrite(field, add))];
    return [key, rewrite(value, add)];
  });
  const { title, ...schema } = withRealBounds(withNullType(Object.fromEntries(entries)));
  if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title };
  if (schema.type !== 'object') return { title, ...schema };
  add(title, schema);
  return { $ref: REFERENCE + title };
}

/** Replaces `anyOf: [schema, null]`. If `schema` is a reference, this form stays, because a reference has no type. */
function withNullType(node: Node): Node {
  const { anyOf, ...rest } = node;
  if (!Array.isArray(anyOf)) return node;
  const [schema, ...others] = anyOf.filter((one) => !isNull(one));
  if (others.length > 0 || anyOf.length === 1 || !isNode(schema)) return node;
  if (Array.isArray(schema.anyOf)) {
    const { type: _, propertyNames: _names, additionalProperties: _values, anyOf: choices, ...own } = schema;
    return { ...own, ...rest, anyOf: [...choices, { type: 'null' }] };
  }
  if ('$ref' in schema) return node;
  const { type, enum: values, const: value, ...own } = schema;
  return {
    ...(type !== undefined && { type: [...[type].flat(), 'null'] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(value !== undefined && { enum: [value, null] }),
    ...own,
    ...rest,
  };
}

/**
 * Removes null from a schema, for a parameter or a form field: their text has no null, and clients that are generated
 * from a nullable schema send the text "null".
 */
export function withoutNull<Schema extends object>({ anyOf, ...rest }: Schema & { anyOf?: unknown }): object {
  if (!Array.isArray(anyOf)) return rest;
  const members = anyOf.filter((one) => !isNull(one));
  return members.length === 1 ? { ...members[0], ...rest } : { anyOf: members, ...rest };
}

/** Removes the default bounds that zod adds to a schema without bounds, and marks the integers that need 64 bits. */
function withRealBounds(node: Node): Node {
  const { type, minimum, maximum, ...schema } = node;
  if (![type].flat().includes('integer') || 'enum' in schema) return node;
  const hasMaximum = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return {
    type,
    ...schema,
    ...((!hasMaximum || Number(maximum) > MAX_INT32) && { format: 'int64' }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(hasMaximum && { maximum }),
  };
}

/**
 * For a schema X that both requests and responses use, the generator adds `XOutput` for the responses. Replaces it with
 * X if both are the same.
 */
function mergeOutputs<Given extends Document>(document: Given): Given {
  const { schemas } = document.components;
  const outputs = Object.keys(schemas).filter((name) => name.endsWith('Output'));
  const copies = outputs.filter((name) => isSame(schemas[nameOfInput(name)], schemas[name]));
  let text = JSON.stringify(document);
  for (const copy of copies) text = text.replaceAll(`"${REFERENCE}${copy}"`, `"${REFERENCE}${nameOfInput(copy)}"`);
  const merged: Given = JSON.parse(text);
  for (const copy of copies) delete merged.components.schemas[copy];
  return merged;
}

function nameOfInput(output: string): string {
  return output.replace(/Output$/, '');
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isNull(schema: unknown): boolean {
  return isNode(schema) && schema.type === 'null';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(node: Node, change: (value: unknown) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value)]));
}
