/** What the lists of meetings read. */
import { queryClient, trpc } from '../../../../lib/client.ts';
import { bookingsOptions } from '../-home/queries.ts';

const PAGE_SIZE = 10;

/** The meetings in a room, or in all. */
export function meetingsOptions(id: number, roomName?: string) {
  return trpc.meetings.list.infiniteQueryOptions(
    { id, limit: PAGE_SIZE, ...(roomName !== undefined && { room: roomName }) },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** Loads the page of all meetings before it is shown, so that nothing moves. */
export async function loadMeetings(id: number): Promise<void> {
  await Promise.all([
    queryClient.prefetchQuery(bookingsOptions(id)),
    queryClient.prefetchInfiniteQuery(meetingsOptions(id)),
  ]);
}
