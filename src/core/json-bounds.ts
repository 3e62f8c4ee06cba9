/**
 * Bounds on the structure of JSON. They are checked before the JSON is parsed, because its cost depends less on its
 * length than on how many values it has: `{},{},...` takes up twenty times its length, and many objects with different
 * keys take far longer to parse than one long string.
 */
import { type AppError, badField } from './errors.ts';

/** The maximum depth of nested arrays and objects. */
const MAX_DEPTH = 100;
/** A body may have one value for every 32 bytes that the limit of its operation allows. */
const BYTES_PER_VALUE = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Returns the 400 for JSON that has too many values for a body of at most `maxBytes`, or is nested too deeply; null for
 * any other. Commas and opening brackets count as values. Takes linear time and allocates nothing. Malformed JSON is
 * not detected.
 */
export function findUnboundedJson(json: Uint8Array, maxBytes: number): AppError | null {
  const maxValues = Math.ceil(maxBytes / BYTES_PER_VALUE);
  let values = 0;
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    switch (json[index]) {
      case QUOTE:
        index = findEndOfString(json, index + 1);
        break;
      case COMMA:
        values += 1;
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        values += 1;
        depth += 1;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth -= 1;
        break;
    }
    if (values > maxValues) return badField('', `Request body must have at most ${maxValues} values`);
    if (depth > MAX_DEPTH) return badField('', `Request body must not be nested more than ${MAX_DEPTH} levels deep`);
  }
  return null;
}

/** Returns the index of the quote that ends the string whose first character is at `start`. */
function findEndOfString(json: Uint8Array, start: number): number {
  let index = start;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}
