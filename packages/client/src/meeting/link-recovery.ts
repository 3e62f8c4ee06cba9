/** Decides when a broken connection is repaired, and how. Without types of browsers, so that it can be tested. */

/** `unanswered`: there is no description of the peer yet. `offering`: a later offer has no answer yet. */
export type ObservedState =
  | 'unanswered'
  | 'offering'
  | 'new'
  | 'connecting'
  | 'connected'
  | 'disconnected'
  | 'failed'
  | 'closed';

/** `ask`: the signals were lost. `restart`: ICE finds another way. `reopen`: a new connection, if restarts fail. */
export type RecoveryAction = 'ask' | 'restart' | 'reopen' | null;

/** How long a state may last. A break of a second or two repairs itself. */
const ALLOWED_MS: Record<ObservedState, number> = {
  unanswered: 2_000,
  offering: 2_000,
  new: 6_000,
  connecting: 6_000,
  connected: Number.POSITIVE_INFINITY,
  disconnected: 3_000,
  failed: 0,
  closed: 0,
};
/** Both sides see the same break. The side that made the first offer repairs it first. */
const OTHER_SIDE_MS = 1_000;
const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 4_000;
/** A restart that leads nowhere is tried so many times before a new connection is made. */
const RESTARTS = 3;
/** The same of asking for a first description. It takes longer, as the other page may be slow or away. */
const FIRST_ASKS = 6;
/**
 * Each new connection that has not worked gets twice the time of the one before, up to so many times. On a machine that
 * is too slow for all its connections, giving up at the same time again and again would leave no time for any.
 */
const MAX_PATIENCE = 4;

export class LinkRecovery {
  readonly #extraMs: number;
  #state: ObservedState = 'unanswered';
  #since: number | null = null;
  #attempts = 0;
  #patience = 1;
  #attemptedAt = Number.NEGATIVE_INFINITY;

  constructor(isInitiator: boolean) {
    this.#extraMs = isInitiator ? 0 : OTHER_SIDE_MS;
  }

  /** What to do at `now`, in milliseconds, when the connection is in `state`. */
  step(now: number, state: ObservedState): RecoveryAction {
    if (state !== this.#state || this.#since === null) {
      // What was asked for has arrived.
      if (this.#state === 'unanswered') this.#attempts = 0;
      [this.#state, this.#since] = [state, now];
    }
    if (state === 'connected') {
      this.#attempts = 0;
      this.#patience = 1;
      this.#attemptedAt = Number.NEGATIVE_INFINITY;
      return null;
    }
    if (now - this.#since < (ALLOWED_MS[state] + this.#extraMs) * this.#patience) return null;
    const pauseMs = Math.min(MIN_PAUSE_MS * 1.3 ** this.#attempts, MAX_PAUSE_MS);
    if (now - this.#attemptedAt < pauseMs * this.#patience) return null;
    this.#attempts += 1;
    this.#attemptedAt = now;
    if (state === 'closed' || this.#attempts > (state === 'unanswered' ? FIRST_ASKS : RESTARTS)) return 'reopen';
    return state === 'unanswered' || state === 'offering' ? 'ask' : 'restart';
  }

  /** A new connection begins. */
  restart(): void {
    [this.#state, this.#since] = ['unanswered', null];
    this.#attempts = 0;
    this.#patience = Math.min(this.#patience * 2, MAX_PATIENCE);
    this.#attemptedAt = Number.NEGATIVE_INFINITY;
  }
}
