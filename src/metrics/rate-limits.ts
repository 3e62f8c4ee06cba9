import { Counter, type Registry } from 'prom-client';
import type { RateLimits } from '../auth/rate-limits.ts';

/** Reports the calls that the limits have refused, at each scrape. */
export function observeLimits(limits: RateLimits, registry: Registry): void {
  new Counter({
    name: 'lynxroom_rate_limit_refusals_total',
    help: 'Calls that were refused with 429, by limit',
    labelNames: ['limit'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [limit, refused] of Object.entries(limits.refusals())) this.inc({ limit }, refused);
    },
  });
}
