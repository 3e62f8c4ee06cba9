import { lazy, Suspense, useSyncExternalStore } from 'react';
import { readIsWaiting, subscribeToIdentityCheck } from '../lib/recent-sign-in.ts';

// Loaded when somebody has to confirm who they are.
const Loaded = lazy(() => import('./identity-parts.tsx').then((parts) => ({ default: parts.IdentityDialog })));

/** Asks who the user is, while `withRecentSignIn` waits for it. */
export function IdentityDialog() {
  const isOpen = useSyncExternalStore(subscribeToIdentityCheck, readIsWaiting);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Loaded />
    </Suspense>
  );
}
