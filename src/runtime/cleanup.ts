import type { Log } from '../core/log.ts';

/** Steps that end what was started, last first. */
export type Undo = {
  push(step: () => Promise<unknown>): void;
  /** Takes every step, also after one that failed. Never rejects; a second call awaits the first. */
  run(): Promise<void>;
};

export function createUndo(log: Log): Undo {
  const steps: (() => Promise<unknown>)[] = [];
  let done: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const step of steps.reverse()) {
      await step().catch((error: unknown) => log.error({ err: error }, 'A part of the service did not stop well'));
    }
  };
  return {
    push: (step) => steps.push(step),
    run: () => {
      done ??= run();
      return done;
    },
  };
}
