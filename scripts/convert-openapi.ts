/**
 * Converts the OpenAPI document from version 3.1 to 3.0.3, for generators and gateways that read only 3.0. A library
 * converts the schemas, and this file what surrounds them.
 */
import { convertSync } from '@openapi-contrib/json-schema-to-openapi-schema';

type Node = Record<string, unknown>;

/** Keys whose values are data, even if they look like schemas. */
const dataKeys: readonly string[] = ['example', 'examples', 'default', 'enum'];

/** An escaped character of a regular expression. */
const ESCAPE = /\\./gs;

/**
 * Returns the document as OpenAPI 3.0.3, with the same operations, names, texts and examples. `webhooks` becomes the
 * extension `x-webhooks`, and `propertyNames` becomes `x-propertyNames`, because 3.0 has neither. The given document is
 * not changed.
 */
export function convertToOpenApi30(document: object): Node {
  const { openapi: _, webhooks, components, info, ...rest } = document as Record<string, Node>;
  const { schemas = {}, ...otherComponents } = components ?? {};
  return {
    openapi: '3.0.3',
    info: { ...info, license: withUrl(info?.license) },
    ...convertPart(rest),
    components: { schemas: mapValues(schemas as Node, convertSchema), ...convertPart(otherComponents) },
    'x-webhooks': convertPart(webhooks ?? {}),
  };
}

/** 3.0 has no SPDX identifier. */
function withUrl(license: unknown): Node {
  const { identifier, ...rest } = license as Node;
  return { ...rest, url: `https://spdx.org/licenses/${identifier}.html` };
}

/** Converts the schemas of parameters, headers, requests and responses. */
function convertPart(part: Node): Node {
  return mapValues(part, (value, key) => {
    if (key === 'example' || key === 'examples') return value;
    if (key === 'schema') return convertSchema(value);
    if (Array.isArray(value)) return value.map((entry) => (isNode(entry) ? convertPart(entry) : entry));
    return isNode(value) ? convertPart(value) : value;
  });
}

function convertSchema(schema: unknown): Node {
  return { ...convertSync(prepareSchema(schema) as Node, { cloneSchema: true }) };
}

/**
 * Rewrites what the library leaves as it is: 3.0 ignores the keywords beside a `$ref`, so `allOf` contains the
 * reference, and it has no type null, so `nullable` stands beside the members of a union. Generators for 3.0 make no
 * member of a null in `enum`, or one that does not compile, and some escape the slashes of a pattern once more.
 */
function prepareSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(prepareSchema);
  if (!isNode(node)) return node;
  const { $ref, ...prepared } = mapValues(node, (value, key) => {
    if (key === 'enum') return (value as unknown[]).filter((each) => each !== null);
    if (key === 'pattern' && typeof value === 'string') return value.replaceAll(ESCAPE, unescapeSlash);
    if (dataKeys.includes(key)) return value;
    // The keys of `properties` are the names of fields, which may be `example` or `default`.
    return key === 'properties' ? mapValues(value as Node, prepareSchema) : prepareSchema(value);
  });
  if (typeof $ref === 'string') return Object.keys(prepared).length > 0 ? { ...prepared, allOf: [{ $ref }] } : { $ref };
  const { anyOf, ...rest } = prepared;
  if (!Array.isArray(anyOf)) return prepared;
  const members = anyOf.filter((member) => !isNode(member) || member.type !== 'null');
  if (members.length === anyOf.length) return prepared;
  return { ...rest, ...(members.length === 1 ? { allOf: members } : { anyOf: members }), nullable: true };
}

function unescapeSlash(escaped: string): string {
  return escaped === '\\/' ? '/' : escaped;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(node: Node, change: (value: unknown, key: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]));
}
