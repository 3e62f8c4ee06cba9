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

export class LinkRecovery {
  readonly #extraMs: number;
  #state: ObservedState = 'unanswered';
  #since: number | null = null;
  #attempts = 0;
  #attemptedAt = Number.NEGATIVE_INFINITY;

  constructor(isInitiator: boolean) {
    this.#extraMs = isInitiator ? 0 : OTHER_SIDE_MS;
  }

  /** What to do at `now`, in milliseconds, when the connection is in `state`. */
  step(now: number, state: ObservedState): RecoveryAction {
    if (state !== this.#state || this.#since === null) [this.#state, this.#since] = [state, now];
    if (state === 'connected') {
      this.#attempts = 0;
      this.#attemptedAt = Number.NEGATIVE_INFINITY;
      return null;
    }
    if (now - this.#since < ALLOWED_MS[state] + this.#extraMs) return null;
    if (now - this.#attemptedAt < Math.min(MIN_PAUSE_MS * 1.3 ** this.#attempts, MAX_PAUSE_MS)) return null;
    this.#attempts += 1;
    this.#attemptedAt = now;
    if (state === 'unanswered') return 'ask';
    if (state === 'closed' || this.#attempts > RESTARTS) return 'reopen';
    return state === 'offering' ? 'ask' : 'restart';
  }

  /** A new connection begins, which is asked for at once. */
  restart(): void {
    [this.#state, this.#since] = ['unanswered', null];
    this.#attemptedAt = Number.NEGATIVE_INFINITY;
  }
}
