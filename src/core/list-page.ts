/** The parameters that select a page of a list. */
import { z } from 'zod';
import { integerBetween } from './validation.ts';

/** The maximum number of entries that a list returns without `limit`. */
export const MAX_LISTED = 1_000;

/** Without `limit` and `offset` a list returns all entries, up to `MAX_LISTED`. */
export const ListPageInput = z.object({
  limit: integerBetween(1, 100).describe(`Maximum number of entries; default: all, up to ${MAX_LISTED}`).optional(),
  offset: integerBetween(0, 2_147_483_647).describe('How many entries to skip; default: 0').optional(),
});
export type ListPageInput = z.infer<typeof ListPageInput>;
