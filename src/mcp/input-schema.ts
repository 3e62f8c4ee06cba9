/** The JSON Schema of the arguments of a tool, from the zod schemas of a procedure. */
import { z } from 'zod';

type Node = Record<string, unknown>;

/** An object schema without references, which every model and host can read. */
export type ToolSchema = { type: 'object'; properties: Node; required: string[]; additionalProperties: false };

/** Keys that say nothing to a model, or that repeat what another key says. */
const droppedKeys: readonly string[] = ['$schema', '$defs', 'id', 'example', 'additionalProperties'];

/**
 * Joins the schemas of a procedure, which are checked one after the other, into one. `omitted` are the fields that the
 * server fills in.
 */
export function createToolSchema(inputs: readonly z.ZodType[], omitted: readonly string[]): ToolSchema {
  const joined: ToolSchema = { type: 'object', properties: {}, required: [], additionalProperties: false };
  for (const input of inputs) {
    // `as`: the document is plain JSON.
    const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Node;
    const { properties, required } = simplify(schema, isNode(schema.$defs) ? schema.$defs : {});
    for (const [name, property] of Object.entries(isNode(properties) ? properties : {}))
      if (!omitted.includes(name)) joined.properties[name] = property;
    for (const name of Array.isArray(required) ? required : [])
      if (!omitted.includes(name) && !joined.required.includes(name)) joined.required.push(name);
  }
  return joined;
}

/** Replaces references by what they refer to. The schemas of inputs are not recursive. */
function simplify(node: Node, definitions: Node): Node {
  const { $ref, ...own } = node;
  const target = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined;
  const schema = withoutChoice(isNode(target) ? { ...target, ...own } : own);
  const entries = Object.entries(schema).filter(([key, value]) => !droppedKeys.includes(key) && !isDefaultBound(value));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      // The keys of `properties` are names of fields.
      if (key === 'properties' && isNode(value))
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, field]) => [name, visit(field, definitions)])),
        ];
      return [key, key === 'default' || key === 'enum' || key === 'const' ? value : visit(value, definitions)];
    }),
  );
}

/** A nullable type is shorter as `type: ['string', 'null']`. */
function withoutChoice(schema: Node): Node {
  const { anyOf, ...rest } = schema;
  const [choice, ...others] = Array.isArray(anyOf) ? anyOf.filter((one) => !isNode(one) || one.type !== 'null') : [];
  const isNullable = Array.isArray(anyOf) && anyOf.length === 2 && others.length === 0;
  if (!isNullable || !isNode(choice) || typeof choice.type !== 'string') return schema;
  const { enum: values, const: value, ...own } = choice;
  return {
    ...own,
    ...rest,
    type: [choice.type, 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(value !== undefined && { enum: [value, null] }),
  };
}

function visit(value: unknown, definitions: Node): unknown {
  if (Array.isArray(value)) return value.map((entry) => visit(entry, definitions));
  return isNode(value) ? simplify(value, definitions) : value;
}

/** zod writes these bounds for integers without bounds. */
function isDefaultBound(value: unknown): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
