/** What the address of the page says: the days, their time zone, and whether they are compared. */
export type Search = { from?: string; to?: string; zone?: string; compare?: true };

export function parseSearch({ from, to, zone, compare }: Record<string, unknown>): Search {
  return {
    ...(typeof from === 'string' && { from }),
    ...(typeof to === 'string' && { to }),
    ...(typeof zone === 'string' && { zone }),
    ...(compare === true && { compare }),
  };
}
