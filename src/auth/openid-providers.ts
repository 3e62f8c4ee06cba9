/**
 * The configured OpenID providers, through openid-client: the authorization code flow with PKCE, `state` and `nonce`
 * (https://openid.net/specs/openid-connect-core-1_0.html). No function here may be called in a transaction.
 */
import type * as openid from 'openid-client';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { systemTicker, type Ticker } from '../core/ticker.ts';
import { HOUR_MS } from '../core/time.ts';
import { completenessOf, type EmailRules, type OpenidPerson, toPerson } from './openid-person.ts';

/** A configured provider. */
export type OpenidProvider = EmailRules & {
  /** Its name in the settings, in lower case. */
  id: string;
  /** Its display name. */
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
};

/** What is stored while a person is at the provider. */
export type OpenidSecrets = { state: string; nonce: string; codeVerifier: string };

/** The parameters that a provider adds to the return URL. */
export type OpenidReturn = { code?: string | undefined; iss?: string | undefined; error?: string | undefined };

export type OpenidProviders = {
  list: readonly Pick<OpenidProvider, 'id' | 'name' | 'issuer'>[];
  /** Returns the ID of the provider with this issuer, or null. */
  findByIssuer(issuer: string): string | null;
  /**
   * Creates the URL to which a person is sent. `mustSignIn` asks the provider to make them sign in again. Throws 503
   * PROVIDER_UNAVAILABLE.
   */
  createUrl(
    providerId: string,
    request: { redirectUri: string; mustSignIn: boolean },
  ): Promise<OpenidSecrets & { url: string }>;
  /**
   * Exchanges the code of a person who has returned. Throws 401 SIGN_IN_REFUSED if they or the provider declined, or if
   * the response does not belong to the request. Throws 503 PROVIDER_UNAVAILABLE if the provider is unavailable or
   * refuses this service.
   */
  identify(
    providerId: string,
    request: OpenidSecrets & { redirectUri: string },
    returned: OpenidReturn,
  ): Promise<OpenidPerson>;
};

const TIMEOUT_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 30;
/** How long the description of a provider is used before it is read again. Its keys are read more often. */
const METADATA_MS = HOUR_MS;
const RETRY_AFTER_SECONDS = 10;
/** The errors that say that the person or the provider declined (OpenID Connect Core, section 3.1.2.6). */
const DECLINED = new Set(['access_denied', 'login_required', 'consent_required', 'interaction_required']);

type Client = typeof openid;

type Cached = { config: Promise<openid.Configuration>; readAt: number };

/** Reads nothing until a provider is used, so that a provider that is down does not delay the start. */
export function createOpenidProviders(
  providers: readonly OpenidProvider[],
  log: Log,
  ticker: Ticker = systemTicker,
): OpenidProviders {
  const cache = new Map<string, Cached>();

  const configurationOf = (client: Client, provider: OpenidProvider): Promise<openid.Configuration> => {
    const cached = cache.get(provider.id);
    if (cached && ticker.now() - cached.readAt < METADATA_MS) return cached.config;
    const config = discover(client, provider);
    cache.set(provider.id, { config, readAt: ticker.now() });
    config.catch(() => cache.delete(provider.id));
    return config;
  };

  const call = async <Result>(
    providerId: string,
    work: (client: Client, config: openid.Configuration, provider: OpenidProvider) => Promise<Result>,
  ): Promise<Result> => {
    const provider = providers.find(({ id }) => id === providerId);
    if (provider === undefined) throw refused('The provider is no longer available: sign in another way');
    // Most deployments configure no providers, and loading the library would add 25 ms to the start.
    const client = await import('openid-client');
    const config = await configurationOf(client, provider).catch((error: unknown) => {
      throw unavailable(error, provider, log);
    });
    try {
      return await work(client, config, provider);
    } catch (error) {
      throw toFailure(client, error, provider, log);
    }
  };

  return {
    list: providers.map(({ id, name, issuer }) => ({ id, name, issuer })),

    findByIssuer: (issuer) => providers.find((provider) => isSameUrl(provider.issuer, issuer))?.id ?? null,

    createUrl: (providerId, { redirectUri, mustSignIn }) =>
      call(providerId, async (client, config) => {
        const secrets = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          codeVerifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: 'openid email profile',
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(secrets.codeVerifier),
          code_challenge_method: 'S256',
          ...(mustSignIn && { prompt: 'login', max_age: '0' }),
        });
        return { ...secrets, url: url.href };
      }),

    identify: (providerId, request, returned) =>
      call(providerId, async (client, config, provider) => {
        const tokens = await client.authorizationCodeGrant(config, toReturnUrl(request, returned), {
          expectedState: request.state,
          expectedNonce: request.nonce,
          pkceCodeVerifier: request.codeVerifier,
          idTokenExpected: true,
        });
        // `idTokenExpected` guarantees the claims.
        const claims = tokens.claims() as openid.IDToken;
        const completeness = completenessOf(claims, provider);
        // Many providers put the address and the name only there.
        const isNeeded = completeness !== 'all' && config.serverMetadata().userinfo_endpoint !== undefined;
        const info = isNeeded
          ? await client.fetchUserInfo(config, tokens.access_token, claims.sub).catch((error: unknown) => {
              if (completeness === 'not all') throw error;
              log.warn({ provider: provider.id, err: error }, 'Signed somebody in without their name');
              return {};
            })
          : {};
        return toPerson(claims, info, provider);
      }),
  };
}

