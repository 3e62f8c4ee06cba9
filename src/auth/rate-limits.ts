/** Rate limits in calls per minute. All processes share the counts. */
import { createHash } from 'node:crypto';
import { tooManyRequests } from '../core/errors.ts';
import { isLoopback } from './networks.ts';
import type { Count, SharedCounts } from './shared-counts.ts';

/** Calls per minute; 0 disables a limit. */
export type RateLimitSettings = {
  /** Sign-in attempts per email address and network, and attempts to change the password per session. */
  signInPerEmail: number;
  /** Sign-in attempts and registrations per network. */
  signInPerAddress: number;
  /** Calls without a valid credential per network. */
  publicPerAddress: number;
  /** Calls per user and workspace, and per participant. */
  perUser: number;
  /** Exports of everything about a person or an account, per user. */
  exportPerUser: number;
  /** Whether callers on loopback are exempt, so that demos, tests and benchmarks need no settings. */
  exemptLoopback: boolean;
};

export type LimitName = 'publicPerAddress' | 'perUser';

/** Limits on guessing passwords, and on exports of all data about a person, each of which reads many rows. */
export type ExactLimitName = 'signInPerEmail' | 'signInPerAddress' | 'passwordPerSession' | 'exportPerUser';

type SetHeader = (name: string, value: string) => void;

/** `isDirect` says that no proxy forwarded the call, so `address` is the caller's own. */
export type CallerAddress = { address: string; isDirect: boolean; setHeader: SetHeader };

/**
 * Both `consume` functions count one call under `key` against a limit and set the RateLimit headers of
 * draft-ietf-httpapi-ratelimit-headers-06. They throw TOO_MANY_REQUESTS with Retry-After if the limit is exceeded.
 */
export type RateLimits = {
  /** Counts in memory. All processes together may admit a few calls too many. */
  consume(name: LimitName, key: string, caller: CallerAddress): void;
  /** Counts with a statement, so that all processes together never admit more than the limit. */
  consumeExactly(name: ExactLimitName, key: string, caller: CallerAddress): Promise<void>;
  /** Whether no limit applies to the caller. */
  isExempt(caller: CallerAddress): boolean;
};

/** Creates the rate limits of this process. */
export function createRateLimits(settings: RateLimitSettings, counts: SharedCounts): RateLimits {
  const maximums: Record<LimitName | ExactLimitName, number> = {
    ...settings,
    passwordPerSession: settings.signInPerEmail,
  };
  const isExempt = ({ address, isDirect }: CallerAddress): boolean =>
    settings.exemptLoopback && isDirect && isLoopback(address);

  return {
    consume(name, key, caller) {
      const max = maximums[name];
      if (max > 0 && !isExempt(caller)) report(counts.count(`${name}:${key}`, max), max, caller.setHeader);
    },
    async consumeExactly(name, key, caller) {
      const max = maximums[name];
      if (max > 0 && !isExempt(caller))
        report(await counts.countExactly(hashKey(name, key), max), max, caller.setHeader);
    },
    isExempt,
  };
}

/** Sets the headers. Throws 429 if there were more calls than `max`. */
function report({ calls, msLeft }: Count, max: number, setHeader: SetHeader): void {
  const resetSeconds = Math.max(1, Math.ceil(msLeft / 1000));
  setHeader('ratelimit-limit', String(max));
  setHeader('ratelimit-remaining', String(Math.max(0, max - calls)));
  setHeader('ratelimit-reset', String(resetSeconds));
  if (calls > max) throw tooManyRequests(`Too many requests: try again in ${resetSeconds} s`, resetSeconds);
}

/**
 * Keys are hashed, because they contain email addresses, which may be long and should not be stored here in plain text.
 */
function hashKey(name: ExactLimitName, key: string): string {
  return createHash('sha256').update(`${name}:${key}`).digest('base64url');
}
