/** Stores the requests of people who are sent to an OpenID provider. A request is deleted when the person returns. */

import { createLinkToken, hashToken, isLinkToken } from '../../auth/tokens.ts';
import { AppError, notFound } from '../../core/errors.ts';
import { MINUTE_MS, toUnixSeconds } from '../../core/time.ts';
import { runWrite } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { DELETE_BATCH, inBatches } from '../../db/in-batches.ts';
import { bytes, int, nullable, oneOf, type RowOf, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { sessionEnded } from '../auth/session-user.ts';
import type { StartedOpenid, StartOpenidInput } from './schemas.ts';

export type Purpose = 'sign_in' | 'link' | 'reauthenticate';

/** Why a person is sent to a provider. `link` and `reauthenticate` need a session. */
export type Intent =
  | { purpose: 'sign_in'; sessionId: null }
  | { purpose: Exclude<Purpose, 'sign_in'>; sessionId: number };

/** `browserToken` is stored in a cookie, so that only the browser that started the sign-in can complete it. */
export type Started = StartedOpenid & { browserToken: string; expiresAt: Date };

/** The page that every provider sends people back to. */
export const RETURN_PATH = '/sign-in/return';

const REQUEST_MS = 10 * MINUTE_MS;

const insertRequest = statement('insert-openid-request', {
  params: {
    stateHash: bytes,
    browserHash: bytes,
    purpose: text,
    sessionId: nullable(int),
    provider: text,
    issuer: text,
    nonce: text,
    codeVerifier: text,
    redirectUri: text,
    returnTo: text,
    now: time,
    expiresAt: time,
  },
  sql: `
    insert into openid_requests (state_hash, browser_hash, purpose, session_id, provider, issuer, nonce, code_verifier,
      redirect_uri, return_to, created_at, expires_at)
    values ($stateHash, $browserHash, $purpose, $sessionId, $provider, $issuer, $nonce, $codeVerifier, $redirectUri,
      $returnTo, $now, $expiresAt)`,
});

const takeRequestOf = statement('take-openid-request', {
  params: { stateHash: bytes, browserHash: bytes },
  returns: {
    purpose: oneOf<Purpose>(),
    session_id: nullable(int),
    provider: text,
    issuer: text,
    nonce: text,
    code_verifier: text,
    redirect_uri: text,
    return_to: text,
    created_at: time,
    expires_at: time,
  },
  sql: `
    delete from openid_requests where state_hash = $stateHash and browser_hash = $browserHash
    returning purpose, session_id, provider, issuer, nonce, code_verifier, redirect_uri, return_to, created_at,
      expires_at`,
});

export type OpenidRequest = RowOf<typeof takeRequestOf>;

/**
 * Creates a request and the URL at the provider that the person opens. `origin` is the origin of this service in the
 * person's browser. Throws 401 SIGN_IN_EXPIRED if the session has ended, 404 for an unknown provider, and 503
 * PROVIDER_UNAVAILABLE.
 */
export async function startRequest(
  { db, clock, openid }: Pick<Services, 'db' | 'clock' | 'openid'>,
  origin: string,
  input: StartOpenidInput,
  { purpose, sessionId }: Intent,
): Promise<Started> {
  const provider = openid.list.find(({ id }) => id === input.provider);
  if (provider === undefined) throw notFound('Provider');
  const redirectUri = origin + RETURN_PATH;
  const { url, state, nonce, codeVerifier } = await openid.createUrl(provider.id, {
    redirectUri,
    mustSignIn: purpose === 'reauthenticate',
  });
  const browserToken = createLinkToken();
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + REQUEST_MS);
  const row = {
    stateHash: hashToken(state),
    browserHash: hashToken(browserToken),
    purpose,
    sessionId,
    provider: provider.id,
    issuer: provider.issuer,
    nonce,
    codeVerifier,
    redirectUri,
    returnTo: input.return_to,
    now,
    expiresAt,
  };
  try {
    await db.sql.run(insertRequest, row);
  } catch (error) {
    throw isForeignKeyViolation(error) ? sessionEnded() : error;
  }
  return { url, expires_at: toUnixSeconds(expiresAt), browserToken, expiresAt };
}

/**
 * Deletes and returns the request with this `state`. It works only once, and only in the browser that started it.
 * Throws 401 SIGN_IN_EXPIRED.
 */
export async function takeRequest(
  { db, clock, openid }: Pick<Services, 'db' | 'clock' | 'openid'>,
  state: string,
  browserToken: string | null,
): Promise<OpenidRequest> {
  if (browserToken === null || !isLinkToken(browserToken)) throw expired();
  const [request] = await db.sql.run(takeRequestOf, {
    stateHash: hashToken(state),
    browserHash: hashToken(browserToken),
  });
  if (request === undefined || request.expires_at <= clock.now()) throw expired();
  // The settings may have changed since the request started.
  const provider = openid.list.find(({ id }) => id === request.provider);
  if (provider?.issuer !== request.issuer) throw expired();
  return request;
}

function expired(): AppError {
  return new AppError(
    'SIGN_IN_EXPIRED',
    'This sign-in has expired, was already used or was started in another browser: start again',
  );
}

/** Deletes the requests of people who did not return in time. */
export async function deleteExpiredRequests({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const where = { expiresAt: { lte: clock.now() } };
  await inBatches(DELETE_BATCH, async (limit) => {
    const { count } = await runWrite(db, (tx) => tx.openidRequest.deleteMany({ where, limit }));
    return count;
  });
}
