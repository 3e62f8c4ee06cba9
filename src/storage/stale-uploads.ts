import { inPages } from './in-pages.ts';
import type { FindInProgress } from './object-store.ts';

/** Yields the data that belongs to no upload in progress. Looks up one page at a time, so that memory is bounded. */
export async function* withoutUploads<Data extends { name: string }>(
  stale: AsyncIterable<Data>,
  findInProgress: FindInProgress = async () => new Set(),
): AsyncGenerator<Data> {
  for await (const page of inPages(stale)) {
    const inProgress = await findInProgress(page.map(({ name }) => name));
    yield* page.filter(({ name }) => !inProgress.has(name));
  }
}
