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
  /** How many slow downloads there may be with one URL, so that they do not take all that it allows. */
  perUrl: number;
  /** How many slow downloads this process serves. */
  total: number;
};

/**
 * Slow is less than 20 kB/s. The rate is averaged over a minute, because a slow client receives data in bursts of
 * several hundred kB. A quarter of all downloads may be slow: 500 take 75 MB (bench/stalled-readers.ts).
 */
export const defaultSlowReaderLimits: SlowReaderLimits = {
  stallMs: 30_000,
  periodMs: 60_000,
  minBytes: 1_200_000,
  perNetwork: 50,
  perUrl: 10,
  total: 500,
};

/** How many times a download is checked within `stallMs`. */
const CHECKS = 6;

type Watched = { response: ServerResponse; network: string; url: string; sentBytes: () => number };

export type SlowReaders = {
  /**
   * Watches a response. `sentBytes` returns the number of bytes sent so far. A client does not count as slow while the
   * server has nothing to send. Returns a function that stops watching.
   */
  watch(watched: Watched): () => void;
};

/**
 * When too many downloads of a network or with a URL are slow, the one of them that has been slow for the longest time
 * is disconnected, or, if there are too many in the process, that of the network with the most.
 */
export function createSlowReaders(limits: SlowReaderLimits): SlowReaders {
  const { stallMs, periodMs, minBytes, perNetwork, perUrl, total } = limits;
  /** The slow downloads of each network and with each URL, in the order in which they became slow. */
  const [byNetwork, byUrl] = [createGroups(), createGroups()];
  let count = 0;

  function remove(watched: Watched): void {
    if (!byNetwork.remove(watched.network, watched)) return;
    byUrl.remove(watched.url, watched);
    count -= 1;
  }

  function add(watched: Watched): void {
    if (!byNetwork.add(watched.network, watched)) return;
    byUrl.add(watched.url, watched);
    count += 1;
    const [ofNetwork, ofUrl] = [byNetwork.get(watched.network), byUrl.get(watched.url)];
    if (ofNetwork.size > perNetwork) disconnectOldest(ofNetwork);
    else if (ofUrl.size > perUrl) disconnectOldest(ofUrl);
    else if (count > total) disconnectOldest(byNetwork.largest());
  }

  function disconnectOldest(group: Set<Watched>): void {
    const [oldest] = group;
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

/** Sets of downloads by a key. `add` and `remove` return whether they have changed the set. */
function createGroups() {
  const groups = new Map<string, Set<Watched>>();
  const get = (key: string): Set<Watched> => groups.get(key) ?? new Set();
  return {
    get,
    add(key: string, watched: Watched): boolean {
      const group = get(key);
      if (group.has(watched)) return false;
      groups.set(key, group.add(watched));
      return true;
    },
    remove(key: string, watched: Watched): boolean {
      const group = get(key);
      const hadIt = group.delete(watched);
      if (group.size === 0) groups.delete(key);
      return hadIt;
    },
    largest(): Set<Watched> {
      let largest = new Set<Watched>();
      for (const group of groups.values()) if (group.size > largest.size) largest = group;
      return largest;
    },
  };
}
