/** Gives each write an idempotency key, so that it can be sent again without being carried out twice. */
import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter } from './contract.ts';
import { isLynxroomError } from './errors.ts';

/** How long after a lost answer the same call repeats the lost one. The service stores answers for 24 hours. */
const MAX_AGE_MS = 15 * 60_000;
const MAX_LOST = 100;
/** After other errors, such as 401, 429 and 503, an earlier call with the key may have been carried out. */
const FINAL_STATUSES: readonly number[] = [400, 403, 404, 409, 422];
/** These operations check a secret in their input, such as a password, instead of the credential of the client. */
export const SIGN_IN_PROCEDURES: ReadonlySet<string> = new Set([
  'auth.login',
  'auth.register',
  'openid.start',
  'openid.complete',
  'passkeys.startSignIn',
  'passkeys.signIn',
  'passwords.forgot',
  'passwords.reset',
]);
/** Mutations without a key: those that ignore it, those that only read, and the heartbeat of a participant. */
export const UNKEYED_PROCEDURES: ReadonlySet<string> = new Set([
  ...SIGN_IN_PROCEDURES,
  'apps.connect',
  'auth.reauthenticate',
  'openid.reauthenticate',
  'openid.link',
  'passkeys.startReauthentication',
  'passkeys.reauthenticate',
  'passkeys.startRegistration',
  'bookings.lookUp',
  'bookings.timesToMove',
  'invitations.lookUp',
  'participants.presence',
  'workspaces.lookUpInvite',
]);

/** A random key. `crypto.randomUUID` exists only in secure contexts: HTTPS and localhost. */
export function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A call whose answer was lost. `calls` is how many calls had been started by then. */
type Lost = { call: string; key: string; at: number; calls: number };

/**
 * Adds a key to the context of each mutation that has none. With `repeatsLost`, a call that is made again with the same
 * input after its answer was lost gets the key of the lost call, and so repeats it. After another write has succeeded,
 * it gets a new key, because it may be meant to change something back.
 */
export function addKeys({ repeatsLost }: { repeatsLost: boolean }): TRPCLink<AppRouter> {
  let lost: Lost[] = [];
  let calls = 0;

  /** Returns the key of the earliest lost call that this one repeats, which is then lost no more. */
  function takeLost(call: string): string | undefined {
    const earliest = Date.now() - MAX_AGE_MS;
    lost = lost.filter(({ at }) => at > earliest);
    const found = lost.find((one) => one.call === call);
    lost = lost.filter((one) => one !== found);
    return found?.key;
  }

  return () =>
    ({ op, next }) => {
      if (op.type !== 'mutation' || op.context.idempotencyKey !== undefined || UNKEYED_PROCEDURES.has(op.path))
        return next(op);
      calls += 1;
      const started = calls;
      const call = JSON.stringify([op.path, op.input]);
      const key = takeLost(call) ?? createKey();
      const keep = (): void => {
        if (repeatsLost) lost = [...lost.slice(1 - MAX_LOST), { call, key, at: Date.now(), calls }];
      };
      return observable((observer) => {
        let hasEnded = false;
        const subscription = next({ ...op, context: { ...op.context, idempotencyKey: key } }).subscribe({
          next(value) {
            hasEnded = true;
            lost = lost.filter((one) => one.calls >= started);
            observer.next(value);
          },
          error(error) {
            hasEnded = true;
            if (!isFinal(error)) keep();
            observer.error(error);
          },
          complete: () => observer.complete(),
        });
        return () => {
          if (!hasEnded) keep();
          subscription.unsubscribe();
        };
      });
    };
}

/** Whether the service has refused the call, so that no call with its key has changed anything. */
function isFinal(error: unknown): boolean {
  if (!isLynxroomError(error) || !FINAL_STATUSES.includes(error.status)) return false;
  return error.code !== 'REAUTHENTICATION_REQUIRED' && error.code !== 'IDEMPOTENCY_KEY_IN_USE';
}
