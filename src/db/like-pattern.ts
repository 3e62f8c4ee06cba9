/** Returns the LIKE pattern for strings that contain `search`. Wildcards in `search` match themselves. */
export function toLikePattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}
