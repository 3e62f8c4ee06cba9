import { Histogram, type Registry } from 'prom-client';
import type { CallObserver } from '../http/observe-calls.ts';

/** In seconds. Most calls take a few milliseconds, but an upload may take minutes. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

export function createCallObserver(registry: Registry): CallObserver {
  const duration = new Histogram({
    name: 'lynxroom_http_request_duration_seconds',
    help: 'Requests by route and status. Each call of a tRPC batch counts, with its procedure as the route',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ seconds, ...labels }) => duration.observe(labels, seconds);
}
