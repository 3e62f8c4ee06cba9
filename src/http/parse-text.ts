/** Converts parameters of the path and the query string from text to the types of their fields. */
import { INTEGER } from '../core/requested-id.ts';
import type { ValueType } from '../trpc/operations.ts';

const INTEGER_OR_DECIMAL = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * Returns the query parameters that `fields` names, converted to the types of these fields. Empty parameters count as
 * absent, because HTML forms send them.
 */
export function readQuery(query: unknown, fields: ReadonlyMap<string, ValueType>): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  if (!isRecord(query)) return input;
  for (const [name, type] of fields)
    if (Object.hasOwn(query, name) && query[name] !== '') input[name] = parseText(query[name], type);
  return input;
}

/**
 * Converts a path or query parameter to the type of its field. Text that does not match the type is returned unchanged,
 * and validation rejects it.
 */
export function parseText(text: unknown, type: ValueType): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'number' && INTEGER_OR_DECIMAL.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
