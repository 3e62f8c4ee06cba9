/** Clicks into the frames of a page. */
import type { Locator } from 'playwright-core';

/**
 * Chromium gives a click to the element of the frame, in the page around it, if the frame has just come into view or
 * moved, within half a second at most. Nobody is as fast, except for a test.
 */
const STILL_MS = 700;

/** Runs in the page. Resolves when no frame has moved or changed its size for `STILL_MS`. */
const waitUntilStill = `new Promise((resolve) => {
  let last = '';
  let since = 0;
  const look = () => {
    const frames = [...document.querySelectorAll('iframe')];
    const now = JSON.stringify(frames.map((frame) => frame.getBoundingClientRect()));
    if (now !== last) [last, since] = [now, performance.now()];
    if (performance.now() - since >= ${STILL_MS}) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;

export async function clickInFrame(locator: Locator): Promise<void> {
  // Playwright waits for the next picture before it scrolls, and a frame out of sight draws none.
  await locator.evaluate((element) => element.scrollIntoView({ block: 'center', behavior: 'instant' }));
  await locator.page().evaluate(waitUntilStill);
  await locator.click();
}
