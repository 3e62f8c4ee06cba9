/** The parameters that select a page of a list, and the page. */
import { z } from 'zod';
import { type Cursor, decodeCursor } from './cursor.ts';
import { integerBetween, optional } from './validation.ts';

/** The maximum number of entries that a list returns without `limit`. */
export const MAX_LISTED = 1_000;

/** The part of a list that a call requests. `offset` and `cursor` cannot be combined. */
export type PageRequest = {
  limit?: number | undefined;
  offset?: number | undefined;
  cursor?: Cursor | undefined;
};

/** A page of a list. */
export type Page<Entry> = {
  entries: Entry[];
  /** The cursor of the next page; absent if there are no more entries. */
  next_cursor?: string | undefined;
};

/** Null means no cursor, because React Query sends null for the first page. */
export const cursor = optional(
  z
    .string()
    .describe(
      'The `next_cursor` of the previous page, with the same filters and order. Entries that are added or deleted ' +
        'between two requests do not shift the pages. Cannot be combined with `offset`',
    )
    .transform((text, context): Cursor => {
      const decoded = decodeCursor(text);
      if (decoded !== null) return decoded;
      context.addIssue({ code: 'custom', message: 'cursor must be the next_cursor of an earlier page' });
      return z.NEVER;
    }),
);

/** Without `limit`, `offset` or `cursor`, a list returns all entries, up to `MAX_LISTED`. */
export const ListPageInput = z.object({
  limit: integerBetween(1, 100).describe(`Maximum number of entries; default: all, up to ${MAX_LISTED}`).optional(),
  offset: integerBetween(0, 2_147_483_647).describe('How many entries to skip; default: 0').optional(),
  cursor,
});
export type ListPageInput = z.infer<typeof ListPageInput>;

/** The field `next_cursor` of responses that contain a page of a list. JSON omits it after the last page. */
export const nextCursor = z
  .string()
  .describe('Send it as `cursor` to get the next page. Absent if there are no more entries')
  .optional();

/** The response of a list whose entries are in the field `name`. */
export function pageAs<const Name extends string, Entry>(
  name: Name,
  { entries, next_cursor }: Page<Entry>,
): Record<Name, Entry[]> & Pick<Page<Entry>, 'next_cursor'> {
  // `as`: a computed key has the type string.
  return { [name]: entries, next_cursor } as Record<Name, Entry[]> & Pick<Page<Entry>, 'next_cursor'>;
}
