/** The addresses to which a browser returns with an authorization code (RFC 6749 section 3.1.2, RFC 8252). */

/** Hosts of which only programs on the person's own computer get the code. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
/** The same in an address as it is written, with the port. */
const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d+(?=[/?]|$)/;
/** Parsers of URLs leave some of these out, so that two programs may read two addresses. */
const INVISIBLE = /[\s\p{Cc}]/u;

/**
 * Whether an app may register the address: `https`, or `http` on the loopback interface, without a fragment,
 * credentials, spaces and control characters. Schemes of an app's own are not accepted, because any program on a
 * computer can claim them.
 */
export function isAllowedRedirect(uri: string): boolean {
  const url = parse(uri);
  if (url === null || INVISIBLE.test(uri) || url.username !== '' || url.password !== '' || uri.includes('#'))
    return false;
  return url.protocol === 'https:' || isLoopbackUrl(url);
}

/**
 * Whether the address is one of the registered ones, character by character. Only the port of a loopback address may
 * differ, because a program on a computer listens on whichever port is free (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  return isLoopbackRedirect(uri) && registered.some((one) => withoutPort(one) === withoutPort(uri));
}

/** The host of an address, with its port unless it is the default one. */
export function hostOf(uri: string): string {
  return new URL(uri).host;
}

export function isLoopbackRedirect(uri: string): boolean {
  const url = parse(uri);
  return url !== null && isLoopbackUrl(url);
}

/** A loopback address without its port, and any other address as it is. */
function withoutPort(uri: string): string {
  return uri.replace(LOOPBACK_PORT, '$1');
}

function isLoopbackUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && LOOPBACK.test(hostname);
}

function parse(uri: string): URL | null {
  return URL.canParse(uri) ? new URL(uri) : null;
}
