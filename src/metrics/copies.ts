import { Counter, type Registry } from 'prom-client';

const OUTCOMES = ['copied', 'failed', 'dropped'] as const;

/** Counts the files that were copied from meeting providers. */
export function createCopyObserver(registry: Registry): (outcome: (typeof OUTCOMES)[number]) => void {
  const copies = new Counter({
    name: 'lynxroom_recording_copies_total',
    help: 'Copies of recordings from providers; dropped: no longer needed, or taken over by another process',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) copies.inc({ outcome }, 0);
  return (outcome) => copies.inc({ outcome });
}
