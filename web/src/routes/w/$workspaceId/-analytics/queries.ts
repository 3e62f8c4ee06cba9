/** What the page of the analytics reads. */
import { queryClient, trpc } from '../../../../lib/client.ts';
import { viewerZone } from '../../../../lib/format.ts';
import type { Search } from './search.ts';

/** What a field of type `date` has while somebody types a year is an early one such as 0002. */
const FIRST_DAY = '1970-01-01';

export function lifetimeOptions(id: number) {
  return trpc.analytics.read.queryOptions({ workspaceId: id });
}

export function rangeOptions(id: number, search: Search) {
  return trpc.analytics.readRange.queryOptions({ id, ...toRange(search), compare: search.compare === true });
}

/** The range as the service takes it. Without days, it takes the last 30. */
export function toRange({ from, to, zone }: Search): { from?: string; to?: string; time_zone: string } {
  return {
    ...(from !== undefined && from >= FIRST_DAY && { from }),
    ...(to !== undefined && to >= FIRST_DAY && { to }),
    time_zone: zone ?? viewerZone,
  };
}

/** Loads the page before it is shown, so that nothing moves. */
export async function loadAnalytics(id: number, search: Search): Promise<void> {
  await Promise.all([
    queryClient.prefetchQuery(lifetimeOptions(id)),
    queryClient.prefetchQuery(rangeOptions(id, search)),
    import('./Charts.tsx'),
  ]);
}
