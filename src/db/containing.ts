/** The pattern of LIKE and ILIKE for what contains a text; wildcard characters in it stand for themselves. */
export const containing = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`;
