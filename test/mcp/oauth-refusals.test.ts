/** What the endpoints of OAuth refuse, and that `/mcp` leads clients to them. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { MAX_UNUSED_PER_NETWORK } from '../../src/features/apps/clients.ts';
import { MAX_APPS } from '../../src/features/apps/connect-app.ts';
import { isAllowedRedirect, isRegisteredRedirect } from '../../src/features/apps/redirect-uris.ts';
import { callFrom } from '../support/call-from.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { consent, exchange, REDIRECT, refresh, register, send, statusOf } from './oauth-client.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const allow = (url: URL) => consent(app, team.member, team.id, url);
const ask = ({ search }: URL) => app.http.get(`/api/auth/apps/request${search}`, team.member.token);

test('the metadata leads from /mcp to the endpoints', async () => {
  const refused = await fetch(`${app.url}/mcp`, { method: 'POST', headers: { authorization: 'Bearer lna_wrong' } });
  const metadata = `${app.url}/.well-known/oauth-protected-resource/mcp`;
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer error="invalid_token", resource_metadata="${metadata}"`,
  ]);
  const read = async (url: string) => (await fetch(url)).json();
  const resource = await read(metadata);
  expect(resource).toMatchObject({ resource: `${app.url}/mcp`, authorization_servers: [app.url] });
  expect(await read(`${app.url}/.well-known/oauth-protected-resource`)).toEqual(resource);
  expect(await read(`${app.url}/.well-known/oauth-authorization-server`)).toMatchObject({
    issuer: app.url,
    authorization_endpoint: `${app.url}/oauth/authorize`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  });
});

describe('the consent page refuses', () => {
  const cases: [string, Record<string, string | undefined>, string][] = [
    ['an unknown app', { client_id: 'A'.repeat(32) }, 'client_id'],
    ['an address that the app has not registered', { redirect_uri: `${REDIRECT}/more` }, 'redirect_uri'],
    ['another resource', { resource: 'https://other.example.com/mcp' }, 'resource'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'code_challenge_method'],
    ['a challenge without a method, which means plain', { code_challenge_method: undefined }, 'code_challenge_method'],
    ['no challenge', { code_challenge: undefined }, 'code_challenge'],
    ['tokens in the URL', { response_type: 'token' }, 'response_type'],
    ['a long state', { state: 'x'.repeat(1_501) }, 'state'],
    ['an unknown scope', { scope: 'read everything' }, 'scope'],
  ];
  test.each(cases)('%s', async (_title, changes, field) => {
    const { url } = await register(app, changes);
    const shown = await ask(url);
    expect([shown.status, shown.body.issues[0].path]).toEqual([400, field]);
    const input = { ...Object.fromEntries(url.searchParams), scopes: ['write'] };
    expect((await app.http.post(`${team.path}/apps`, team.member.token, input)).status).toBe(400);
  });

  test('scopes that the app has not asked for, another workspace, and more apps than fit', async () => {
    const { url } = await register(app, { scope: 'library:read' });
    const input = Object.fromEntries(url.searchParams);
    const post = (path: string, scopes: string[]) =>
      app.http.post(`${path}/apps`, team.member.token, { ...input, scopes });
    expect((await post(team.path, ['library:write'])).status).toBe(400);
    expect((await post(team.path, [])).status).toBe(400);
    const foreign = await addTeam(app, 'Foreign');
    expect((await post(foreign.path, ['library:read'])).status).toBe(403);
    const { client } = team.member;
    const grant = {
      ...{ workspaceId: team.id, userId: team.member.id, clientId: input.client_id ?? '', scopes: ['read'] },
      ...{ resource: 'x', redirectUri: REDIRECT, codeChallenge: 'x', createdAt: new Date(), codeExpiresAt: new Date() },
      expiresAt: new Date(Date.now() + MINUTE_MS),
    };
    const others = Array.from({ length: MAX_APPS }, (_, index) => ({ ...grant, codeHash: Buffer.from([index]) }));
    const { id: clientId } = await app.services.db.oauthClient.create({
      data: { id: 'other', name: 'Other', redirectUris: [REDIRECT], createdAt: new Date() },
    });
    await app.services.db.oauthGrant.createMany({ data: others.map((one) => ({ ...one, clientId })) });
    expect((await client.apps.list.query({ limit: 100 })).apps).toHaveLength(MAX_APPS);
    expect((await post(team.path, ['library:read'])).status).toBe(409);
    await app.services.db.oauthGrant.deleteMany({ where: { clientId } });
  });
});

describe('the token endpoint refuses', () => {
  const cases: [string, Record<string, string>, string][] = [
    ['another verifier', { code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['the address of another app', { redirect_uri: 'https://other.example.com/' }, 'invalid_grant'],
    ['another app', { client_id: 'A'.repeat(32) }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
    ['an unknown code', { code: `lng_${'A'.repeat(43)}` }, 'invalid_grant'],
    ['another kind of grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ];
  test('wrong parameters, with which nobody uses up the code', async () => {
    const registration = await register(app);
    const returned = await allow(registration.url);
    for (const [title, changes, error] of cases) {
      const { status, body } = await exchange(app, registration, returned, changes);
      expect([title, status, body.error]).toEqual([title, 400, error]);
    }
    const { status, body, headers } = await exchange(app, registration, returned, { resource: `${app.url}/mcp` });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const changes of [{ client_id: 'A'.repeat(32) }, { resource: 'https://other.example.com/mcp' }])
      expect((await refresh(app, registration.clientId, body.refresh_token, changes)).status).toBe(400);
    // An access token is no refresh token, and the other way round.
    expect((await refresh(app, registration.clientId, body.access_token)).status).toBe(400);
    expect(await statusOf(app, body.refresh_token)).toBe(401);
    expect((await refresh(app, registration.clientId, body.refresh_token)).status).toBe(200);
  });

  test('a code after a minute, a repeated parameter, and JSON', async () => {
    const registration = await register(app);
    const returned = await allow(registration.url);
    app.clock.advance(MINUTE_MS);
    expect((await exchange(app, registration, returned)).body).toMatchObject({ error: 'invalid_grant' });
    const twice = new URLSearchParams([
      ['code', 'a'],
      ['code', 'b'],
    ]);
    for (const body of [twice, { grant_type: 'refresh_token' }])
      expect(await send(app, '/oauth/token', body)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('tokens at another name of the service, for which they are not', async () => {
    const registration = await register(app);
    const returned = await allow(registration.url);
    const elsewhere = { url: app.url.replace('127.0.0.1', 'localhost') };
    const invalid = { status: 400, body: { error: 'invalid_grant' } };
    expect(await exchange(elsewhere, registration, returned)).toMatchObject(invalid);
    const { body } = await exchange(app, registration, returned);
    expect([await statusOf(app, body.access_token), await statusOf(elsewhere, body.access_token)]).toEqual([200, 401]);
    expect(await refresh(elsewhere, registration.clientId, body.refresh_token)).toMatchObject(invalid);
    expect((await refresh(app, registration.clientId, body.refresh_token)).status).toBe(200);
  });

  test('to tell strangers who revoke tokens which exist', async () => {
    const registration = await register(app);
    const { body } = await exchange(app, registration, await allow(registration.url));
    for (const [token, clientId] of [
      [body.access_token, 'another'],
      [`lna_${'A'.repeat(43)}`, registration.clientId],
    ]) {
      const fields = new URLSearchParams({ token, client_id: clientId });
      expect(await send(app, '/oauth/revoke', fields)).toMatchObject({ status: 200, body: {} });
    }
    expect(await statusOf(app, body.access_token)).toBe(200);
  });
});

describe('a registration', () => {
  test('has addresses on https or on the computer of the person', () => {
    const allowed = [REDIRECT, 'http://localhost:33418/', 'http://127.0.0.1/x?y=1', 'http://[::1]:1/'];
    const refused = [
      ...['http://agent.example.com/', 'javascript:alert(1)', 'data:text/html,x', 'cursor://callback', 'callback'],
      ...['https://agent.example.com/#x', 'https://user@agent.example.com/', 'http://127.0.0.1.example.com/'],
      ...[
        'https://agent.example.com/a b',
        'http://local\nhost:9/',
        ' https://agent.example.com/',
        'https://a.example/\u0085',
      ],
    ];
    expect(allowed.filter((uri) => !isAllowedRedirect(uri))).toEqual([]);
    expect(refused.filter(isAllowedRedirect)).toEqual([]);
    expect(isRegisteredRedirect(['http://localhost:1/x'], 'http://localhost:2/x')).toBe(true);
    for (const other of [
      'http://127.1:9/x',
      'http://127.0.0.1:9/a/../x',
      'http://127.0.0\n.1:9/x',
      'HTTP://127.0.0.1:9/x',
    ])
      expect(isRegisteredRedirect(['http://127.0.0.1/x'], other)).toBe(false);
    for (const other of ['http://LOCALHOST:9/x', 'http://localhost:/x', 'http://localhost:99999/x'])
      expect(isRegisteredRedirect(['http://localhost/x'], other)).toBe(false);
    expect(isRegisteredRedirect(['http://[::1]/x'], 'http://[::1]:9/x')).toBe(true);
    for (const other of ['http://localhost:2/y', 'http://127.0.0.1:1/x', 'https://localhost:1/x'])
      expect(isRegisteredRedirect(['http://localhost:1/x'], other)).toBe(false);
    for (const other of [`${REDIRECT}/`, 'https://agent.example.com:8443/callback', REDIRECT.toUpperCase()])
      expect(isRegisteredRedirect([REDIRECT], other)).toBe(false);
  });

  test('needs valid metadata', async () => {
    const cases: [object, string][] = [
      [{}, 'invalid_client_metadata'],
      [{ redirect_uris: [] }, 'invalid_client_metadata'],
      [{ redirect_uris: ['http://agent.example.com/'] }, 'invalid_redirect_uri'],
      [
        { redirect_uris: Array.from({ length: 3 }, () => `${REDIRECT}?${'x'.repeat(1_500)}`) },
        'invalid_client_metadata',
      ],
      [{ redirect_uris: [REDIRECT], client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
      [{ redirect_uris: [REDIRECT], grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ];
    for (const [metadata, error] of cases)
      expect(await send(app, '/oauth/register', metadata)).toMatchObject({ status: 400, body: { error } });
    const named = await send(app, '/oauth/register', { redirect_uris: [REDIRECT], client_name: ' \u202e ' });
    expect([named.status, named.body.client_name]).toEqual([201, 'agent.example.com']);
    expect(named.body).toMatchObject({ token_endpoint_auth_method: 'none' });
    expect(named.body).not.toHaveProperty('client_secret');
  });

  test('is limited by network while nobody connects the app', async () => {
    const json = { redirect_uris: [REDIRECT] };
    const from = (localAddress: string) =>
      callFrom(`${app.url}/oauth/register`, { method: 'POST', localAddress, json });
    for (let count = 1; count < MAX_UNUSED_PER_NETWORK; count += 1) expect((await from('127.0.9.1')).status).toBe(201);
    const last = (await from('127.0.9.1')).body as { client_id: string };
    expect((await from('127.0.9.1')).status).toBe(429);
    expect((await from('127.0.9.2')).status).toBe(201);
    // One that is connected does not count until it is disconnected.
    const { url } = await register(app, { client_id: last.client_id });
    await allow(url);
    const [connected] = (await team.member.client.apps.list.query()).apps;
    await team.member.client.apps.disconnect.mutate({ appId: connected?.id ?? 0 });
    expect((await from('127.0.9.1')).status).toBe(429);
    await allow(url);
    expect((await from('127.0.9.1')).status).toBe(201);
  });
});

test('the database has no secret as it is', async () => {
  const registration = await register(app);
  const returned = await allow(registration.url);
  const { body } = await exchange(app, registration, returned);
  const secrets = [
    returned.searchParams.get('code') ?? '',
    body.access_token,
    body.refresh_token,
    registration.verifier,
  ];
  const rows = await app.services.db.$queryRaw<{ row: string }[]>`
    select g::text as row from oauth_grants g union all select t::text from oauth_tokens t`;
  const stored = rows.map(({ row }) => row).join('\n');
  for (const secret of secrets) expect(stored).not.toContain(secret);
  expect(stored).toContain(createHash('sha256').update(body.access_token).digest('hex'));
});
