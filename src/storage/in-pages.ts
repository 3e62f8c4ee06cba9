/** How many objects are looked up in the database at a time. */
export const PAGE_SIZE = 500;

/** Yields the items in arrays of `PAGE_SIZE`. The last one is shorter, and may be empty. */
export async function* inPages<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let page: Item[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < PAGE_SIZE) continue;
    yield page;
    page = [];
  }
  yield page;
}
