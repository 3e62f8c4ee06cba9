/** Reads a list to its end, page by page. */

/** The entries of a page: it has one array, besides `next_cursor` and totals. */
type EntryOf<Page> = {
  [Field in keyof Page]-?: Page[Field] extends readonly (infer Entry)[] ? Entry : never;
}[keyof Page];

type Paged<Input, Page> = {
  query(input: Input, options?: { signal?: AbortSignal }): Promise<Page>;
};

type WithCursor = { cursor?: string | null | undefined };

export type Pagination = {
  /**
   * The entries of a list: `for await (const item of client.paginate(client.library.list, { id }))`. A page of `limit`
   * is read once it is needed. Throws LynxroomError, as the list does, and the signal's reason.
   */
  paginate<Input extends WithCursor, Page extends { next_cursor?: string | undefined }>(
    list: Paged<Input, Page>,
    input: Omit<Input, 'cursor' | 'offset'>,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<EntryOf<Page>, void, undefined>;
};

export const paginate: Pagination['paginate'] = async function* paginate<
  Input extends WithCursor,
  Page extends { next_cursor?: string | undefined },
>(list: Paged<Input, Page>, input: Omit<Input, 'cursor' | 'offset'>, options: { signal?: AbortSignal } = {}) {
  let cursor: string | undefined;
  do {
    // `as`: the rest of an input and a cursor are an input.
    const page: Page = await list.query({ ...input, cursor } as Input, options);
    // `as`: the only array of a page has its entries.
    for (const entry of (Object.values(page).find(Array.isArray) ?? []) as EntryOf<Page>[]) {
      options.signal?.throwIfAborted();
      yield entry;
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
};
