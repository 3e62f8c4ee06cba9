import type { Branding } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { trpc } from '../../lib/client.ts';

/** The branding of a booking page: undefined while it is loaded, and null if the page is gone. */
export function useBranding(slug: string): Branding | null | undefined {
  const page = useQuery(trpc.bookings.times.queryOptions({ slug }));
  return page.isError ? null : page.data?.page.branding;
}
