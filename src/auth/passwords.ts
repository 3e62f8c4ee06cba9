/** Password hashing: argon2id with the parameters of the OWASP Password Storage Cheat Sheet (19 MiB, t = 2, p = 1). */
import { hash, verify } from '@node-rs/argon2';
import { serviceUnavailable } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import { normalizePassword } from '../core/text.ts';

// The library's default algorithm is argon2id. It cannot be named here: the library's enum is a `const enum`, which
// does not exist at run time.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// A hash with the same parameters. If the email address is unknown, the password is checked against this hash, so that
// the answer takes as long as for a wrong password.
const DECOY = '$argon2id$v=19$m=19456,t=2,p=1$i2h0O/0ypQJuE0qwto5Vvw$kb0h1oYIOrzNH3ADRVXCKLAgXfpnFsu3TfcJ3bEGO2o';

/** At 10 to 40 ms for each hash, the last in a full queue waits a few seconds. */
const MAX_QUEUED = 100;
const RETRY_AFTER_SECONDS = 2;

/** Reading and writing files needs threads too. */
const FREE_THREADS = 2;

/**
 * The caller for whom a password is hashed: their network, and a signal that aborts when they hang up. `signal` is null
 * if there is no caller.
 */
export type Requester = { network: string; signal: AbortSignal | null };

/**
 * Hashes passwords in their normalized form, a few at a time. Networks take turns, and callers who hang up leave the
 * queue. Both functions throw 503 with Retry-After if the queue is full.
 */
export type Passwords = {
  hash(password: string, requester: Requester): Promise<string>;
  /**
   * Whether the password is correct. Without a hash it returns false after the same time as for a wrong password. A
   * password that is not normalized is compared a second time as it was typed, because earlier versions hashed it so.
   */
  isCorrect(password: string, passwordHash: string | null, requester: Requester): Promise<boolean>;
  /** How many calls wait for their turn. */
  waiting(): number;
};

/** `argon2` replaces the library's functions, for tests that watch them. */
export function createPasswords(slots: number, argon2 = { hash, verify }): Passwords {
  const queue = createLimiter<string>({
    max: slots,
    maxQueued: MAX_QUEUED,
    full: () => serviceUnavailable('Too many concurrent sign-ins: try again in a moment', RETRY_AFTER_SECONDS),
  });
  return {
    hash: (password, { network, signal }) =>
      queue.run(network, () => argon2.hash(normalizePassword(password), PARAMETERS), { signal }),
    async isCorrect(password, passwordHash, { network, signal }) {
      const known = passwordHash ?? DECOY;
      const normalized = normalizePassword(password);
      const verify = async (): Promise<boolean> => {
        if (await argon2.verify(known, normalized)) return true;
        return normalized !== password && argon2.verify(known, password);
      };
      const matches = await queue.run(network, verify, { signal });
      return matches && passwordHash !== null;
    },
    waiting: queue.waiting,
  };
}

/** How many hashes may run concurrently. Each occupies a core and one of libuv's threads. */
export function countPasswordSlots(cores: number, threads: number): number {
  return Math.max(1, Math.min(cores, threads - FREE_THREADS));
}
