/** Lengths of time in minutes, in words. */

const HOUR = 60;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const units = [
  [WEEK, 'week'],
  [DAY, 'day'],
  [HOUR, 'hour'],
] as const;

/** `45 minutes`, `1 hour`, `2 days`: in the largest unit of which it is a multiple. */
export function formatMinutes(minutes: number): string {
  const [size, unit] = units.find(([length]) => minutes > 0 && minutes % length === 0) ?? [1, 'minute'];
  const count = minutes / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The options of a select: the usual lengths, and the one that is set. */
export function toOptions(usual: readonly number[], current: number | null): { value: string; label: string }[] {
  const lengths = current === null || current === 0 ? usual : [...new Set([...usual, current])];
  return lengths.toSorted((a, b) => a - b).map((value) => ({ value: String(value), label: formatMinutes(value) }));
}
