/** Exchanges authorization codes and refresh tokens for new tokens (RFC 6749), and revokes tokens (RFC 7009). */
import { createHash } from 'node:crypto';
import { insertAccountEvent } from '../../audit/account-events.ts';
import { recordAudits } from '../../audit/record-audit.ts';
import { ACCESS_TOKEN_MS } from '../../auth/find-app-grant.ts';
import { createToken, hashToken, isToken } from '../../auth/tokens.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { SECOND_MS } from '../../core/time.ts';
import { bool, bytes, int, type RowOf, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { Client } from '../auth/sessions.ts';
import { OauthError } from './oauth-error.ts';

/** Refreshing once an hour takes 720 in 30 days. An app that refreshes more has to ask again. */
const MAX_TOKENS_PER_GRANT = 2_000;
/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

type Needs = Pick<Services, 'db' | 'clock'>;

export type CodeExchange = {
  code: string;
  clientId: string;
  redirectUri: string;
  verifier: string;
  resource: string | null;
};

export type Refresh = { refreshToken: string; clientId: string; resource: string | null };

/** A call of the token endpoint. */
export type TokenCall = {
  device: Client;
  /** The URL that the token is to be for. The service does not issue tokens that it would refuse there. */
  ownResource: string;
  /** Counts a refresh of the grant. Throws 429 for too many. */
  countRefresh: (grantId: number) => void;
};

/** The response of the token endpoint (RFC 6749 section 5.1). */
export type IssuedTokens = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
};

const grantFields = {
  id: int,
  workspace_id: int,
  user_id: int,
  client_id: text,
  scopes: texts,
  resource: text,
  expires_at: time,
  code_challenge: text,
  redirect_uri: text,
  code_expires_at: time,
  is_code_used: bool,
  app_name: text,
};
const grantColumns = `g.id, g.workspace_id, g.user_id, g.client_id, g.scopes, g.resource, g.expires_at,
      g.code_challenge, g.redirect_uri, g.code_expires_at, g.code_used_at is not null as is_code_used,
      (select name from oauth_clients c where c.id = g.client_id) as app_name`;

// Two uses of the same code or token run one after the other: each locks the grant first.
const lockByCode = statement('lock-app-grant-by-code', {
  params: { codeHash: bytes },
  returns: grantFields,
  sql: `select ${grantColumns} from oauth_grants g where g.code_hash = $codeHash for update`,
});

const lockByToken = statement('lock-app-grant-by-token', {
  params: { tokenHash: bytes },
  returns: grantFields,
  sql: `
    select ${grantColumns} from oauth_grants g
    where g.id = (select grant_id from oauth_tokens where refresh_hash = $tokenHash or access_hash = $tokenHash)
    for update`,
});

type Grant = RowOf<typeof lockByCode>;

const useCode = statement('use-app-code', {
  params: { id: int, now: time },
  sql: 'update oauth_grants set code_used_at = $now where id = $id',
});

const useRefreshToken = statement('use-app-refresh-token', {
  params: { refreshHash: bytes, now: time },
  returns: { grant_id: int },
  sql: `
    update oauth_tokens set refreshed_at = $now where refresh_hash = $refreshHash and refreshed_at is null
    returning grant_id`,
});

const insertTokens = statement('insert-app-tokens', {
  params: { grantId: int, accessHash: bytes, refreshHash: bytes, now: time },
  returns: { grant_id: int },
  sql: `
    insert into oauth_tokens (grant_id, access_hash, refresh_hash, created_at)
    select $grantId, $accessHash, $refreshHash, $now
    where (select count(*) from oauth_tokens where grant_id = $grantId) < ${MAX_TOKENS_PER_GRANT}
    returning grant_id`,
});

const deleteGrant = statement('end-app-grant', {
  params: { id: int },
  sql: 'delete from oauth_grants where id = $id',
});

/**
 * Exchanges a code for tokens. A code that is used twice ends the connection, because one of the two who had it is not
 * the app. Throws 400 `invalid_grant` or `invalid_target`.
 */
export function exchangeCode(
  services: Needs,
  { code, clientId, redirectUri, verifier, resource }: CodeExchange,
  { device, ownResource }: TokenCall,
): Promise<IssuedTokens> {
  return carryOut(services, async (sql, now) => {
    if (!isToken('lng_', code)) return invalidGrant();
    const [grant] = await sql.run(lockByCode, { codeHash: hashToken(code) });
    if (grant === undefined || grant.client_id !== clientId) return invalidGrant();
    if (grant.is_code_used) return endReused(sql, grant, now, device);
    const isOwn = grant.redirect_uri === redirectUri && matchesChallenge(verifier, grant.code_challenge);
    if (!isOwn || grant.code_expires_at <= now || grant.resource !== ownResource) return invalidGrant();
    if (resource !== null && resource !== grant.resource) return invalidTarget(grant);
    await sql.run(useCode, { id: grant.id, now });
    return issueTokens(sql, grant, now);
  });
}

