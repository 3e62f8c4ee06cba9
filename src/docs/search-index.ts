/** The search index: one entry for each section of the guides, and for each operation of the API. */
import type { Guide } from './guides.ts';

export type SearchEntry = { url: string; page: string; heading: string; text: string };

type Operation = { tags?: string[]; summary?: string; description?: string };

/** The parts of an OpenAPI document that the search needs. */
export type ApiDocument = { paths?: Record<string, object> };

export function createSearchIndex(guides: readonly Guide[], document: ApiDocument): SearchEntry[] {
  return [...indexGuides(guides), ...indexOperations(document)];
}

function indexGuides(guides: readonly Guide[]): SearchEntry[] {
  return guides.flatMap(({ url, title, sections }) =>
    sections.map(({ id, heading, text }) => ({ url: id === '' ? url : `${url}#${id}`, page: title, heading, text })),
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
