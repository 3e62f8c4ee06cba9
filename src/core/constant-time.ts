import { timingSafeEqual } from 'node:crypto';

/** Whether two strings are equal. The time of the comparison depends on their lengths, but not on where they differ. */
export function equalInConstantTime(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
