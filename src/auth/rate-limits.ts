/** Rate limits in calls per minute. All processes share the counts. */
import { createHash } from 'node:crypto';
import { AppError, tooManyRequests } from '../core/errors.ts';
import { httpStatusOf } from '../core/problem.ts';
import { createGuesses } from './guesses.ts';
import { isLoopback, networkOf } from './networks.ts';
import type { Count, SharedCounts } from './shared-counts.ts';

/** Calls per minute; 0 disables a limit. */
export type RateLimitSettings = {
  /** Sign-in attempts per email address and network, and attempts to change the password per session. */
  signInPerEmail: number;
  /** Sign-in attempts and registrations per network. */
  signInPerAddress: number;
  /** Misses per network: calls that name no room, booking page or token that exists, or send a wrong credential. */
  publicPerAddress: number;
  /** Calls per user and workspace, per participant, and per network and what a public call names. */
  perUser: number;
  /** Exports of everything about a person or an account, per user. */
  exportPerUser: number;
  /** Whether callers on loopback are exempt, so that demos, tests and benchmarks need no settings. */
  exemptLoopback: boolean;
};

/** The limits that transports check before they read a body. */
export type NetworkLimitName = 'publicPerAddress' | 'perUser' | 'signInPerAddress';

export type LimitName = 'publicPerAddress' | 'perUser';

/** Limits on guessing passwords, and on exports of all data about a person, each of which reads many rows. */
export type ExactLimitName = 'signInPerEmail' | 'signInPerAddress' | 'passwordPerSession' | 'exportPerUser';

type SetHeader = (name: string, value: string) => void;

/** `isDirect` says that no proxy forwarded the call, so `address` is the caller's own. */
export type CallerAddress = { address: string; isDirect: boolean; setHeader: SetHeader };

/** What a call without a credential is about: a room, a booking page, or the holder of a token. */
export type Subject = {
  /** The kind and the name, such as `room:weekly-sync`. */
  name: string;
  /** Whether the name is a token, which nobody can guess. */
  isSecret: boolean;
};

/**
 * The functions that count a call set the RateLimit headers of draft-ietf-httpapi-ratelimit-headers-06. They throw
 * TOO_MANY_REQUESTS with Retry-After if the limit is exceeded.
 */
export type RateLimits = {
  /** Counts in memory. All processes together may admit a few calls too many. */
  consume(name: LimitName, key: string, caller: CallerAddress): void;
  /** Counts with a statement, so that all processes together never admit more than the limit. */
  consumeExactly(name: ExactLimitName, key: string, caller: CallerAddress): Promise<void>;
  /**
   * Counts a call without a credential before it is carried out. The returned function must be called with its error,
   * or with null if it succeeded: 400, 401 and 404 count as a miss.
   *
   * People who share a network would share a strict limit, so calls are counted strictly only until they reach what
   * they name. A network that has used up its misses is refused every name that it has not reached lately, whether or
   * not it exists. One that goes on is refused everything.
   */
  beginPublicCall(subject: Subject, caller: CallerAddress): (error: unknown) => void;
  /**
   * Throws 429 if the network of the caller has used up a limit, as far as this process knows: its sign-ins, its calls
   * that name nothing, or so many misses that it is refused everything. Counts nothing.
   */
  requireLeft(name: NetworkLimitName, caller: CallerAddress): void;
  /** Whether no limit applies to the caller. */
  isExempt(caller: CallerAddress): boolean;
  /** How many calls each limit has refused so far. */
  refusals(): Readonly<Record<LimitName | ExactLimitName, number>>;
};

/** The keys under which the limits of a network are counted. */
const keysOfNetwork: Record<NetworkLimitName, (network: string) => string> = {
  publicPerAddress: (network) => `publicPerAddress:${network}`,
  perUser: (network) => `perUser:network:${network}`,
  signInPerAddress: (network) => hashKey(`signInPerAddress:${network}`),
};
/** After this many times the limit of misses, a network is refused even what it has reached lately. */
const REFUSE_ALL_FACTOR = 10;

