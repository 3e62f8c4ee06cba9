/**
 * The clock of the canvas. Browsers stop the frames of hidden pages and slow down their timers, but not those of
 * workers. The page sends the milliseconds between two ticks.
 */
addEventListener('message', ({ data }: MessageEvent<number>) => {
  setInterval(() => postMessage(null), data);
});
