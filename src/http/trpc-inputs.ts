/** The JSON with the inputs of the calls of a tRPC request. */
import { badField, badRequest } from '../core/errors.ts';
import { findUnboundedJson } from '../core/json-bounds.ts';
import type { RawInput } from '../trpc/raw-input.ts';

/** `maxBytes` is the maximum size of the JSON in a body. */
type Source = { json: Buffer; maxBytes: number; isBatch: boolean; calls: number };

/**
 * Returns a function that returns the input of a call by its index. The JSON is parsed when the first call reads its
 * input, because procedures check the caller before, and some have no input. Reading rejects with 400 for JSON that is
 * malformed, has too many values or is nested too deeply.
 */
export function readInputs(source: Source): (index: number) => RawInput {
  let unparsed: Source | null = source;
  let inputs: Promise<unknown[]> | undefined;
  const parse = async (): Promise<unknown[]> => {
    const found = unparsed;
    unparsed = null;
    return found === null ? [] : parseInputs(found);
  };
  return (index) => ({
    async read() {
      inputs ??= parse();
      return (await inputs)[index];
    },
    drop() {
      inputs?.then(
        (all) => {
          all[index] = undefined;
        },
        () => {},
      );
    },
  });
}

function parseInputs({ json, maxBytes, isBatch, calls }: Source): unknown[] {
  if (json.length === 0) return [];
  const refusal = findUnboundedJson(json, maxBytes);
  if (refusal !== null) throw refusal;
  const parsed = parseJson(json.toString());
  if (!isBatch) return [parsed];
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw badRequest('"input" needs to be an object when doing a batch call');
  // `as`: the keys of a JSON object are always strings.
  return Array.from({ length: calls }, (_, index) => (parsed as Record<number, unknown>)[index]);
}

function parseJson(text: string): unknown {
  try {
    // Removes the byte order mark that some clients send, because JSON.parse rejects it.
    return JSON.parse(text.startsWith('\u{feff}') ? text.slice(1) : text);
  } catch (cause) {
    throw badField('', 'Request body must be valid JSON', cause);
  }
}
