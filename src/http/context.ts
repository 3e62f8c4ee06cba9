/** What the doors tell the procedures about a request. */
import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Identity, identify } from '../auth/identify.ts';
import { isToken } from '../auth/tokens.ts';
import { type AppError, forbidden } from '../core/errors.ts';
import type { Services } from '../services.ts';
import type { Context } from '../trpc/trpc.ts';

const SESSION_COOKIE = 'session';

const BEARER = /^Bearer +([^\s]+)$/i;

/** What the facade has found out before it calls a procedure. */
type Known = { identity?: Identity; unreadableBody?: AppError | null };

/**
 * The credential of a request. The Authorization header wins over the cookie, and is never joined with it; keys come by
 * the header only.
 */
export function credentialOf(request: FastifyRequest): { token: string | null; fromCookie: boolean } {
  const { authorization } = request.headers;
  if (authorization !== undefined) return { token: BEARER.exec(authorization)?.[1] ?? null, fromCookie: false };
  const cookie = request.cookies[SESSION_COOKIE];
  return { token: cookie !== undefined && isToken('lns_', cookie) ? cookie : null, fromCookie: true };
}

/** Finds who sent the request. Throws 403 for a write from a foreign page with a session cookie. */
export async function identifyRequest(
  services: Services,
  request: FastifyRequest,
  workspaceId: number | null,
): Promise<Identity> {
  const { token, fromCookie } = credentialOf(request);
  const identity = await identify(services, token, workspaceId);
  if (identity.caller !== null && fromCookie && !readsOnly(request.method)) requireOwnOrigin(request, services);
  return identity;
}

function readsOnly(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** A browser sends the cookie along whoever wrote the page: a write with it must come from a page of ours. */
function requireOwnOrigin(request: FastifyRequest, services: Services): void {
  const { origin } = request.headers;
  const own = [originOf(request, services), ...services.settings.trustedOrigins];
  if (origin === undefined || !own.includes(origin)) throw forbidden('Cross-origin request refused');
}

/** Scheme, host and port under which the caller reached us. */
function originOf(request: FastifyRequest, services: Services): string {
  return services.settings.publicUrl ?? `${request.protocol}://${request.host}`;
}

export function createContext(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  known: Known = {},
): Context {
  return {
    services,
    requestId: request.id,
    address: request.ip,
    isDirect: request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined,
    origin: originOf(request, services),
    unreadableBody: known.unreadableBody ?? null,
    hasAuthorization: request.headers.authorization !== undefined,
    identify: async (workspaceId) => known.identity ?? identifyRequest(services, request, workspaceId),
    setHeader(name, value) {
      reply.header(name, value);
    },
    setSessionCookie(session) {
      const options = {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: originOf(request, services).startsWith('https:'),
      } as const;
      if (session) reply.setCookie(SESSION_COOKIE, session.token, { ...options, expires: session.expiresAt });
      else reply.clearCookie(SESSION_COOKIE, options);
    },
  };
}
