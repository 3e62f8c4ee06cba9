/** Operations that need a recent sign-in. `frame/IdentityDialog.tsx` asks for it. */
import { refusalWith } from './errors.ts';

type Waiting = { resolve: () => void; reject: () => void };

let waiting: Waiting | null = null;
const listeners = new Set<() => void>();

/**
 * Carries out `call`. If the service wants the user to sign in again, a dialog asks for it, and the call is then
 * repeated. Rejects if the user closes the dialog.
 */
export async function withRecentSignIn<Output>(call: () => Promise<Output>): Promise<Output> {
  try {
    return await call();
  } catch (error) {
    if (!refusalWith(error, 'REAUTHENTICATION_REQUIRED')) throw error;
    await askForIdentity(error);
    return call();
  }
}

/** Shows the dialog. Rejects if the user closes it. `cause` is the error because of which it is shown. */
export function askForIdentity(cause?: unknown): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    set({ resolve, reject: () => reject(new Error('You did not confirm your identity', { cause })) });
  });
}

/** Ends the wait of `withRecentSignIn`. */
export function finishIdentityCheck(isConfirmed: boolean): void {
  const ended = waiting;
  set(null);
  if (isConfirmed) ended?.resolve();
  else ended?.reject();
}

export function readIsWaiting(): boolean {
  return waiting !== null;
}

export function subscribeToIdentityCheck(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: Waiting | null): void {
  waiting = next;
  for (const listener of listeners) listener();
}
