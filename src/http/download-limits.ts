/** Limits how many downloads are open at the same time. Each process counts its own. */
import { serviceUnavailable, tooManyRequests } from '../core/errors.ts';
import { createLimiter, shareOf, takeAll } from '../core/limiter.ts';

const RETRY_AFTER_SECONDS = 10;

/** The maximum numbers of open downloads. */
export type DownloadLimits = {
  /** With one signed URL. Browsers and download managers read several parts of a file at the same time. */
  perUrl: number;
  /** From one network, as defined for the rate limits. */
  perNetwork: number;
  /** In this process. The files of one workspace may have half of them. */
  total: number;
};

/**
 * A stalled download takes a descriptor and about 150 kB (bench/stalled-readers.ts): 2,000 stalled downloads take 300
 * MB.
 */
export const defaultDownloadLimits: DownloadLimits = { perUrl: 20, perNetwork: 200, total: 2_000 };

/** Anyone with an account can sign URLs, and use them from many networks. */
const WORKSPACE_PART = 0.5;

export type Download = { url: string; key: string; network: string };

export type DownloadSlots = {
  /**
   * Takes a slot. Returns the function that releases it. Throws 429 if the URL or the network has too many open
   * downloads, and 503 if the process or the workspace of the file has too many.
   */
  take(download: Download): () => void;
};

export function createDownloadSlots({ perUrl, perNetwork, total }: DownloadLimits): DownloadSlots {
  const refuse = (what: string) => () => tooManyRequests(`Too many downloads ${what} at once`, RETRY_AFTER_SECONDS);
  const busy = () => serviceUnavailable('Too many downloads at once', RETRY_AFTER_SECONDS);
  const ofUrl = createLimiter<string>({ maxPerKey: perUrl, full: refuse('with this URL') });
  const ofNetwork = createLimiter<string>({ maxPerKey: perNetwork, full: refuse('from this network') });
  const ofWorkspace = createLimiter<string>({ maxPerKey: shareOf(total, WORKSPACE_PART), full: busy });
  const ofProcess = createLimiter<'all'>({ max: total, full: busy });
  return {
    take({ url, key, network }) {
      const workspace = /^(?:.*\/)?workspaces\/\d+\//.exec(key)?.[0];
      return takeAll([
        () => ofUrl.take(url),
        () => ofNetwork.take(network),
        ...(workspace ? [() => ofWorkspace.take(workspace)] : []),
        () => ofProcess.take('all'),
      ]);
    },
  };
}
