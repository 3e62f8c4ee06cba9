/** The address of the audit log, which the first page of the console reads too: without the words of the page. */

/** The filters as the address has them. All are strings. Unknown values are left out. */
export type Search = {
  /** `user`, `key`, `system`, `user-<id>` or `key-<id>`. */
  who?: string;
  /** An action, or the kind of its target. */
  what?: string;
  /** The first and the last day, such as `2026-11-22`, in the viewer's zone. */
  from?: string;
  to?: string;
};

export function parseSearch(search: Record<string, unknown>): Search {
  const texts = (['who', 'what', 'from', 'to'] as const).map((name) => [name, search[name]] as const);
  return Object.fromEntries(texts.filter(([, value]) => typeof value === 'string' && value !== ''));
}
