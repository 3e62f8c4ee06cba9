/** Operations that will be removed. docs/versioning.md has the rules. */

/** Dates are of the form 2027-01-15, at midnight UTC. */
export type Deprecation = {
  /** When it was deprecated. */
  since: string;
  /** When it may be removed, at least six months later. */
  sunset: string;
  /** What to use instead, as Markdown that completes "Use ...". */
  instead: string;
};

const MIN_MONTHS = 6;

/**
 * Returns the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594), and a link to the documentation. Throws if
 * callers would have less than six months.
 */
export function deprecationHeaders({ since, sunset }: Deprecation): Record<string, string> {
  const [start, end] = [new Date(since), new Date(sunset)];
  const earliest = new Date(start);
  earliest.setUTCMonth(earliest.getUTCMonth() + MIN_MONTHS);
  if (!(end >= earliest))
    throw new Error(`A deprecated operation must work for at least six months: ${since} to ${sunset} is less`);
  return {
    deprecation: `@${start.getTime() / 1000}`,
    sunset: end.toUTCString(),
    link: '</docs>; rel="deprecation"; type="text/html"',
  };
}