/** Whether two issuer URLs are the same. The one in the settings may or may not end with a slash. */
function isSameUrl(a: string, b: string): boolean {
  return a === b || (URL.canParse(b) && new URL(a).href === new URL(b).href);
}

async function discover(
  client: Client,
  { issuer, clientId, clientSecret }: OpenidProvider,
): Promise<openid.Configuration> {
  const server = new URL(issuer);
  // The settings allow plain HTTP only on this machine, and not in production.
  const insecure = server.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  // Without this, the library accepts an ID token whatever its signature, as TLS already names the sender. A proxy that
  // ends TLS, or a provider on plain HTTP, would then be trusted with every account.
  const execute = [...insecure, client.enableNonRepudiationChecks];
  return client.discovery(
    server,
    clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authenticateWith(client, clientSecret),
    { timeout: TIMEOUT_SECONDS, execute },
  );
}

/**
 * Sends the secret in the header, which providers must support unless they say otherwise. If a provider accepts it only
 * in the body, sends it there.
 */
function authenticateWith(client: Client, clientSecret: string): openid.ClientAuth {
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const takesOnlyBody = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    return (takesOnlyBody ? post : basic)(server, ...rest);
  };
}

/**
 * The library derives the redirect URI from this URL, so the URL is built from the redirect URI that was sent with the
 * request, not from what a proxy passed on.
 */
function toReturnUrl({ redirectUri, state }: { redirectUri: string; state: string }, returned: OpenidReturn): URL {
  const url = new URL(redirectUri);
  url.searchParams.set('state', state);
  for (const [name, value] of Object.entries(returned)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

function toFailure(client: Client, error: unknown, provider: OpenidProvider, log: Log): AppError {
  const { id, name } = provider;
  if (error instanceof client.AuthorizationResponseError) {
    const isDeclined = DECLINED.has(error.error);
    if (!isDeclined) log.warn({ provider: id, reason: error.error }, 'An OpenID provider answered with an error');
    return refused(isDeclined ? `You did not sign in at ${name}` : `${name} could not sign you in: try again`, error);
  }
  if (isUnavailable(client, error)) return unavailable(error, provider, log);
  log.warn({ provider: id, err: error }, 'Rejected the response of an OpenID provider');
  return refused(`The response of ${name} was not accepted: start again`, error);
}

/**
 * Whether the provider is unavailable or refuses this service. A provider that sends something other than an OAuth
 * response, such as an error page, counts as unavailable.
 */
function isUnavailable(client: Client, error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.status >= 500 || error.error === 'invalid_client';
  // Without a network, `fetch` throws a bare TypeError.
  if (error instanceof TypeError) return true;
  const { code } = error as { code?: unknown };
  return code === 'OAUTH_TIMEOUT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON';
}

function unavailable(cause: unknown, { id, name }: OpenidProvider, log: Log): AppError {
  log.warn({ provider: id, err: cause }, 'An OpenID provider is unavailable or refuses this service');
  return new AppError('PROVIDER_UNAVAILABLE', `${name} does not respond: try again later`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('SIGN_IN_REFUSED', message, { cause });
}