/**
 * Exchanges a refresh token for new tokens. It works once: its reuse ends the connection, with all tokens that came
 * from it. Throws 400 `invalid_grant` or `invalid_target`, and 429 for too many calls.
 */
export function refreshTokens(
  services: Needs,
  { refreshToken, clientId, resource }: Refresh,
  { device, ownResource, countRefresh }: TokenCall,
): Promise<IssuedTokens> {
  return carryOut(services, async (sql, now) => {
    if (!isToken('lnf_', refreshToken)) return invalidGrant();
    const refreshHash = hashToken(refreshToken);
    const [grant] = await sql.run(lockByToken, { tokenHash: refreshHash });
    if (grant === undefined || grant.client_id !== clientId || grant.expires_at <= now) return invalidGrant();
    if (grant.resource !== ownResource) return invalidGrant();
    countRefresh(grant.id);
    if (resource !== null && resource !== grant.resource) return invalidTarget(grant);
    const [used] = await sql.run(useRefreshToken, { refreshHash, now });
    return used === undefined ? endReused(sql, grant, now, device) : issueTokens(sql, grant, now);
  });
}

/** Ends the connection of an app that gives back its access or refresh token. Does nothing for an unknown token. */
export async function revokeToken(
  { db, clock }: Needs,
  { token, clientId }: { token: string; clientId: string },
  device: Client,
): Promise<void> {
  if (!isToken('lna_', token) && !isToken('lnf_', token)) return;
  await db.sql.transact(async (sql) => {
    const [grant] = await sql.run(lockByToken, { tokenHash: hashToken(token) });
    if (grant?.client_id === clientId) await endGrant(sql, grant, clock.now(), { ...device, reason: 'app' });
  });
}

/** Commits also if the result is an error, and then throws it. */
async function carryOut(
  { db, clock }: Needs,
  work: (sql: Sql, now: Date) => Promise<IssuedTokens | OauthError>,
): Promise<IssuedTokens> {
  const result = await db.sql.transact((sql) => work(sql, clock.now()));
  if (result instanceof OauthError) throw result;
  return result;
}

function matchesChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  return equalInConstantTime(createHash('sha256').update(verifier).digest('base64url'), challenge);
}

async function issueTokens(sql: Sql, grant: Grant, now: Date): Promise<IssuedTokens | OauthError> {
  const [access, refresh] = [createToken('lna_'), createToken('lnf_')];
  const hashes = { accessHash: hashToken(access), refreshHash: hashToken(refresh) };
  const [issued] = await sql.run(insertTokens, { grantId: grant.id, ...hashes, now });
  if (issued === undefined)
    return new OauthError('invalid_grant', 'Refreshed too often: the person has to allow it again');
  const lifetime = Math.min(ACCESS_TOKEN_MS, grant.expires_at.getTime() - now.getTime());
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: Math.floor(lifetime / SECOND_MS),
    refresh_token: refresh,
    scope: grant.scopes.join(' '),
  };
}

async function endReused(sql: Sql, grant: Grant, now: Date, device: Client): Promise<OauthError> {
  await endGrant(sql, grant, now, { ...device, reason: 'reuse' });
  return new OauthError(
    'invalid_grant',
    'It was used before, so the connection has ended: the person has to allow it again',
  );
}

type Ending = Client & { reason: 'app' | 'reuse' };

async function endGrant(sql: Sql, grant: Grant, at: Date, { reason, address, userAgent }: Ending): Promise<void> {
  const { id, workspace_id: workspaceId, user_id: userId, app_name: name } = grant;
  await sql.run(deleteGrant, { id });
  const target = { kind: 'app', id, name } as const;
  const entry = { workspaceId, at, actor: { kind: 'system' }, action: 'app.disconnected', target } as const;
  await recordAudits(sql, [{ ...entry, after: { reason } }]);
  const details = { app: name, reason };
  await insertAccountEvent(sql, { userId, at, action: 'app_disconnected', address, userAgent, details });
}

/** The same for every mistake, so that nobody learns which part of a stolen code is wrong. */
function invalidGrant(): OauthError {
  return new OauthError('invalid_grant', 'The code or refresh token is wrong, has expired or was used');
}

function invalidTarget({ resource }: Grant): OauthError {
  return new OauthError('invalid_target', `resource must be ${resource}`);
}
