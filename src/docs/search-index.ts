/** The search index: one entry for each section of the guides, and for each operation of the API. */
import type { Guide } from './guides.ts';
import { searchTerms } from './search-terms.ts';

/** `terms` are other words for the subject of a guide. The first entry of the guide has them, for all its sections. */
export type SearchEntry = { url: string; page: string; heading: string; text: string; terms?: string };

type Operation = { tags?: string[]; summary?: string; description?: string };

/** The parts of an OpenAPI document that the search needs. */
export type ApiDocument = { paths?: Record<string, object> };

export function createSearchIndex(guides: readonly Guide[], document: ApiDocument): SearchEntry[] {
  return [...indexGuides(guides), ...indexOperations(document)];
}

function indexGuides(guides: readonly Guide[]): SearchEntry[] {
  return guides.flatMap(({ file, url, title, sections }) =>
    sections.map(({ id, heading, text }) => {
      if (id !== '') return { url: `${url}#${id}`, page: title, heading, text };
      const terms = searchTerms[file]?.join(', ');
      return { url, page: title, heading, text, ...(terms !== undefined && { terms }) };
    }),
  );
}

function indexOperations({ paths = {} }: ApiDocument): SearchEntry[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([name, operation]: [string, Operation]) => {
      const method = name.toUpperCase();
      return {
        url: `/docs#tag/${toAnchor(operation.tags?.[0] ?? '')}/${method}${path}`,
        page: 'API',
        heading: `${method} ${path}`,
        text: [operation.summary, operation.description].filter(Boolean).join('. '),
      };
    }),
  );
}

/** Returns the anchor that the API reference gives a tag. */
function toAnchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
