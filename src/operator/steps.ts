/** What a long command is doing, on one line of a terminal. */
import type { Context } from '@lynxroom/cli';

const CLEAR_LINE = '\r\u001b[K';

/** Shows nothing if standard error is not a terminal. */
export function createSteps({ io }: Pick<Context, 'io'>): { show(step: string): void; clear(): void } {
  const write = (text: string): void => {
    if (io.stderr.isTTY) io.stderr.write(`${CLEAR_LINE}${text}`);
  };
  return { show: (step) => write(`${step} …`), clear: () => write('') };
}
