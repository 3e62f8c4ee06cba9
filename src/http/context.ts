/** Builds the context of a call from an HTTP request. */
import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Identity, identify } from '../auth/identify.ts';
import { isToken } from '../auth/tokens.ts';
import { type AppError, forbidden } from '../core/errors.ts';
import { readLanguage } from '../languages/languages.ts';
import type { Services } from '../services.ts';
import type { Context } from '../trpc/context.ts';
import { isLocalHost } from './host.ts';
import { requestBounds } from './request-bounds.ts';

const SESSION_COOKIE = 'session';
const BROWSER_COOKIE = 'sign_in';

/** How much of a User-Agent header is used. Programs with a longer one need not be told apart. */
const MAX_USER_AGENT_LENGTH = 300;

const BEARER = /^Bearer +([^\s]+)$/i;

/** Headers that proxies add to the requests that they forward. */
const forwardingHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
];

/** The values that a transport determines before it calls a procedure. */
type Known = { identity?: Identity; unreadableBody?: AppError | null };

export function createContext(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  known: Known = {},
): Context {
  const setCookie = (name: string, cookie: { token: string; expiresAt: Date } | null): void => {
    const options = {
      path: '/',
      httpOnly: true,
      // A browser does not send a `SameSite=Strict` cookie when a provider redirects it back.
      sameSite: 'lax',
      secure: readOrigin(request, services).startsWith('https:'),
    } as const;
    if (cookie) reply.setCookie(name, cookie.token, { ...options, expires: cookie.expiresAt });
    else reply.clearCookie(name, options);
  };
  return {
    services,
    requestId: request.id,
    bounds: requestBounds(request, reply),
    address: request.ip,
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    language: readLanguage(request.headers['accept-language'] ?? ''),
    isDirect: isDirect(request),
    origin: readOrigin(request, services),
    unreadableBody: known.unreadableBody ?? null,
    idempotencyKey: readHeader(request, 'idempotency-key'),
    idempotencySecret: readHeader(request, 'idempotency-secret'),
    hasAuthorization: request.headers.authorization !== undefined,
    identify: async (workspaceId) => known.identity ?? identifyRequest(services, request, workspaceId),
    participantToken: readParticipantToken(request),
    identifyAgain(workspaceId) {
      const { token } = readCredential(request);
      return identify(services, token, workspaceId, request.ip, { isUse: false });
    },
    setHeader(name, value) {
      reply.header(name, value);
    },
    browserToken: request.cookies[BROWSER_COOKIE] ?? null,
    setBrowserCookie: (browser) => setCookie(BROWSER_COOKIE, browser),
    setSessionCookie: (session) => setCookie(SESSION_COOKIE, session),
  };
}

/** If the header is repeated, Node joins the values with a comma and a space. A valid value contains no space. */
function readHeader({ headers }: FastifyRequest, name: 'idempotency-key' | 'idempotency-secret'): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

/**
 * Whether the request came directly from its client, and not through a proxy. A proxy on this machine might not add a
 * forwarding header. It is still detected if it passes on the client's Host header, because that header names a host
 * other than this machine.
 */
export function isDirect({ headers }: FastifyRequest): boolean {
  return isLocalHost(headers.host) && forwardingHeaders.every((name) => headers[name] === undefined);
}

/** The scheme, host and port that the caller used to reach the service. */
function readOrigin(request: FastifyRequest, services: Services): string {
  return services.settings.publicUrl ?? `${request.protocol}://${request.host}`;
}

/** Finds the caller of a request. Throws 403 for a cross-origin write with a session cookie. */
export async function identifyRequest(
  services: Services,
  request: FastifyRequest,
  workspaceId: number | null,
): Promise<Identity> {
  const { token, fromCookie } = readCredential(request);
  const identity = await identify(services, token, workspaceId, request.ip);
  if (identity.caller !== null && fromCookie && !isRead(request.method)) requireOwnOrigin(request, services);
  return identity;
}

/**
 * The credential of a request. The Authorization header takes precedence over the cookie, and the two are never
 * combined. API keys are valid only in the header.
 */
export function readCredential(request: FastifyRequest): { token: string | null; fromCookie: boolean } {
  const { authorization } = request.headers;
  if (authorization !== undefined) return { token: BEARER.exec(authorization)?.[1] ?? null, fromCookie: false };
  const cookie = request.cookies[SESSION_COOKIE];
  return { token: cookie !== undefined && isToken('lns_', cookie) ? cookie : null, fromCookie: true };
}

/** The token of a participant in the Authorization header, or null. */
export function readParticipantToken(request: FastifyRequest): string | null {
  const { token } = readCredential(request);
  return token !== null && isToken('lnp_', token) ? token : null;
}

/** Whether a request has a credential, valid or not. */
export function hasCredential(request: FastifyRequest): boolean {
  return request.headers.authorization !== undefined || readCredential(request).token !== null;
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Throws 403 for a write with a session cookie if the request does not come from one of the service's own origins.
 * Without this check, any page could write: browsers send the cookie with requests from any page.
 */
function requireOwnOrigin(request: FastifyRequest, services: Services): void {
  const { origin } = request.headers;
  const own = [readOrigin(request, services), ...services.settings.trustedOrigins];
  if (origin === undefined || !own.includes(origin))
    throw forbidden('Cross-origin request refused: add the origin of the page to CORS_ORIGINS, or send a token');
}
