/** Who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { type ParsedLocation, redirect } from '@tanstack/react-router';
import { type Account, account, client, queryClient } from './client.ts';

/** Whether the user has ended the session. */
let isEnded = false;

/** For `beforeLoad` of a route that needs a user. Others are sent to the sign-in form, and then back. */
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
  isEnded = false;
  queryClient.clear();
  queryClient.setQueryData(account.queryKey, user);
}

/** Ends the session, and forgets what was read with it. */
export function signOut(): Promise<void> {
  return endSession(() => client.auth.logout.mutate());
}

/** Deletes the account, which ends the session. Needs a recent sign-in. */
export function deleteAccount(): Promise<void> {
  return endSession(() => client.auth.deleteMe.mutate());
}

async function endSession(call: () => Promise<unknown>): Promise<void> {
  isEnded = true;
  try {
    await call();
  } catch (error) {
    isEnded = false;
    throw error;
  }
  queryClient.setQueryData(account.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== account.queryKey[0] });
}

/** Whether the user has ended the session, so that nobody has to be told that it has ended. */
export function isEndedByUser(): boolean {
  return isEnded;
}

/** Returns `path` if it is a page of the console, so that no link sends a browser elsewhere after the sign-in. */
export function toSafePath(path: string | undefined): string | null {
  if (path === undefined || !/^\/(?![/\\])/.test(path)) return null;
  const url = new URL(path, location.origin);
  return url.origin === location.origin && url.pathname !== '/' ? `${url.pathname}${url.search}${url.hash}` : null;
}

/** Returns the token of the invite link to which the user gets after the sign-in, or null. */
export function invitationOf(path: string | undefined): string | null {
  return /^\/join\/([^/?#]+)/.exec(toSafePath(path) ?? '')?.[1] ?? null;
}

/** Whether the user gets to an invite link after the sign-in. */
export function isInvitation(path: string | undefined): boolean {
  return invitationOf(path) !== null;
}
