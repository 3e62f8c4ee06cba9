/**
 * Narrows a text column to the values that its check constraint allows. `name` describes the column in the error.
 * Throws for any other value, because the constraint and `values` then disagree.
 */
export function toEnum<Value extends string>(values: readonly Value[], text: string, name: string): Value {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`Unknown ${name} in the database: ${text}`);
  return value;
}
