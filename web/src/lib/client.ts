/** The client of the service, its wrapper for React Query, and the signed-in user. */
import { type AppRouter, createClient, isLynxroomError, type Outputs } from '@lynxroom/client';
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { fetchWithClock } from './clock.ts';
import { embedToken, isEmbedded } from './embedded.ts';

const MAX_RETRIES = 2;
const FRESH_MS = 15_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: FRESH_MS },
    mutations: { retry: false },
  },
});

/**
 * The session is a cookie that scripts cannot read. A browser sends it automatically. A frame of another site does not:
 * nobody must act as themselves on a page that may hide what they click on.
 */
export const client = createClient({
  url: location.origin,
  fetch: fetchWithClock,
  token: () => embedToken.current,
  credentials: isEmbedded ? 'omit' : 'same-origin',
  // A button that is pressed again after a lost answer does nothing twice.
  retry: { acrossCalls: true },
  // A visitor who had no session must not be told that it has ended.
  onUnauthorized() {
    embedToken.onRefused?.();
    queryClient.setQueryData(account.queryKey, (user) => (user ? null : user));
  },
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient });

export type Account = Outputs['auth']['me']['user'];

/** The signed-in user, or null. */
export const account = queryOptions({ queryKey: ['account'], queryFn: readAccount, staleTime: 60_000 });

async function readAccount(): Promise<Account | null> {
  if (isEmbedded) return null;
  try {
    return (await client.auth.me.query()).user;
  } catch (error) {
    if (isLynxroomError(error) && error.code === 'UNAUTHORIZED') return null;
    throw error;
  }
}

/** Only what may work the second time is tried again: failed connections, and a service that was not available. */
function shouldRetry(failures: number, error: Error): boolean {
  return failures < MAX_RETRIES && (!isLynxroomError(error) || error.status === 503);
}
