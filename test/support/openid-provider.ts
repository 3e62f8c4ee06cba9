/** Real OpenID providers on this machine, and a browser without scripts that signs in at them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { OpenidProvider } from '../../src/auth/openid-providers.ts';
import type { Answer } from './http.ts';
import { checkAnswer } from './openapi-check.ts';

/** A person at a provider: the claims about them. */
export type Person = { sub: string; email?: string; email_verified?: unknown; name?: string; upn?: string };

export type TestProvider = {
  /** Its settings, as the service has them. */
  settings: OpenidProvider;
  /** Allows the service at this URL to send people. Call it once the service listens. */
  open(serviceUrl: string): void;
  people: Map<string, Person>;
  /** Who signs in at it next; null declines. */
  signingIn: { person: Person | null };
  /** Changes the JSON that it answers, such as at `token` and `userinfo`. */
  change: { answer: ((route: string, body: Record<string, unknown>) => Record<string, unknown>) | null };
  /** Its key for ID tokens. */
  key: KeyObject;
  /** Breaks every request from now on, as a provider that is down, or until it is called with false. */
  fail(isDown: boolean): void;
  close(): Promise<void>;
};

/** Starts a provider. Nobody can sign in before `open`. */
export async function startProvider(id: string, rules: Partial<OpenidProvider> = {}): Promise<TestProvider> {
  let handle: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  let isDown = false;
  const server = createServer((request, response) => {
    if (isDown || handle === null) request.socket.destroy();
    else handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: 'lynxroom', clientSecret: `secret of ${id}` };
  const settings = { id, name: `Provider ${id}`, issuer, ...client, emailClaim: 'email', trustsEmail: false, ...rules };
  const people = new Map<string, Person>();
  const signingIn: TestProvider['signingIn'] = { person: null };
  const change: TestProvider['change'] = { answer: null };
  const key = createSigningKey();
  return {
    settings,
    people,
    signingIn,
    change,
    key,
    open(serviceUrl) {
      const provider = createProvider(settings, `${serviceUrl}/sign-in/return`, people, key);
      provider.use(async (context, next) => {
        await next();
        if (context.oidc === undefined) return;
        const { route } = context.oidc;
        // As many providers do. Without it, the library refuses a token without a signature before it looks for one.
        if (route === 'discovery') context.body.id_token_signing_alg_values_supported = ['RS256', 'none'];
        if (change.answer !== null) context.body = change.answer(route, context.body);
      });
      const callback = provider.callback();
      handle = (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return callback(request, response);
        answerInteraction(provider, signingIn, request, response).catch((error: unknown) => {
          response.statusCode = 500;
          response.end(String(error));
        });
      };
    },
    fail(value) {
      isDown = value;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function createSigningKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

/** The ID token of an answer, with more claims, which the key signs with RS256; without a key, with `alg: none`. */
export function signAgain({ id_token }: Record<string, unknown>, key: KeyObject | null, claims: object = {}): string {
  const parts = String(id_token).split('.', 2);
  const [header, payload] = parts.map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const content = [key === null ? { alg: 'none' } : header, { ...payload, ...claims }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = key === null ? '' : sign('RSA-SHA256', Buffer.from(content), key).toString('base64url');
  return `${content}.${signature}`;
}

function createProvider(
  settings: OpenidProvider,
  redirectUri: string,
  people: Map<string, Person>,
  key: KeyObject,
): Provider {
  return new Provider(settings.issuer, {
    clients: [{ client_id: settings.clientId, client_secret: settings.clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'upn'], profile: ['name'] },
    findAccount: (_context: unknown, sub: string) => {
      const person = people.get(sub);
      return person && { accountId: sub, claims: () => person };
    },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
}

/** Answers the pages of the provider, on which the person signs in and agrees. */
async function answerInteraction(
  provider: Provider,
  { person }: TestProvider['signingIn'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (person === null) {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
  } else if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
  } else {
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: params.client_id ?? '' });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    if (prompt.details.missingOIDCClaims) grant.addOIDCClaims(prompt.details.missingOIDCClaims);
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
}

/** Keeps cookies by origin, and follows redirects until one leads to `stopAt`. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };

  return {
    send,
    cookiesOf: jarOf,
    /** Posts JSON from a page of the same origin. */
    async post(url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: new URL(url).origin, ...headers },
        body: JSON.stringify(body),
      });
      const answer: Answer = { status: response.status, headers: response.headers, body: await response.json() };
      checkAnswer('POST', new URL(url).pathname, answer);
      return answer;
    },
    /** Opens a page and follows redirects. Returns the parameters of the first URL whose path is `stopAt`. */
    async open(url: string, stopAt = '/sign-in/return'): Promise<Record<string, string>> {
      let next = url;
      for (let hops = 0; hops < 20; hops += 1) {
        if (new URL(next).pathname === stopAt) return Object.fromEntries(new URL(next).searchParams);
        const response = await send(next);
        const location = response.headers.get('location');
        if (location === null) throw new Error(`${response.status} at ${next}: ${await response.text()}`);
        next = new URL(location, next).href;
      }
      throw new Error('Too many redirects');
    },
  };
}
