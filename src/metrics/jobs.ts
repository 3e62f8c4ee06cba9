import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../core/time.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ScheduledJob } from '../jobs/jobs.ts';

/** Counts the runs of scheduled jobs in this process, and how long they take. */
export function observeJobs(jobs: readonly ScheduledJob[], clock: Clock, registry: Registry): ScheduledJob[] {
  const registers = [registry];
  const runs = new Counter({
    name: 'lynxroom_job_runs_total',
    help: 'Runs of scheduled jobs',
    labelNames: ['job', 'outcome'],
    registers,
  });
  const seconds = new Counter({
    name: 'lynxroom_job_seconds_total',
    help: 'How long the runs of scheduled jobs took in total',
    labelNames: ['job'],
    registers,
  });
  const lastSuccess = new Gauge({
    name: 'lynxroom_job_last_success_timestamp_seconds',
    help: 'When the job last succeeded in this process, in Unix seconds',
    labelNames: ['job'],
    registers,
  });
  return jobs.map((scheduled) => {
    const { name: job, run } = scheduled;
    for (const outcome of ['success', 'failure']) runs.inc({ job, outcome }, 0);
    const observed = async (): Promise<void> => {
      const startedAt = performance.now();
      let outcome = 'failure';
      try {
        await run();
        outcome = 'success';
        lastSuccess.set({ job }, Math.floor(clock.now().getTime() / SECOND_MS));
      } finally {
        runs.inc({ job, outcome });
        seconds.inc({ job }, (performance.now() - startedAt) / SECOND_MS);
      }
    };
    return { ...scheduled, run: observed };
  });
}
