/** The addresses to which a browser returns with an authorization code (RFC 6749 section 3.1.2, RFC 8252). */

/** Hosts of which only programs on the person's own computer get the code. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Whether an app may register the address: `https`, or `http` on the loopback interface, without a fragment and without
 * credentials. Schemes of an app's own are not accepted, because any program on a computer can claim them.
 */
export function isAllowedRedirect(uri: string): boolean {
  const url = parse(uri);
  if (url === null || url.username !== '' || url.password !== '' || uri.includes('#')) return false;
  return url.protocol === 'https:' || isLoopbackUrl(url);
}

/**
 * Whether the address is one of the registered ones, character by character. Only the port of a loopback address may
 * differ, because a program on a computer listens on whichever port is free (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  const given = withoutPort(uri);
  return given !== null && registered.some((one) => withoutPort(one) === given);
}

/** The host of an address, with its port unless it is the default one. */
export function hostOf(uri: string): string {
  return new URL(uri).host;
}

export function isLoopbackRedirect(uri: string): boolean {
  const url = parse(uri);
  return url !== null && isLoopbackUrl(url);
}

/** A loopback address without its port. Null for any other address. */
function withoutPort(uri: string): string | null {
  const url = isAllowedRedirect(uri) ? parse(uri) : null;
  if (url === null || !isLoopbackUrl(url)) return null;
  url.port = '';
  return url.href;
}

function isLoopbackUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && LOOPBACK.test(hostname);
}

function parse(uri: string): URL | null {
  return URL.canParse(uri) ? new URL(uri) : null;
}
