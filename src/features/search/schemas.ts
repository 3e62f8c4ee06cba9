import { z } from 'zod';
import { id, integerBetween, searchText } from '../../core/validation.ts';
import { libraryTypes } from '../../media/file-type.ts';

export const SearchInput = z.object({
  search: searchText()
    .refine((text) => text !== '', { error: 'search is required' })
    .describe('Part of a name, case-insensitive'),
  limit: integerBetween(1, 20).default(5).describe('Maximum number of rooms and maximum number of items'),
});
export type SearchInput = z.infer<typeof SearchInput>;

const FoundRoom = z
  .object({ id, name: z.string(), display_name: z.string().nullable() })
  .meta({ id: 'FoundRoom', description: 'A room in the search results' });

const FoundItem = z
  .object({ id, name: z.string(), mime_type: z.enum(libraryTypes) })
  .meta({ id: 'FoundItem', description: 'A library item in the search results' });

export const SearchAnswer = z
  .object({ rooms: z.array(FoundRoom), items: z.array(FoundItem) })
  .meta({ id: 'SearchResponse' });
export type SearchAnswer = z.infer<typeof SearchAnswer>;
