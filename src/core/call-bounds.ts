/**
 * Bounds of one API call: how long it waits for the database, and whether the caller still waits for the result.
 * Statements read the bounds from an AsyncLocalStorage, because Prisma passes no context to the driver.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { outsideTrace } from './tracing.ts';

/** How long a request has waited for the database. Concurrent waits, as in a batch, count once. */
export type WaitTime = { totalMs: number; waiting: number; since: number };

/** The state that all calls of one request share. */
export type RequestBounds = {
  /** The id of the request, for the log. */
  requestId: string;
  waited: WaitTime;
  /** Aborted when the caller hangs up. The reason is an `AppError`. */
  hungUp: AbortSignal;
};

export type CallBounds = RequestBounds & {
  /** The feature of the operation, such as `library`. The calls to one feature cannot take all connections. */
  feature: string;
  /**
   * The caller, such as `user:7`, or null before the caller is known. The calls of one owner take only a few
   * connections.
   */
  owner: string | null;
  /** Whether the call only reads, so that its statements are cancelled when the caller hangs up. */
  isRead: boolean;
  /** How many transactions the call has open. */
  transactions: number;
  /** How many connections the call has acquired so far, and how long it has waited for them, in milliseconds. */
  acquired: number;
  queuedMs: number;
  /** Null for a call without an idempotency key. */
  claim: Claim | null;
};

/** The idempotency key of a call. The transactions of the call record that it was carried out. */
export type Claim = {
  caller: string;
  key: string;
  /** Identifies this attempt. Another attempt may take over the key once the lease has expired. */
  lease: string;
  /** Whether the transaction that carries out the call has also stored the answer. */
  isAnswered: boolean;
  /** Prepares an answer for the database. */
  toStored(answer: unknown): {
    answer: Uint8Array | null;
    bodyHash: Uint8Array | null;
    /** Whether the roles of the user are stored too. `workspaceId` limits them to one workspace; null means all. */
    withRoles: boolean;
    workspaceId: number | null;
  };
};

/** The call in progress. Undefined in background work. */
export const currentCall = new AsyncLocalStorage<CallBounds | undefined>();

/** Returns the bounds of a request whose caller hangs up when `hungUp` aborts. */
export function createRequestBounds(hungUp: AbortSignal, requestId: string): RequestBounds {
  return { requestId, waited: { totalMs: 0, waiting: 0, since: 0 }, hungUp };
}

/** Runs one call of a request, with its own bounds. */
export function runCall<Result>(
  request: RequestBounds,
  { feature, isRead }: Pick<CallBounds, 'feature' | 'isRead'>,
  work: (call: CallBounds) => Result,
): Result {
  const call: CallBounds = {
    ...request,
    feature,
    isRead,
    owner: null,
    transactions: 0,
    acquired: 0,
    queuedMs: 0,
    claim: null,
  };
  return currentCall.run(call, () => work(call));
}

/** Starts work that outlives the current call. The bounds of the call do not apply to it. */
export function runInBackground<Result>(work: () => Result): Result {
  return outsideTrace(() => currentCall.run(undefined, work));
}

/**
 * Runs work whose transactions do not record that the call was carried out: several that can safely be repeated, such
 * as an import, or one that is not what the call is about, such as a sign of life. A retry repeats the work unless the
 * call was answered.
 */
export function runRepeatable<Result>(work: () => Result): Result {
  const call = currentCall.getStore();
  return call?.claim ? currentCall.run({ ...call, claim: null }, work) : work();
}

/** Sets the owner of the call in progress. */
export function setCallOwner(owner: string): void {
  const call = currentCall.getStore();
  if (call) call.owner = owner;
}

export function startWait(time: WaitTime): void {
  if (time.waiting === 0) time.since = performance.now();
  time.waiting += 1;
}

export function endWait(time: WaitTime): void {
  time.waiting -= 1;
  if (time.waiting === 0) time.totalMs += performance.now() - time.since;
}

/** Returns how long the request has waited so far, in milliseconds. */
export function waitedMs(time: WaitTime): number {
  return time.totalMs + (time.waiting === 0 ? 0 : performance.now() - time.since);
}
