/** Who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { type ParsedLocation, redirect } from '@tanstack/react-router';
import { type Account, account, client, queryClient } from './client.ts';

/** For `beforeLoad` of a route that needs a user. Others are sent to the sign-in form, which leads back. */
export async function requireAccount({ location }: { location: ParsedLocation }): Promise<{ user: Account }> {
  const user = await queryClient.ensureQueryData(account);
  if (user === null) throw redirect({ to: '/', search: { next: location.href } });
  return { user };
}

/** The signed-in user, below a route with `requireAccount`. Null for the moment in which the session ends. */
export function useAccount(): Account | null {
  return useQuery({ ...account, enabled: false }).data ?? null;
}

/** Call it after signing in: nothing that another user has seen is shown again. */
export function startSession(user: Account): void {
  queryClient.clear();
  queryClient.setQueryData(account.queryKey, user);
}

let isSigningOut = false;

/** Ends the session, and forgets what was read with it. */
export async function signOut(): Promise<void> {
  isSigningOut = true;
  try {
    await client.auth.logout.mutate();
    queryClient.setQueryData(account.queryKey, null);
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'account' });
  } finally {
    isSigningOut = false;
  }
}

/** Whether the user ends the session, so that nobody has to be told that it has ended. */
export function isEndedByUser(): boolean {
  return isSigningOut;
}

/** Returns `path` if it is a page of the console, so that no link sends a browser elsewhere after the sign-in. */
export function toSafePath(path: string | undefined): string | null {
  if (path === undefined || !/^\/(?![/\\])/.test(path)) return null;
  const url = new URL(path, location.origin);
  return url.origin === location.origin && url.pathname !== '/' ? `${url.pathname}${url.search}${url.hash}` : null;
}
