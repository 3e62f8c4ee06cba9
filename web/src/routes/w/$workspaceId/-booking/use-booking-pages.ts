import { useQuery } from '@tanstack/react-query';
import { allPagesOf } from '../../../../lib/all-pages.ts';
import { client, trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

/** All booking pages of the workspace. The service lists them a few at a time, because they can be large. */
export function useBookingPages() {
  const id = useWorkspaceId();
  return useQuery({
    queryKey: [...trpc.bookingPages.list.queryKey({ id }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.bookingPages.list.query({ id, cursor }, { signal }),
        (page) => page.bookingPages,
      ),
  });
}
