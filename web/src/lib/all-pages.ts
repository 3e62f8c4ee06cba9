/**
 * Reads a list to its end. Without `limit`, the service returns up to 1,000 entries at once, so that most lists are read
 * with one call.
 */
export async function allPagesOf<Page extends { next_cursor?: string | undefined }, Row>(
  read: (cursor: string | undefined) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    rows.push(...rowsOf(page));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return rows;
}
