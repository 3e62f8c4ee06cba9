import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import type { BookingPage } from './hours.ts';

/** All booking pages of the workspace. The service lists them a few at a time, because they can be large. */
export function useBookingPages() {
  return useQuery(allPagesOf(useWorkspaceId()));
}

function allPagesOf(id: number) {
  return queryOptions({
    queryKey: [...trpc.bookingPages.list.queryKey({ id }), 'all'],
    async queryFn(): Promise<BookingPage[]> {
      const pages: BookingPage[] = [];
      let cursor: string | undefined;
      do {
        const { bookingPages, next_cursor } = await client.bookingPages.list.query({ id, cursor });
        pages.push(...bookingPages);
        cursor = next_cursor;
      } while (cursor !== undefined);
      return pages;
    },
  });
}
