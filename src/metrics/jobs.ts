import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../core/time.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';

/**
 * Counts the runs of scheduled jobs in this process, and measures how long they take. The label is not `job`, because
 * Prometheus uses that name for the target that it scrapes.
 */
export function observeJobs(jobs: readonly ScheduledJob[], clock: Clock, registry: Registry): ScheduledJob[] {
  const registers = [registry];
  const runs = new Counter({
    name: 'lynxroom_job_runs_total',
    help: 'Runs of scheduled jobs',
    labelNames: ['name', 'outcome'],
    registers,
  });
  const seconds = new Counter({
    name: 'lynxroom_job_seconds_total',
    help: 'How long the runs of scheduled jobs took in total',
    labelNames: ['name'],
    registers,
  });
  const lastSuccess = new Gauge({
    name: 'lynxroom_job_last_success_timestamp_seconds',
    help: 'When the job last succeeded in this process, in Unix seconds',
    labelNames: ['name'],
    registers,
  });
  return jobs.map((scheduled) => {
    const { name, run } = scheduled;
    for (const outcome of ['success', 'failure']) runs.inc({ name, outcome }, 0);
    const observed = async (): Promise<void> => {
      const startedAt = performance.now();
      let outcome = 'failure';
      try {
        await run();
        outcome = 'success';
        lastSuccess.set({ name }, Math.floor(clock.now().getTime() / SECOND_MS));
      } finally {
        runs.inc({ name, outcome });
        seconds.inc({ name }, (performance.now() - startedAt) / SECOND_MS);
      }
    };
    return { ...scheduled, run: observed };
  });
}
