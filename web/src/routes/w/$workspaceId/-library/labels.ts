import { queryOptions } from '@tanstack/react-query';
import { allPagesOf } from '../../../../lib/all-pages.ts';
import { client, trpc } from '../../../../lib/client.ts';

/** All labels of the workspace. */
export function labelsOptions(id: number) {
  return queryOptions({
    queryKey: [...trpc.labels.list.queryKey({ id }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.labels.list.query({ id, cursor }, { signal }),
        (page) => page.labels,
      ),
  });
}
