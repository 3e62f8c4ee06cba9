/** The contact events that a bar counts. */
import { queryClient, trpc } from '../../../../lib/client.ts';
import type { Activity } from './activity-search.ts';

const PAGE_SIZE = 50;

export function eventsOptions(id: number, { room, page, ...filters }: Activity) {
  return trpc.contacts.listEvents.infiniteQueryOptions(
    {
      id,
      limit: PAGE_SIZE,
      ...filters,
      ...(room !== undefined && { room_id: room }),
      ...(page !== undefined && { booking_page_id: page }),
    },
    { getNextPageParam: (answer) => answer.next_cursor },
  );
}

/** Loads the page before it is shown, so that nothing moves. */
export async function loadEvents(id: number, search: Activity): Promise<void> {
  await queryClient.prefetchInfiniteQuery(eventsOptions(id, search));
}
