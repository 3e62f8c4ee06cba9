/** The search index of the guides: one entry for each section. */
import type { Guide } from './guides.ts';

export type SearchEntry = { url: string; page: string; heading: string; text: string };

export function createSearchIndex(guides: readonly Guide[]): SearchEntry[] {
  return guides.flatMap(({ url, title, sections }) =>
    sections.map(({ id, heading, text }) => ({ url: id === '' ? url : `${url}#${id}`, page: title, heading, text })),
  );
}
