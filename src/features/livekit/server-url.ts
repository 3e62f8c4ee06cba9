/** The URLs of LiveKit servers. */

/** Matches the text, because the URL parser also accepts `http:host` and `wss://user@host`. */
const SERVER_URL = /^(?:wss?|https?):\/\/[^/?#\\@]+\/?$/i;
const LOOPBACK_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns the URL with the scheme https, or http on this machine. If it is invalid, returns what it must be. */
export function parseServerUrl(text: string): URL | string {
  const url = SERVER_URL.test(text) ? URL.parse(text.replace(/^ws/i, 'http')) : null;
  if (url === null || url.host === '') return 'must be a URL such as wss://livekit.example.com, without a path';
  // Tokens travel in the URL of the connection.
  if (url.protocol !== 'https:' && !LOOPBACK_HOST.test(url.hostname)) return 'must begin with wss:// or https://';
  return url;
}

/** The URL that browsers connect to. */
export function toSocketUrl(origin: string): string {
  return origin.replace(/^http/, 'ws');
}
