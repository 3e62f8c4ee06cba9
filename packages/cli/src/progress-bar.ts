/** A one-line indicator for a terminal, to show that work is under way. */
import type { Io } from './command.ts';
import { toSize, withoutControls } from './table.ts';

const WIDTH = 30;
const DRAW_EVERY_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

export type ProgressBar = {
  update(progress: { sent: number; total: number }): void;
  /** Removes the bar. */
  clear(): void;
};

/** Draws to a terminal, at most ten times a second. Does nothing if `output` is not a terminal. */
export function createProgressBar(output: Io['stderr'], label: string): ProgressBar {
  if (!output.isTTY) return { update: () => {}, clear: () => {} };
  const name = withoutControls(label).slice(0, 24);
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update({ sent, total }) {
      const now = performance.now();
      if (now - drawnAt < DRAW_EVERY_MS && sent < total) return;
      drawnAt = now;
      const share = total === 0 ? 1 : sent / total;
      const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '-');
      output.write(`${CLEAR_LINE}${name} [${bar}] ${Math.floor(share * 100)} % of ${toSize(total)}`);
    },
    clear: () => void output.write(CLEAR_LINE),
  };
}

/** Shows what is being done, and for how many seconds, until the returned function is called. */
export function showElapsed(output: Io['stderr'], text: string): () => void {
  if (!output.isTTY) return () => {};
  const start = performance.now();
  const draw = (): void => {
    output.write(`${CLEAR_LINE}${text} … ${Math.floor((performance.now() - start) / 1000)} s`);
  };
  draw();
  const timer = setInterval(draw, 1000);
  return () => {
    clearInterval(timer);
    output.write(CLEAR_LINE);
  };
}
