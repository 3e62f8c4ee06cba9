/** The client of the service, and its use with React Query. */
import { type AppRouter, createClient, isLynxroomError } from '@lynxroom/client';
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';

export const queryClient = new QueryClient({
  // The service would refuse the same request again, so only failed connections are retried.
  defaultOptions: { queries: { retry: (failures, error) => failures < 3 && !isLynxroomError(error) } },
});

export const client = createClient({
  url: import.meta.env.VITE_LYNXROOM_URL ?? location.origin,
  // Sends the session cookie to another origin too.
  credentials: 'include',
  // A button that is pressed again after a lost answer does nothing twice.
  retry: { acrossCalls: true },
  onUnauthorized: () => queryClient.setQueryData(account.queryKey, null),
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient });

/** The signed-in user, or null. The session itself is in a cookie that scripts cannot read. */
export const account = queryOptions({ queryKey: ['account'], queryFn: readAccount });

async function readAccount() {
  try {
    return (await client.auth.me.query()).user;
  } catch (error) {
    if (isLynxroomError(error) && error.code === 'UNAUTHORIZED') return null;
    throw error;
  }
}
