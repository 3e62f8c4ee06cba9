/** What the page of the branding reads. */
import { queryClient, trpc } from '../../../../lib/client.ts';

export function brandingOptions(id: number) {
  return trpc.branding.read.queryOptions({ id });
}

/** Loads the page before it is shown, so that nothing moves. */
export async function loadBranding(id: number): Promise<void> {
  await queryClient.prefetchQuery(brandingOptions(id));
}
