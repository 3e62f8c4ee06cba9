/** Limits how many downloads are open at the same time. Each process counts its own. */
import { serviceUnavailable, tooManyRequests } from '../core/errors.ts';

const RETRY_AFTER_SECONDS = 10;

/** The maximum numbers of open downloads. */
export type DownloadLimits = {
  /** With one signed URL. Browsers and download managers read several parts of a file at the same time. */
  perUrl: number;
  /** From one network, as defined for the rate limits. */
  perNetwork: number;
  /** In this process. */
  total: number;
};

/**
 * A stalled download takes a descriptor and about 150 kB (bench/stalled-readers.ts): 2,000 stalled downloads take 300
 * MB.
 */
export const defaultDownloadLimits: DownloadLimits = { perUrl: 20, perNetwork: 200, total: 2_000 };

export type DownloadSlots = {
  /**
   * Takes a slot. Returns the function that releases it. Throws 429 if the URL or the network has too many open
   * downloads, and 503 if the process has too many.
   */
  take(url: string, network: string): () => void;
};

export function createDownloadSlots(limits: DownloadLimits): DownloadSlots {
  const urls = createCounter();
  const networks = createCounter();
  let total = 0;
  return {
    take(url, network) {
      if (urls.count(url) >= limits.perUrl)
        throw tooManyRequests('Too many downloads with this URL at once', RETRY_AFTER_SECONDS);
      if (networks.count(network) >= limits.perNetwork)
        throw tooManyRequests('Too many downloads from this network at once', RETRY_AFTER_SECONDS);
      if (total >= limits.total) throw serviceUnavailable('Too many downloads at once', RETRY_AFTER_SECONDS);
      total += 1;
      urls.add(url, 1);
      networks.add(network, 1);
      return () => {
        total -= 1;
        urls.add(url, -1);
        networks.add(network, -1);
      };
    },
  };
}

/** Counts by key, and removes a key when its count is 0. */
function createCounter() {
  const counts = new Map<string, number>();
  return {
    count: (key: string): number => counts.get(key) ?? 0,
    add(key: string, change: number): void {
      const count = (counts.get(key) ?? 0) + change;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}
