import { Counter, type Registry } from 'prom-client';
import type { ExactLimitName, LimitName, RateLimits } from '../auth/rate-limits.ts';
import { AppError } from '../core/errors.ts';

const names: (LimitName | ExactLimitName)[] = [
  'publicPerAddress',
  'perUser',
  'signInPerEmail',
  'signInPerAddress',
  'passwordPerSession',
];

/** Counts the calls that the limits refuse. */
export function observeLimits(limits: RateLimits, registry: Registry): RateLimits {
  const refusals = new Counter({
    name: 'lynxroom_rate_limit_refusals_total',
    help: 'Calls that were refused with 429, by limit',
    labelNames: ['limit'],
    registers: [registry],
  });
  for (const limit of names) refusals.inc({ limit }, 0);
  const count = (limit: string, error: unknown): void => {
    if (error instanceof AppError && error.code === 'TOO_MANY_REQUESTS') refusals.inc({ limit });
  };
  return {
    consume(name, key, caller) {
      try {
        limits.consume(name, key, caller);
      } catch (error) {
        count(name, error);
        throw error;
      }
    },
    async consumeExactly(name, key, caller) {
      try {
        await limits.consumeExactly(name, key, caller);
      } catch (error) {
        count(name, error);
        throw error;
      }
    },
    isExempt: (caller) => limits.isExempt(caller),
  };
}
