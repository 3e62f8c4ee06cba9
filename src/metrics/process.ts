import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import { SECOND_MS } from '../core/time.ts';

/**
 * How often the delay is sampled. A sample is the time between two ticks of a timer, so this interval is subtracted
 * from it.
 */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** Measures the event loop, CPU time and memory of this process. Returns a function that stops measuring. */
export function observeProcess(registry: Registry): () => void {
  observeResources(registry);
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'lynxroom_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape',
    labelNames: ['percentile'],
    registers,
    collect() {
      for (const percentile of [50, 99, 100]) {
        const seconds = delay.percentile(percentile) / NANOSECONDS - RESOLUTION_MS / SECOND_MS;
        this.set({ percentile: String(percentile) }, Math.max(0, seconds));
      }
      delay.reset();
    },
  });
  new Counter({
    name: 'lynxroom_event_loop_seconds_total',
    help: 'Time that the event loop spent, by state: active or idle',
    labelNames: ['state'],
    registers,
    collect() {
      const { active, idle } = performance.eventLoopUtilization();
      this.reset();
      this.inc({ state: 'active' }, active / SECOND_MS);
      this.inc({ state: 'idle' }, idle / SECOND_MS);
    },
  });
  return () => delay.disable();
}

/** The metrics that all Prometheus client libraries provide under these names. */
function observeResources(registry: Registry): void {
  const registers = [registry];
  const startedAt = performance.timeOrigin / SECOND_MS;
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in Unix seconds',
    registers,
  }).set(startedAt);
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
}
