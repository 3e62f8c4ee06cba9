/** Filters that several lists have. */
import type { z } from 'zod';
import { badField } from './errors.ts';
import { fromUnixSeconds } from './time.ts';
import { integerBetween, LAST_SECOND, searchText } from './validation.ts';

const seconds = integerBetween(0, LAST_SECOND);

/** The filters by the time when an entry was created: from `from`, inclusive, to `to`, exclusive. */
export const createdRange = {
  from: seconds.describe('Only what was created at this time or later, as a Unix timestamp in seconds').optional(),
  to: seconds
    .describe('Only what was created before this time, as a Unix timestamp in seconds. Must be after `from`')
    .optional(),
};
export type CreatedRange = z.infer<z.ZodObject<typeof createdRange>>;

/** A search for a part of the texts that `texts` names. */
export function searchIn(texts: string) {
  return searchText().describe(`Part of ${texts}; case-insensitive`).optional();
}

/** Returns the bounds of a range as times. Throws 400 for `to` if the range is empty. */
export function toCreatedBounds({ from, to }: CreatedRange): { createdFrom: Date; createdTo: Date } {
  if (from !== undefined && to !== undefined && to <= from) throw badField('to', '`to` must be after `from`');
  return { createdFrom: fromUnixSeconds(from ?? 0), createdTo: fromUnixSeconds(to ?? LAST_SECOND) };
}
