/** Apps that get access to `/mcp` with OAuth: with the SDK, and request by request. */
import { createHash, randomBytes } from 'node:crypto';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { TestApp } from '../support/test-app.ts';
import type { Person } from '../support/world.ts';
import { type Agent, toAgent } from './mcp-client.ts';

export const REDIRECT = 'https://agent.example.com/callback';

type App = Pick<TestApp, 'url'>;

/** What a person does at the consent page. Returns where the browser goes. */
export async function consent(
  app: Pick<TestApp, 'http'>,
  person: Person,
  workspaceId: number,
  url: URL,
  scopes?: readonly string[],
): Promise<URL> {
  const sent = await fetch(url, { redirect: 'manual' });
  const page = new URL(sent.headers.get('location') ?? '');
  expect([sent.status, page.pathname]).toEqual([302, '/authorize']);
  const request = new URLSearchParams(page.searchParams.get('request') ?? '');
  const asked = Object.fromEntries(request);
  const shown = await app.http.get(`/api/auth/apps/request?${request}`, person.token);
  expect(shown.status, JSON.stringify(shown.body)).toBe(200);
  const input = { ...asked, scopes: scopes ?? shown.body.scopes };
  const { status, body } = await app.http.post(`/api/workspaces/${workspaceId}/apps`, person.token, input);
  expect(status, JSON.stringify(body)).toBe(200);
  return new URL(body.url);
}

export type AppSession = {
  agent: Agent;
  /** What the app has stored. */
  tokens(): StoredOAuthTokens;
};

/** Connects an app with the SDK, which finds the endpoints itself, and registers. `allow` is what the person does. */
export async function connectApp(
  app: App,
  allow: (url: URL) => Promise<URL>,
  { query = '' }: { query?: string } = {},
): Promise<AppSession> {
  const store: {
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens | undefined;
    verifier?: string;
    url?: URL;
  } = {};
  const state = randomBytes(8).toString('hex');
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'Example Agent', redirect_uris: [REDIRECT] },
    state: () => state,
    clientInformation: () => store.client,
    saveClientInformation: (client) => {
      store.client = client;
    },
    tokens: () => store.tokens,
    saveTokens: (tokens) => {
      store.tokens = tokens;
    },
    redirectToAuthorization: (url) => {
      store.url = url;
    },
    saveCodeVerifier: (verifier) => {
      store.verifier = verifier;
    },
    codeVerifier: () => store.verifier ?? '',
    // The default deletes nothing, so that the SDK would send the same refresh token again.
    invalidateCredentials: (scope) => {
      if (scope === 'all' || scope === 'tokens') store.tokens = undefined;
    },
  };
  const url = new URL(`${app.url}/mcp${query}`);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  const client = new Client({ name: 'test', version: '1' });
  await expect(client.connect(transport)).rejects.toThrow();
  if (store.url === undefined) throw new Error('The SDK sent nobody to the consent page');
  const returned = await allow(store.url);
  expect(`${returned.origin}${returned.pathname}`).toBe(REDIRECT);
  expect(returned.searchParams.get('state')).toBe(state);
  await transport.finishAuth(returned.searchParams);
  const connected = new Client({ name: 'test', version: '1' });
  await connected.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  return {
    agent: toAgent(connected),
    tokens() {
      if (store.tokens === undefined) throw new Error('The app has no tokens');
      return store.tokens;
    },
  };
}

export type Registration = { clientId: string; verifier: string; url: URL };

/** Registers an app, and returns the URL of the consent page. `changes` replaces parameters; undefined removes one. */
export async function register(
  app: App,
  changes: Record<string, string | undefined> = {},
  redirect = REDIRECT,
): Promise<Registration> {
  const { body } = await send(app, '/oauth/register', { client_name: 'Example Agent', redirect_uris: [redirect] });
  const verifier = randomBytes(32).toString('base64url');
  const parameters = {
    response_type: 'code',
    client_id: String(body.client_id),
    redirect_uri: redirect,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${app.url}/mcp`,
    ...changes,
  };
  const url = new URL(`${app.url}/oauth/authorize`);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return { clientId: String(body.client_id), verifier, url };
}

// biome-ignore lint/suspicious/noExplicitAny: responses have any shape, and tests check what they expect
export type Sent = { status: number; body: any; headers: Headers };

/** Sends JSON, or the fields of a form. */
export async function send(app: App, path: string, body: object | URLSearchParams): Promise<Sent> {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: isForm ? {} : { 'content-type': 'application/json' },
    body: isForm ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** Exchanges the code in the URL to which the browser went. */
export function exchange(
  app: App,
  { clientId, verifier }: Registration,
  returned: URL,
  changes: Record<string, string> = {},
): Promise<Sent> {
  const fields = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: returned.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: REDIRECT,
    ...changes,
  };
  return send(app, '/oauth/token', new URLSearchParams(fields));
}

export function refresh(
  app: App,
  clientId: string,
  token: string,
  changes: Record<string, string> = {},
): Promise<Sent> {
  const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...changes };
  return send(app, '/oauth/token', new URLSearchParams(fields));
}

/** The status of a message to `/mcp` with an access token. */
export async function statusOf(app: App, token: string): Promise<number> {
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  await response.text();
  return response.status;
}
