/**
 * Narrows a text column to the values that its check constraint allows. `name` says what the column holds. Throws for
 * any other text, because then the constraint and `values` do not match.
 */
export function toEnum<Value extends string>(values: readonly Value[], text: string, name: string): Value {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`Unknown ${name} in the database: ${text}`);
  return value;
}
