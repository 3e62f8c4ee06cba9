/** Checks where a request to `/mcp` comes from, as the specification requires (Transports, "Security Warning"). */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { forbidden } from '../core/errors.ts';
import { isLocalHost } from '../http/host.ts';
import type { Services } from '../services.ts';

/**
 * Throws 403 for a host name that is not that of the service, and for a request from a page of another origin. An
 * attacker can point a host name of their own at the service (DNS rebinding), but not an IP address. Clients other than
 * browsers send no `Origin`.
 */
export function checkSource(request: FastifyRequest, { settings }: Services): void {
  const { publicUrl, trustedOrigins } = settings;
  const { host, protocol, headers } = request;
  if (!isOwnHost(host, publicUrl) && !isLocalHost(headers.host))
    throw forbidden('Unknown host name: set PUBLIC_URL to the URL under which agents reach the service');
  const { origin } = headers;
  const own = publicUrl === null ? `${protocol}://${host}` : new URL(publicUrl).origin;
  if (origin !== undefined && origin !== own && !trustedOrigins.includes(origin))
    throw forbidden('Cross-origin request refused: CORS_ORIGINS names the origins whose pages may call /mcp');
}

function isOwnHost(host: string, publicUrl: string | null): boolean {
  const url = `http://${host}`;
  const name = URL.canParse(url) ? new URL(url).hostname : '';
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return publicUrl !== null && name === new URL(publicUrl).hostname;
}