/** Creates the rate limits of this process. */
export function createRateLimits(settings: RateLimitSettings, counts: SharedCounts): RateLimits {
  const { exemptLoopback, ...perMinute } = settings;
  const maximums = { ...perMinute, passwordPerSession: settings.signInPerEmail };
  const refusals = { ...maximums };
  for (const name of namesOf(refusals)) refusals[name] = 0;
  const guesses = createGuesses();

  const isExempt = ({ address, isDirect }: CallerAddress): boolean => exemptLoopback && isDirect && isLoopback(address);

  const refuse = (name: LimitName | ExactLimitName, seconds: number): AppError => {
    refusals[name] += 1;
    return tooManyRequests(`Too many requests: try again in ${seconds} s`, seconds);
  };

  /** Sets the headers. Throws 429 if there were more calls than the limit. */
  const report = (name: LimitName | ExactLimitName, { calls, msLeft }: Count, { setHeader }: CallerAddress): void => {
    const max = maximums[name];
    const resetSeconds = Math.max(1, Math.ceil(msLeft / 1000));
    setHeader('ratelimit-limit', String(max));
    setHeader('ratelimit-remaining', String(Math.max(0, max - calls)));
    setHeader('ratelimit-reset', String(resetSeconds));
    if (calls > max) throw refuse(name, resetSeconds);
  };

  const consume: RateLimits['consume'] = (name, key, caller) => {
    const max = maximums[name];
    if (max === 0 || isExempt(caller)) return;
    // Misses are counted further than their limit, because a network that goes on is refused more.
    const counted = counts.count(`${name}:${key}`, name === 'publicPerAddress' ? max * REFUSE_ALL_FACTOR : max);
    report(name, counted, caller);
  };

  /** Throws 429 if the network has used up its misses, as far as this process knows. The refused call counts too. */
  const requireGuess = (network: string, name: string, isKnown: boolean, caller: CallerAddress): void => {
    const max = maximums.publicPerAddress;
    const { calls } = counts.peek(`publicPerAddress:${network}`);
    if (calls >= max * (isKnown ? REFUSE_ALL_FACTOR : 1)) consume('publicPerAddress', network, caller);
    // The calls in progress may turn out to be misses.
    else if (!isKnown && calls + guesses.countOthers(network, name) >= max) throw refuse('publicPerAddress', 1);
  };

  return {
    consume,
    async consumeExactly(name, key, caller) {
      const max = maximums[name];
      if (max > 0 && !isExempt(caller)) report(name, await counts.countExactly(hashKey(`${name}:${key}`), max), caller);
    },
    beginPublicCall(subject, caller) {
      if (isExempt(caller)) return () => {};
      const network = networkOf(caller.address);
      const name = hashKey(subject.name);
      const isKnown = subject.isSecret || guesses.isKnown(network, name);
      if (maximums.publicPerAddress > 0) requireGuess(network, name, isKnown, caller);
      consume('perUser', `public:${name}:${network}`, caller);
      const end = isKnown ? null : guesses.begin(network, name);
      return (error) => {
        end?.();
        if (error === null && !subject.isSecret) guesses.remember(network, name);
        if (isMiss(error)) consume('publicPerAddress', network, caller);
      };
    },
    requireLeft(name, caller) {
      const max = maximums[name] * (name === 'publicPerAddress' ? REFUSE_ALL_FACTOR : 1);
      if (max === 0 || isExempt(caller)) return;
      const counted = counts.peek(keysOfNetwork[name](networkOf(caller.address)));
      if (counted.calls >= max) report(name, { ...counted, calls: max + 1 }, caller);
    },
    isExempt,
    refusals: () => refusals,
  };
}

/** Whether a call has not reached what it named, as far as its error tells. */
function isMiss(error: unknown): boolean {
  return error instanceof AppError && [400, 401, 404].includes(httpStatusOf(error));
}

function namesOf<Name extends string>(record: Record<Name, unknown>): Name[] {
  // `Object.keys` returns the keys as plain strings.
  return Object.keys(record) as Name[];
}

/**
 * Keys with text from the caller are hashed. It may be long, and email addresses and tokens should not be stored here
 * in plain text.
 */
function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
