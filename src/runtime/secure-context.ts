/** Browsers give a page the camera and the microphone only over HTTPS, or from the same machine. */
import { isLoopback } from '../auth/networks.ts';

/**
 * Returns a sentence that says what to do if browsers give no camera to the pages at `PUBLIC_URL`, or null if they do,
 * or if the URL is not set.
 */
export function describeInsecureOrigin({ PUBLIC_URL: url }: { PUBLIC_URL?: string | undefined }): string | null {
  if (url === undefined) return null;
  if (new URL(url).protocol === 'https:' || isOfThisMachine(url)) return null;
  return (
    `Browsers give no camera and no microphone to pages at ${url}, so nobody can meet there. Use HTTPS: see "The ` +
    'proxy" in docs/deployment.md'
  );
}

/** Whether the host of a URL is this machine, wherever the URL is opened. */
export function isOfThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || isLoopback(hostname.replace(/[[\]]/g, ''));
}
