/**
 * The clock of the canvas. Browsers stop the frames of hidden pages and slow down their timers, but not those of
 * workers. A page that draws slowly gets its next tick after the last one was drawn and it has rested as long: ticks
 * that wait would delay all else that the page does, more and more.
 */

/** Starts the clock, or tells how long the page has drawn for the last tick. */
export type DrawMessage = { everyMs: number } | { drawnMs: number };

let isDrawing = false;
let restUntil = 0;

addEventListener('message', ({ data }: MessageEvent<DrawMessage>) => {
  if ('everyMs' in data) {
    setInterval(tick, data.everyMs);
  } else {
    isDrawing = false;
    restUntil = performance.now() + data.drawnMs;
  }
});

function tick(): void {
  if (isDrawing || performance.now() < restUntil) return;
  isDrawing = true;
  postMessage(null);
}
