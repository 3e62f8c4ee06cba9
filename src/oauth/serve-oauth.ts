/**
 * The endpoints with which agents get access to `/mcp` for people, as the specification of MCP requires: OAuth 2.1 with
 * its metadata (RFC 8414, RFC 9728), dynamic registration (RFC 7591) and revocation (RFC 7009). The page that asks the
 * person is `/authorize` of the frontend.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/networks.ts';
import { AppError } from '../core/errors.ts';
import { findUnboundedJson } from '../core/json-bounds.ts';
import { scopeLevels, scopes } from '../core/scopes.ts';
import { registerClient } from '../features/apps/clients.ts';
import { type Endpoints, endpointsOf } from '../features/apps/connect-app.ts';
import { OauthError } from '../features/apps/oauth-error.ts';
import { exchangeCode, type IssuedTokens, refreshTokens, revokeToken } from '../features/apps/tokens.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { createContext } from '../http/context.ts';
import { runBounded } from '../http/request-bounds.ts';
import type { Services } from '../services.ts';
import { callPublicly, limitCaller, limitedNetworkOf, limitNetwork } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import { clientOf } from '../trpc/sign-in.ts';

/** Of a request: a code or a token with its parameters, or the metadata of an app. */
const MAX_BYTES = 32 * 1024;

const AUTHORIZE = '/oauth/authorize';
const REGISTER = '/oauth/register';
const TOKEN = '/oauth/token';
const REVOKE = '/oauth/revoke';

type Route = { Body: string | undefined };
type Parameters = (name: string) => string | null;

/** Adds the routes. */
export function serveOauth(app: FastifyInstance, services: Services): void {
  app.removeAllContentTypeParsers();
  for (const type of ['application/json', 'application/x-www-form-urlencoded'])
    app.addContentTypeParser<string>(type, { parseAs: 'string' }, (_request, body, done) => done(null, body));

  const serveMetadata = (path: string, describe: (endpoints: Endpoints) => object): void => {
    app.get(path, async (request, reply) => {
      const context = createContext(services, request, reply);
      limitNetwork(context);
      return describe(endpointsOf(context.origin));
    });
  };
  serveMetadata('/.well-known/oauth-protected-resource', describeResource);
  serveMetadata('/.well-known/oauth-protected-resource/mcp', describeResource);
  serveMetadata('/.well-known/oauth-authorization-server', describeServer);

  // One parameter has all of those of the app, so that no router of a frontend changes them.
  app.get(AUTHORIZE, async (request, reply) => {
    const context = createContext(services, request, reply);
    limitNetwork(context);
    const [, query = ''] = request.url.split(/\?(.*)/s);
    return reply.redirect(`${appUrlOf(context)}/authorize?request=${encodeURIComponent(query)}`);
  });

  const servePost = (
    url: string,
    carryOut: (context: Context, request: FastifyRequest<Route>) => Promise<object>,
    status = 200,
  ): void => {
    app.post<Route>(url, { bodyLimit: MAX_BYTES }, async (request, reply) => {
      const context = createContext(services, request, reply);
      const operation = { name: `oauth.${url.split('/').at(-1)}`, method: 'POST' };
      try {
        return reply.status(status).send(await runBounded(request, reply, operation, () => carryOut(context, request)));
      } catch (error) {
        return sendOauthError(error, reply);
      }
    });
  };
  servePost(
    REGISTER,
    async (context, { body }) => {
      limitNetwork(context);
      const network = limitedNetworkOf(context);
      return registerClient(services, parseJson(body), network === null ? null : networkOf(context.address));
    },
    201,
  );
  servePost(TOKEN, async (context, request) => {
    const read = readForm(request);
    return callPublicly(context, subjectOf(read), () => exchange(services, context, read));
  });
  servePost(REVOKE, async (context, request) => {
    const read = readForm(request);
    const revoked = { token: requireValue(read, 'token'), clientId: requireValue(read, 'client_id') };
    await callPublicly(context, subjectOf(read), () => revokeToken(services, revoked, clientOf(context)));
    return {};
  });
}

function describeResource({ issuer, resource }: Endpoints): object {
  return {
    resource,
    authorization_servers: [issuer],
    // Clients ask for all of these. The person decides which of them the app gets.
    scopes_supported: scopeLevels,
    bearer_methods_supported: ['header'],
    resource_name: 'Lynxroom',
    resource_documentation: `${issuer}/docs/guides/mcp`,
  };
}

function describeServer({ issuer }: Endpoints): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}${AUTHORIZE}`,
    token_endpoint: `${issuer}${TOKEN}`,
    registration_endpoint: `${issuer}${REGISTER}`,
    revocation_endpoint: `${issuer}${REVOKE}`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs/guides/mcp`,
  };
}

function exchange(services: Services, context: Context, read: Parameters): Promise<IssuedTokens> {
  const [clientId, resource] = [requireValue(read, 'client_id'), read('resource')];
  const call = {
    device: clientOf(context),
    ownResource: endpointsOf(context.origin).resource,
    countRefresh: (grantId: number) => limitCaller(context, `app:${grantId}`),
  };
  switch (requireValue(read, 'grant_type')) {
    case 'authorization_code': {
      const [code, verifier] = [requireValue(read, 'code'), requireValue(read, 'code_verifier')];
      const redirectUri = requireValue(read, 'redirect_uri');
      return exchangeCode(services, { code, clientId, redirectUri, verifier, resource }, call);
    }
    case 'refresh_token':
      return refreshTokens(services, { refreshToken: requireValue(read, 'refresh_token'), clientId, resource }, call);
    default:
      throw new OauthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  }
}

/** Calls are counted by what nobody can guess, and those that guess by their network. */
function subjectOf(read: Parameters): { name: string; isSecret: true } {
  const secret = read('code') ?? read('refresh_token') ?? read('token') ?? '';
  return { name: `oauth:${secret}`, isSecret: true };
}

/** Reads the parameters of a form. Throws 400 for one that is repeated (RFC 6749 section 3.2). */
function readForm({ body = '', headers }: FastifyRequest<Route>): Parameters {
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(headers['content-type'] ?? ''))
    throw new OauthError('invalid_request', 'Content type must be application/x-www-form-urlencoded');
  const form = new URLSearchParams(body);
  const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
  if (repeated !== undefined) throw new OauthError('invalid_request', `${repeated.slice(0, 100)} is sent twice`);
  return (name) => form.get(name) || null;
}

function requireValue(read: Parameters, name: string): string {
  const value = read(name);
  if (value === null) throw new OauthError('invalid_request', `${name} is required`);
  return value;
}

function parseJson(body = ''): unknown {
  const refusal = findUnboundedJson(Buffer.from(body), MAX_BYTES);
  if (refusal !== null) throw refusal;
  try {
    return JSON.parse(body);
  } catch {
    throw new OauthError('invalid_client_metadata', 'Request body must be valid JSON');
  }
}

/** Sends a 400 in the format of OAuth. Others, such as 429, have that of the API. */
function sendOauthError(error: unknown, reply: FastifyReply): FastifyReply {
  if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
  const code = error instanceof OauthError ? error.error : 'invalid_request';
  return reply.status(400).send({ error: code, error_description: error.message });
}
