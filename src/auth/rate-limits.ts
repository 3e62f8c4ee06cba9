/**
 * Rate limits, counted in the memory of this process: with N replicas a caller gets up to N times as much.
 * The window is one minute, fixed, from the first request in it.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { tooManyRequests } from '../core/errors.ts';

/** Requests a minute; 0 switches a limit off. */
export type RateLimitSettings = {
  /** Sign-in attempts for one email address. */
  signInPerEmail: number;
  /** Sign-in attempts from one network address. */
  signInPerAddress: number;
  /** Calls without a valid credential, from one network address. */
  publicPerAddress: number;
  /** Calls with one session or key. */
  perCredential: number;
  /** Callers on loopback are exempt: so that trying, testing and measuring need no settings. */
  exemptLoopback: boolean;
};

export type LimitName = 'signInPerEmail' | 'signInPerAddress' | 'publicPerAddress' | 'perCredential';

type SetHeader = (name: string, value: string) => void;

/** Who is counted. `isDirect`: no proxy says that it forwards the call, so that `address` is the caller's own. */
type Counted = { address: string; isDirect: boolean; setHeader: SetHeader };

export type RateLimits = {
  /**
   * Counts one call of `key` against a limit and announces what is left (RateLimit headers of
   * draft-ietf-httpapi-ratelimit-headers-06). Throws TOO_MANY_REQUESTS with Retry-After when nothing is.
   */
  consume(name: LimitName, key: string, caller: Counted): Promise<void>;
};

const WINDOW_SECONDS = 60;

/** Who shares a network address: one IPv4 address, or one IPv6 /64, which is what a single customer is given. */
export function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (v4) return v4;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

export function createRateLimits(settings: RateLimitSettings): RateLimits {
  const limiter = (name: LimitName): RateLimiterMemory | null =>
    settings[name] === 0
      ? null
      : new RateLimiterMemory({ keyPrefix: name, points: settings[name], duration: WINDOW_SECONDS });
  const limiters: Record<LimitName, RateLimiterMemory | null> = {
    signInPerEmail: limiter('signInPerEmail'),
    signInPerAddress: limiter('signInPerAddress'),
    publicPerAddress: limiter('publicPerAddress'),
    perCredential: limiter('perCredential'),
  };

  return {
    async consume(name, key, { address, isDirect, setHeader }) {
      const chosen = limiters[name];
      if (chosen === null || (settings.exemptLoopback && isDirect && isLoopback(address))) return;
      const state = await chosen.consume(key).catch((refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return refusal;
        throw refusal;
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

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
