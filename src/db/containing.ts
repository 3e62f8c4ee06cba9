/** The pattern of LIKE and ILIKE for what contains a text; wildcard characters in it stand for themselves. */
export function containing(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}
