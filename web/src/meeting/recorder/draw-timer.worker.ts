/**
 * The clock of the canvas. Browsers stop the frames of hidden pages and slow down their timers, but not those of
 * workers. A page that hardly draws in time gets its next tick after the last one was drawn and it has rested as long:
 * ticks that wait would delay all else that the page does, more and more.
 */

/** Starts the clock, or tells how long the page has drawn for the last tick. */
export type DrawMessage = { everyMs: number } | { drawnMs: number };

/** The part of the time between two ticks in which a page can draw and still do all else. */
const MAX_PART = 0.75;

let everyMs = 0;
let isDrawing = false;
let restUntil = 0;

addEventListener('message', ({ data }: MessageEvent<DrawMessage>) => {
  if ('everyMs' in data) {
    everyMs = data.everyMs;
    setInterval(tick, everyMs);
  } else {
    isDrawing = false;
    restUntil = data.drawnMs > everyMs * MAX_PART ? performance.now() + data.drawnMs : 0;
  }
});

function tick(): void {
  if (isDrawing || performance.now() < restUntil) return;
  isDrawing = true;
  postMessage(null);
}
