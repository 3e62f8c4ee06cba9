/** What happens at the consent page: an app asks for access to a workspace, and a person allows it. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor, Caller } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { badField, conflict, forbidden } from '../../core/errors.ts';
import { type Scope, scopes } from '../../core/scopes.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from '../auth/own-sessions.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import { findClient, type OauthClient } from './clients.ts';
import { hostOf, isLoopbackRedirect, isRegisteredRedirect } from './redirect-uris.ts';
import type { AuthorizationAnswer, AuthorizationParameters, ConnectAppInput, ConnectedAppAnswer } from './schemas.ts';

/** After how many days an app has to ask again. */
export const GRANT_DAYS = 30;
/** Apps exchange the code as soon as the browser returns to them. */
const CODE_MS = 60 * SECOND_MS;
/** The maximum number of connected apps of a person. */
export const MAX_APPS = 50;

/** The URLs of the service: the issuer of the tokens, and what they are for. */
export type Endpoints = { issuer: string; resource: string };

type Needs = Pick<Services, 'db' | 'clock'>;

export function endpointsOf(origin: string): Endpoints {
  return { issuer: origin, resource: `${origin}/mcp` };
}

/**
 * Describes what an app asks for. Throws 400 for an unknown app or a wrong parameter. The error is shown to the person,
 * and the browser does not return to the app, which anyone may have registered (RFC 9700 section 4.11.2).
 */
export async function describeAuthorization(
  { db, clock }: Needs,
  input: AuthorizationParameters,
  endpoints: Endpoints,
): Promise<AuthorizationAnswer> {
  const { client, asked } = await checkRequest(db.sql, input, endpoints, clock.now());
  const { redirect_uri: uri, state } = input;
  return {
    app: { name: client.name, redirect_host: hostOf(uri), is_local: isLoopbackRedirect(uri) ? 1 : 0 },
    scopes: asked,
    days: GRANT_DAYS,
    decline_url: returnUrl(uri, { error: 'access_denied', state, iss: endpoints.issuer }),
  };
}

async function checkRequest(
  sql: Sql,
  { client_id: id, redirect_uri: uri, resource, scope }: AuthorizationParameters,
  endpoints: Endpoints,
  now: Date,
): Promise<{ client: OauthClient; asked: Scope[] }> {
  const client = await findClient(sql, id, now);
  if (client === null) throw badField('client_id', 'The app is not registered, or its registration has ended');
  if (!isRegisteredRedirect(client.redirect_uris, uri))
    throw badField('redirect_uri', 'The app has not registered this redirect_uri');
  if (resource !== undefined && resource !== endpoints.resource)
    throw badField('resource', `resource must be ${endpoints.resource}`);
  return { client, asked: readScopes(scope) };
}

/** Reads the parameter `scope`. The default suffices for the work in a workspace, but not for managing it. */
function readScopes(scope = ''): Scope[] {
  const names = scope.split(' ').filter(Boolean);
  const unknown = names.find((name) => !scopes.some((one) => one === name));
  if (unknown !== undefined) throw badField('scope', `There is no scope ${unknown.slice(0, 100)}`);
  return names.length === 0 ? ['write'] : scopes.filter((one) => names.includes(one));
}

const insertGrant = statement('connect-app', {
  params: {
    workspaceId: int,
    userId: int,
    sessionId: int,
    clientId: text,
    scopes: texts,
    resource: text,
    now: time,
    expiresAt: time,
    codeHash: bytes,
    codeChallenge: text,
    redirectUri: text,
    codeExpiresAt: time,
  },
  returns: { id: int },
  // The lock on the membership lasts until the commit, so that nobody who has been removed connects an app.
  sql: `
    insert into oauth_grants (workspace_id, user_id, client_id, scopes, resource, created_at, expires_at, code_hash,
      code_challenge, redirect_uri, code_expires_at, second_factor_at, openid_issuer)
    select m.workspace_id, m.user_id, $clientId, $scopes, $resource, $now, $expiresAt, $codeHash, $codeChallenge,
      $redirectUri, $codeExpiresAt, s.second_factor_at, s.openid_issuer
    from members m join sessions s on s.id = $sessionId
    where m.workspace_id = $workspaceId and m.user_id = $userId for key share of m
    returning id`,
});

/**
 * Connects an app to a workspace, and returns where to send the browser. An earlier connection of the same app to the
 * workspace ends. Throws 400 as `describeAuthorization` does, and for scopes that the app has not asked for; 401
 * SIGN_IN_EXPIRED if the session has ended; 403 if the person has left the workspace; 409 for too many apps.
 */
export function connectApp(
  services: Needs & Pick<Services, 'settings'>,
  { caller, actor, sessionId, client: device }: SessionCall & { caller: Caller; actor: Actor },
  input: ConnectAppInput,
  endpoints: Endpoints,
): Promise<ConnectedAppAnswer> {
  const code = createToken('lng_');
  const { redirect_uri: uri, state } = input;
  return transact(services.db, async (tx) => {
    const now = services.clock.now();
    const { id: userId } = await lockSessionUser(services, tx, sessionId);
    const { client, asked } = await checkRequest(sqlIn(tx), input, endpoints, now);
    const allowed = scopes.filter((scope) => input.scopes.includes(scope));
    if (!allowed.every((scope) => asked.includes(scope)))
      throw badField('scopes', 'scopes must be among those that the app asks for');
    const { workspaceId } = actor;
    await endEarlier(tx, { workspaceId, userId, clientId: client.id });
    const [grant] = await sqlIn(tx).run(insertGrant, {
      workspaceId,
      userId,
      sessionId,
      clientId: client.id,
      scopes: allowed,
      resource: endpoints.resource,
      now,
      expiresAt: new Date(now.getTime() + GRANT_DAYS * DAY_MS),
      codeHash: hashToken(code),
      codeChallenge: input.code_challenge,
      redirectUri: uri,
      codeExpiresAt: new Date(now.getTime() + CODE_MS),
    });
    if (grant === undefined) throw forbidden();
    await tx.oauthClient.update({ where: { id: client.id }, data: { lastUsedAt: now } });
    await recordAudit(tx, {
      workspaceId,
      at: now,
      actor: auditActorOf(caller),
      action: 'app.connected',
      target: { kind: 'app', id: grant.id, name: client.name },
      after: { scopes: allowed, redirect_host: hostOf(uri) },
    });
    const details = { app: client.name, redirect_host: hostOf(uri) };
    await recordAccountEvent(tx, { userId, at: now, action: 'app_connected', ...device, details });
    return { url: returnUrl(uri, { code, state, iss: endpoints.issuer }) };
  });
}

async function endEarlier(tx: Tx, same: { workspaceId: number; userId: number; clientId: string }): Promise<void> {
  await tx.oauthGrant.deleteMany({ where: same });
  // The user is locked, so that concurrent calls count one after the other.
  if ((await tx.oauthGrant.count({ where: { userId: same.userId } })) >= MAX_APPS)
    throw conflict(`You have connected ${MAX_APPS} apps: disconnect one of them first`);
}

/** Adds parameters to the address of the app. `iss` protects apps that use several services (RFC 9207). */
function returnUrl(uri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
