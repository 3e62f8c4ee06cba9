/** Ends downloads whose clients read too slowly, so that they do not occupy memory, connections and files. */
import type { ServerResponse } from 'node:http';

export type ReaderTimeouts = {
  /** Disconnects a client that reads nothing for this long. */
  stallMs: number;
  /** Disconnects a client that reads fewer than `minBytes` in `periodMs`. */
  periodMs: number;
  minBytes: number;
};

/**
 * At least 20 kB/s. The rate is averaged over a minute, because a slow client receives data in bursts of several
 * hundred kB.
 */
export const defaultReaderTimeouts: ReaderTimeouts = { stallMs: 30_000, periodMs: 60_000, minBytes: 1_200_000 };

/** How many times a download is checked within `stallMs`. */
const CHECKS = 6;

/**
 * Watches a response, and destroys it if the client is too slow. `sentBytes` returns the number of bytes sent so far. A
 * client does not count as slow while the server has nothing to send. Returns a function that stops watching.
 */
export function disconnectSlowReader(
  response: ServerResponse,
  sentBytes: () => number,
  { stallMs, periodMs, minBytes }: ReaderTimeouts,
): () => void {
  let progress = { bytes: 0, at: performance.now() };
  let period = progress;
  const timer = setInterval(() => {
    const now = { bytes: sentBytes(), at: performance.now() };
    const isWaitingForClient = response.writableNeedDrain;
    if (now.bytes > progress.bytes || !isWaitingForClient) progress = now;
    const isStalled = now.at - progress.at >= stallMs;
    const isPeriodOver = now.at - period.at >= periodMs;
    const isSlow = isPeriodOver && isWaitingForClient && now.bytes - period.bytes < minBytes;
    if (isStalled || isSlow) response.destroy();
    if (isPeriodOver) period = now;
  }, stallMs / CHECKS);
  return () => clearInterval(timer);
}
