/** What the first page reads. The page appears once everything is there, so that nothing moves. */
import { queryClient, trpc } from '../../../../lib/client.ts';
import { joinableOptions } from '../../../../lib/joinable.ts';
import { isAtLeast } from '../../../../lib/roles.ts';
import { workspaceOptions } from '../../../../lib/workspace.ts';

const MAX_ROOMS = 5;
const MAX_BOOKINGS = 5;
const MAX_RECORDINGS = 4;
/** The newest meetings are looked at. Those that go on longer than as many others are not found. */
const LOOKED_AT = 20;
/** The others appear as these are admitted or refused. */
const MAX_WAITING = 10;

export const roomsOptions = (id: number) =>
  trpc.rooms.listInWorkspace.queryOptions({ id, booked: 0, limit: MAX_ROOMS });
export const meetingsOptions = (id: number) => trpc.meetings.list.queryOptions({ id, limit: LOOKED_AT });
export const bookingsOptions = (id: number) =>
  trpc.bookings.list.queryOptions({ id, status: 'confirmed', limit: MAX_BOOKINGS });
export const recordingsOptions = (id: number) =>
  trpc.recordings.listInWorkspace.queryOptions({ id, limit: MAX_RECORDINGS });

export const waitingOptions = (id: number) => trpc.participants.listWaiting.queryOptions({ id, limit: MAX_WAITING });

export const usageOptions = (id: number) => trpc.workspaces.usage.queryOptions({ id });
export const pagesOptions = (id: number) => trpc.bookingPages.list.queryOptions({ id, limit: 1 });
export const keysOptions = (id: number) => trpc.apiKeys.list.queryOptions({ id, limit: 100 });

/** In one request: calls made at the same time are batched. What cannot be read is shown as an error in its place. */
export async function loadHome(id: number): Promise<void> {
  const { workspace } = await queryClient.ensureQueryData(workspaceOptions(id));
  await Promise.all([
    queryClient.prefetchQuery(roomsOptions(id)),
    queryClient.prefetchQuery(meetingsOptions(id)),
    queryClient.prefetchQuery(bookingsOptions(id)),
    queryClient.prefetchQuery(recordingsOptions(id)),
    queryClient.prefetchQuery(waitingOptions(id)),
    // Where somebody is whom nobody has invited.
    ...(workspace.is_personal === 1 ? [queryClient.prefetchQuery(joinableOptions)] : []),
    ...(isAtLeast(workspace.role, 'admin')
      ? [
          queryClient.prefetchQuery(usageOptions(id)),
          queryClient.prefetchQuery(pagesOptions(id)),
          queryClient.prefetchQuery(keysOptions(id)),
        ]
      : []),
  ]);
}
