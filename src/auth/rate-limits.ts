/**
 * Rate limits with fixed windows of one minute, each starting with the first request in it. They are counted in the
 * memory of this process: with N replicas a caller can make up to N times as many requests.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { tooManyRequests } from '../core/errors.ts';
import { isLoopback } from './networks.ts';

/** Requests per minute; 0 disables a limit. */
export type RateLimitSettings = {
  /** Sign-in attempts per email address. */
  signInPerEmail: number;
  /** Sign-in attempts per network. */
  signInPerAddress: number;
  /** Calls without a valid credential per network. */
  publicPerAddress: number;
  /** Calls per session or API key. */
  perCredential: number;
  /** Whether callers on loopback are exempt, so that demos, tests and benchmarks need no settings. */
  exemptLoopback: boolean;
};

export type LimitName = 'signInPerEmail' | 'signInPerAddress' | 'publicPerAddress' | 'perCredential';

type SetHeader = (name: string, value: string) => void;

/** `isDirect` says that no proxy forwarded the call, so `address` is the caller's own. */
type CallerAddress = { address: string; isDirect: boolean; setHeader: SetHeader };

export type RateLimits = {
  /**
   * Counts one call of `key` against a limit and sets the RateLimit headers of
   * draft-ietf-httpapi-ratelimit-headers-06. Throws TOO_MANY_REQUESTS with Retry-After if the limit is exceeded.
   */
  consume(name: LimitName, key: string, caller: CallerAddress): Promise<void>;
};

const WINDOW_SECONDS = 60;

/** Creates the rate limits of one process. */
export function createRateLimits(settings: RateLimitSettings): RateLimits {
  const createLimiter = (name: LimitName): RateLimiterMemory | null =>
    settings[name] === 0
      ? null
      : new RateLimiterMemory({ keyPrefix: name, points: settings[name], duration: WINDOW_SECONDS });
  const limiters: Record<LimitName, RateLimiterMemory | null> = {
    signInPerEmail: createLimiter('signInPerEmail'),
    signInPerAddress: createLimiter('signInPerAddress'),
    publicPerAddress: createLimiter('publicPerAddress'),
    perCredential: createLimiter('perCredential'),
  };

  return {
    async consume(name, key, { address, isDirect, setHeader }) {
      const limiter = limiters[name];
      if (limiter === null || (settings.exemptLoopback && isDirect && isLoopback(address))) return;
      const state = await limiter.consume(key).catch((error: unknown) => {
        // The limiter rejects with its state if the limit is exceeded.
        if (error instanceof RateLimiterRes) return error;
        throw error;
      });
      const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
      setHeader('ratelimit-limit', String(settings[name]));
      setHeader('ratelimit-remaining', String(Math.max(0, state.remainingPoints)));
      setHeader('ratelimit-reset', String(resetSeconds));
      if (state.consumedPoints > settings[name])
        throw tooManyRequests(`Too many requests: try again in ${resetSeconds} s`, resetSeconds);
    },
  };
}
