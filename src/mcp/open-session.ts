/** Finds the API key or connected app of a request to `/mcp`, and what the URL leaves of its rights. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findGrantOfToken } from '../auth/find-app-grant.ts';
import { type Identity, identify, identifyByApp } from '../auth/identify.ts';
import { signInRequired } from '../auth/sign-in-requirements.ts';
import { isToken } from '../auth/tokens.ts';
import { AppError, badField } from '../core/errors.ts';
import { createContext, readCredential } from '../http/context.ts';
import { logFailure } from '../http/log-failure.ts';
import type { Services } from '../services.ts';
import { limitEndedToken, requireCaller } from '../trpc/access.ts';
import { type Group, groups } from './groups.ts';
import type { McpSession, Narrowing } from './session.ts';

/**
 * Throws 401 for a missing or unknown key or access token, and for a session token; 403 for a key that is limited to
 * other networks; 400 for wrong parameters of the URL. The header of the 401 says where clients get an access token.
 */
export async function openSession(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<McpSession> {
  const context = createContext(services, request, reply);
  const { token, fromCookie } = readCredential(request);
  const key = fromCookie ? null : token;
  const resource = `${context.origin}/mcp`;
  const needsKey = (): AppError => keyNeeded(context.origin, key !== null);
  const find = async (workspaceId: number | null, isUse: boolean): Promise<Identity> => {
    const address = request.ip;
    if (key !== null && isToken('lna_', key))
      return markIdentity(await identifyByApp(services, key, { workspaceId, address, resource, isUse }));
    return markIdentity(await identify(services, key, workspaceId, address, { isUse }));
  };
  const found = await find(null, false);
  if (found.caller === null && key !== null && isToken('lna_', key)) {
    const grantId = await findGrantOfToken(services, key);
    if (grantId !== null) {
      limitEndedToken(context, grantId);
      throw needsKey();
    }
  }
  // Calls with a key are counted when they reach an operation.
  const { credential } = found.caller ?? requireCaller(context, withReason(found, needsKey()));
  if (credential.kind !== 'key' || credential.embed) {
    requireCaller(context, found);
    throw needsKey();
  }
  // The key can be revoked in between.
  const identity = await find(credential.workspaceId, true);
  const { caller, access } = identity;
  if (caller === null || caller.credential.kind !== 'key' || access?.role == null) throw needsKey();
  if (access.unmet !== null) throw signInRequired(access.unmet);
  const own = caller.credential;
  return {
    ...readNarrowing(request.query),
    context: {
      ...context,
      // The keys of operations for anyone belong to this API key or app, and not to its network.
      idempotencySecret: Buffer.from(services.sealer.fingerprint(`mcp:${own.isApp ? 'app:' : ''}${own.id}`)).toString(
        'base64url',
      ),
      identify: async (workspaceId) =>
        workspaceId === null || workspaceId === own.workspaceId ? identity : find(workspaceId, false),
      identifyAgain: (workspaceId) => find(workspaceId, false),
    },
    caller,
    credential: own,
    role: access.role,
    token: key ?? '',
    count: { isDone: false },
    logFailure: (failure) => logFailure(request.log, failure),
  };
}

/** Marks the credential, so that the audit log says that the change was made through MCP. */
function markIdentity(identity: Identity): Identity {
  const { caller } = identity;
  if (caller?.credential.kind !== 'key') return identity;
  return { ...identity, caller: { ...caller, credential: { ...caller.credential, via: 'mcp' } } };
}

function withReason(identity: Identity, reason: AppError): Identity {
  return identity.caller === null ? { ...identity, refusal: identity.refusal ?? reason } : identity;
}

/** The header of this 401 leads clients to the metadata (RFC 9728 section 5.1). */
function keyNeeded(origin: string, isInvalid: boolean): AppError {
  const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
  const challenge = `${isInvalid ? 'error="invalid_token", ' : ''}${metadata}`;
  const message = '/mcp needs an API key, or the access token of a connected app: Authorization: Bearer lnx_...';
  return new AppError('UNAUTHORIZED', message, { challenge });
}

/**
 * An unknown or misspelled parameter is refused, because it would leave the connection with more rights than intended.
 */
function readNarrowing(query: unknown): Narrowing {
  // Fastify's query parser returns an object.
  const { groups: named, read_only: readOnly = '0', ...others } = query as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 100);
    throw badField(shown, `There is no parameter ${shown}. Parameters: groups, read_only`);
  }
  if (readOnly !== '0' && readOnly !== '1') throw badField('read_only', 'read_only must be 0 or 1');
  return { groups: named === undefined ? null : readGroups(named), isReadOnly: readOnly === '1' };
}

function readGroups(named: unknown): Group[] {
  const names = typeof named === 'string' ? named.split(',') : [];
  const found = groups.filter((group) => names.includes(group));
  if (names.length === 0 || found.length < new Set(names).size)
    throw badField('groups', `groups must be a list, separated by commas, of ${groups.join(', ')}`);
  return found;
}
