/** What the page shows. The route reads it in one request before it shows the page. */
import { queryClient, trpc } from '../../../lib/client.ts';
import { providersOptions } from '../../../lib/providers.ts';

/** Users have at most 20 of each. */
const ALL = { limit: 20 };

export const accessOptions = trpc.access.list.queryOptions();
export const secondFactorOptions = trpc.secondFactor.read.queryOptions();
export const passkeysOptions = trpc.passkeys.list.queryOptions(ALL);
export const identitiesOptions = trpc.openid.identities.queryOptions(ALL);

/** Does not report failures: each section of the page shows its own error. */
export async function readSecurity(): Promise<void> {
  await Promise.all([
    queryClient.prefetchQuery(accessOptions),
    queryClient.prefetchQuery(secondFactorOptions),
    queryClient.prefetchQuery(passkeysOptions),
    queryClient.prefetchQuery(identitiesOptions),
    queryClient.prefetchQuery(providersOptions),
  ]);
}
