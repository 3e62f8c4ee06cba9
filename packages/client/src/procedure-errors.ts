/** What happens if a procedure fails: it is repeated with another token, or rejects with an error of this client. */
import { TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './contract.ts';
import { type Attempt, type Credential, isUnauthorized } from './credential.ts';
import { LynxroomError } from './errors.ts';
import { SIGN_IN_PROCEDURES } from './idempotency-keys.ts';

/**
 * Converts the errors of the service to LynxroomError. A call that was refused with the client's credential is repeated
 * once if there is another, since a 401 has changed nothing; a subscription continues after its last event. An aborted
 * call ends at once, also if others are in the same request.
 */
export function handleErrors({ renew, report }: Credential): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        const { signal } = op;
        let subscription: Unsubscribable | undefined;
        let { input } = op;
        let isRepeat = false;
        let hasEnded = false;
        // `as`: it also converts what is no Error.
        const fail = (reason: unknown): void => observer.error(TRPCClientError.from(reason as Error));
        const abort = (): void => fail(signal?.reason);

        function send(renewed?: string): void {
          const attempt: Attempt = { renewed };
          subscription = next({ ...op, input, context: { ...op.context, attempt } }).subscribe({
            next(value) {
              const { type, id } = { type: undefined, id: undefined, ...value.result };
              // A subscription may last longer than many tokens.
              if (type === undefined || type === 'data') isRepeat = false;
              // `as`: only subscriptions with an object as input have events with an id.
              if (id !== undefined) input = { ...(input as object), lastEventId: id };
              observer.next(value);
            },
            error(error) {
              const converted = LynxroomError.ofProcedure(error);
              if (!isUnauthorized(converted) || SIGN_IN_PROCEDURES.has(op.path)) return fail(converted);
              const repeat = (token?: string): void => {
                if (hasEnded) return;
                if (token === undefined) fail(report(converted));
                else send(token);
              };
              if (isRepeat) return repeat();
              isRepeat = true;
              void renew(attempt).then(repeat, fail);
            },
            complete: () => observer.complete(),
          });
        }

        // A subscription ends without an error.
        if (op.type === 'subscription' || !signal) send();
        else if (signal.aborted) abort();
        else {
          signal.addEventListener('abort', abort);
          send();
        }
        return () => {
          hasEnded = true;
          signal?.removeEventListener('abort', abort);
          subscription?.unsubscribe();
        };
      });
}

/** The attempts of the calls of one request. */
export function attemptsOf(ops: readonly { context: Record<string, unknown> }[]): Attempt[] {
  // `as`: `handleErrors` has added it.
  return ops.map(({ context }) => context.attempt as Attempt);
}
