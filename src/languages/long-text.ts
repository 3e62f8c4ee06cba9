/** Joins the parts of a long text. Unlike `+`, it keeps the placeholders in the type. */
export function longText<const First extends string, const Second extends string>(
  first: First,
  second: Second,
): `${First}${Second}` {
  return `${first}${second}`;
}
