/**
 * Bounds how many downloads may be slow at the same time, so that they do not occupy all memory, connections and files.
 * A browser that plays a film reads only as fast as it plays, and a film that is paused is not read at all, so being
 * slow alone is no reason to disconnect anyone.
 */
import type { ServerResponse } from 'node:http';

export type SlowReaderLimits = {
  /** A client that reads nothing for this long is slow. */
  stallMs: number;
  /** A client that reads fewer than `minBytes` in `periodMs` is slow. */
  periodMs: number;
  minBytes: number;
  /** How many slow downloads one network may have, as defined for the rate limits. */
  perNetwork: number;
  /** How many slow downloads this process serves. */
  total: number;
};

/**
 * Slow is less than 20 kB/s. The rate is averaged over a minute, because a slow client receives data in bursts of
 * several hundred kB. Half of all downloads may be slow: 1,000 take 150 MB (bench/stalled-readers.ts).
 */
export const defaultSlowReaderLimits: SlowReaderLimits = {
  stallMs: 30_000,
  periodMs: 60_000,
  minBytes: 1_200_000,
  perNetwork: 50,
  total: 1_000,
};

/** How many times a download is checked within `stallMs`. */
const CHECKS = 6;

type Watched = { response: ServerResponse; network: string; sentBytes: () => number };

export type SlowReaders = {
  /**
   * Watches a response. `sentBytes` returns the number of bytes sent so far. A client does not count as slow while the
   * server has nothing to send. Returns a function that stops watching.
   */
  watch(watched: Watched): () => void;
};

/**
 * When too many downloads are slow, the one of the network that has been slow for the longest time is disconnected, or,
 * if there are too many in the process, that of the network with the most.
 */
export function createSlowReaders({ stallMs, periodMs, minBytes, perNetwork, total }: SlowReaderLimits): SlowReaders {
  /** The slow downloads of each network, in the order in which they became slow. */
  const slow = new Map<string, Set<Watched>>();
  let count = 0;

  function remove(watched: Watched): void {
    const ofNetwork = slow.get(watched.network);
    if (!ofNetwork?.delete(watched)) return;
    count -= 1;
    if (ofNetwork.size === 0) slow.delete(watched.network);
  }

  function add(watched: Watched): void {
    const ofNetwork = slow.get(watched.network) ?? new Set();
    if (ofNetwork.has(watched)) return;
    slow.set(watched.network, ofNetwork.add(watched));
    count += 1;
    if (ofNetwork.size > perNetwork) disconnectOldest(ofNetwork);
    else if (count > total) disconnectOldest(largestOf(slow.values()));
  }

  function disconnectOldest(ofNetwork: Set<Watched>): void {
    const [oldest] = ofNetwork;
    if (oldest === undefined) return;
    remove(oldest);
    oldest.response.destroy();
  }

  return {
    watch(watched) {
      const { response, sentBytes } = watched;
      let progress = { bytes: 0, at: performance.now() };
      let period = progress;
      const timer = setInterval(() => {
        const now = { bytes: sentBytes(), at: performance.now() };
        const isWaitingForClient = response.writableNeedDrain;
        if (now.bytes > progress.bytes || !isWaitingForClient) progress = now;
        if (now.at - progress.at >= stallMs) add(watched);
        if (now.at - period.at < periodMs) return;
        if (isWaitingForClient && now.bytes - period.bytes < minBytes) add(watched);
        else remove(watched);
        period = now;
      }, stallMs / CHECKS);
      return () => {
        clearInterval(timer);
        remove(watched);
      };
    },
  };
}

function largestOf(sets: Iterable<Set<Watched>>): Set<Watched> {
  let largest = new Set<Watched>();
  for (const set of sets) if (set.size > largest.size) largest = set;
  return largest;
}
