/** The token with which a frame shows the library or the webhooks. It is never in a cookie, a query or a storage. */
import { useSyncExternalStore } from 'react';
import { queryClient, trpc } from './client.ts';
import { embedToken } from './embedded.ts';
import { onWish, tellHostPage } from './host-page.ts';

/** `ended`: the service refuses the token, which has expired or was revoked. */
export type TokenState = 'missing' | 'given' | 'ended';

export const tokenTexts: Readonly<Record<Exclude<TokenState, 'given'>, string>> = {
  missing: 'The page around this frame has not given it access yet.',
  ended: 'The access of this page has ended. Reload the page to go on.',
};

let state: TokenState = 'missing';
const listeners = new Set<() => void>();

/**
 * Takes the token out of the address, so that neither the history nor a copied address has it, and listens to the page
 * around the frame, which may give another. Returns a function that ends it.
 */
export function followToken(): () => void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    history.replaceState(history.state, '', location.pathname + location.search);
    take(token);
  }
  embedToken.onRefused = () => {
    if (state !== 'given') return;
    set('ended');
    tellHostPage({ event: 'error', code: 'UNAUTHORIZED', message: tokenTexts.ended });
  };
  return onWish((wish) => {
    if (wish.command === 'token') take(wish.token);
  });
}

export function useTokenState(): TokenState {
  return useSyncExternalStore(subscribe, () => state);
}

function take(token: string): void {
  if (token === embedToken.current) return;
  embedToken.current = token;
  // What an earlier token was refused is no answer to this one, which may also allow more or less.
  if (state === 'given') void queryClient.invalidateQueries(trpc.embedTokens.current.pathFilter());
  else queryClient.clear();
  set('given');
}

function set(next: TokenState): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
