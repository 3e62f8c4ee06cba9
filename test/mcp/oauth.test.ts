/** People connect agents with OAuth: from the first 401 to the end of the access. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { pruneApps } from '../../src/features/apps/clients.ts';
import { lockAccount, unlockAccount } from '../../src/features/auth/operator.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Person, type Team } from '../support/world.ts';
import { bookMeeting, shareFile } from './jobs.ts';
import { connectApp, consent, exchange, refresh, register, send, statusOf } from './oauth-client.ts';

const [MISSES, CALLS] = [60, 90];
const settings = { reauthenticationMinutes: 0 };
let app: TestApp;
let team: Team;
beforeAll(async () => {
  // The tests advance the clock.
  app = await startTestApp({ limits: { publicPerAddress: MISSES, perUser: CALLS }, settings });
  team = await addTeam(app);
});
afterAll(() => app.close());

const allowedBy = (person: Person, scopes?: string[]) => (url: URL) => consent(app, person, team.id, url, scopes);

/** Connects an app for a person, and returns its tokens. */
async function connect(person: Person, { scope = 'write', workspaceId = team.id } = {}) {
  const registration = await register(app, { scope });
  const returned = await consent(app, person, workspaceId, registration.url);
  const { status, body } = await exchange(app, registration, returned);
  expect(status, JSON.stringify(body)).toBe(200);
  return { registration, returned, access: String(body.access_token), refreshToken: String(body.refresh_token) };
}

async function appsOf(person: Person) {
  return (await person.client.apps.list.query()).apps;
}

test('an app of the SDK registers, is allowed, shares a file, books a meeting, and is disconnected', async () => {
  const before = await lastAuditId(app);
  const { agent, tokens } = await connectApp(app, allowedBy(team.admin, ['write', 'admin']));
  expect(tokens()).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'write admin' });
  await shareFile(agent, 'oauth.pdf');
  await bookMeeting(app, agent, 'consult-oauth');
  const { data } = await agent.call('labels_create', { name: 'Obsolete' });
  await agent.call('call_operation', { operation: 'labels.delete', arguments: { labelId: data.label.id } });
  const entries = await auditOf(app, team.id, before);
  expect(entries.find(({ action }) => action === 'app.connected')).toMatchObject({
    details: { name: 'Example Agent', after: { redirect_host: 'agent.example.com' } },
  });
  expect(entries.find(({ action }) => action === 'label.deleted')).toMatchObject({
    actor: ['user', team.admin.id, null],
    actorDetails: { name: team.admin.name, via: 'mcp' },
  });

  // After an hour, the SDK refreshes its tokens by itself.
  const first = tokens();
  app.clock.advance(HOUR_MS + MINUTE_MS);
  expect(await agent.toolNames()).toContain('library_list');
  expect(tokens().access_token).not.toBe(first.access_token);
  expect(tokens().refresh_token).not.toBe(first.refresh_token);

  const [shown] = await appsOf(team.admin);
  expect(shown).toMatchObject({
    name: 'Example Agent',
    redirect_host: 'agent.example.com',
    workspace_id: team.id,
    scopes: ['write', 'admin'],
    last_used_address: '127.0.0.1',
  });
  const appId = shown?.id ?? 0;
  await expect(team.owner.client.apps.disconnect.mutate({ appId })).rejects.toThrow('App not found');
  await team.admin.client.apps.disconnect.mutate({ appId });
  await expect(agent.call('library_list')).rejects.toThrow();
  expect(await statusOf(app, first.access_token)).toBe(401);
  expect((await auditOf(app, team.id, before)).at(-1)).toMatchObject({ action: 'app.disconnected' });
  await agent.client.close();
});

test('the parameters of the URL narrow an app further, and its role is that of the person', async () => {
  const { agent } = await connectApp(app, allowedBy(team.member, ['write']), { query: '?groups=library&read_only=1' });
  expect(await agent.toolNames()).not.toContain('labels_create');
  expect(await agent.toolNames()).not.toContain('rooms_list_in_workspace');
  await agent.client.close();
  const { access } = await connect(team.member, { scope: 'admin' });
  const headers = { authorization: `Bearer ${access}`, accept: 'application/json, text/event-stream' };
  const call = { name: 'webhooks_list', arguments: {} };
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  });
  // `admin` covers webhooks, but a member does not.
  expect(await response.text()).toContain('This needs the role admin');
  // The audience of the token is /mcp alone.
  for (const path of ['/api/auth/me', `${team.path}/library`])
    expect((await app.http.get(path, access)).status).toBe(401);
});

test('expired tokens are no wrong credentials of the network, which hosted apps share', async () => {
  const { access } = await connect(team.member);
  app.clock.advance(HOUR_MS + MINUTE_MS);
  const call = async (token: string, localAddress: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await callFrom(`${app.url}/mcp`, { method: 'POST', localAddress, headers, json: {} });
    return `${answer.status} ${answer.headers['www-authenticate']?.slice(0, 28)}`;
  };
  const leads = '401 Bearer error="invalid_token"';
  for (let count = 0; count <= MISSES; count += 1) expect(await call(access, '127.0.9.3')).toBe(leads);
  // The app has a limit of its own. Counts start again after a minute, so a slow machine needs more calls.
  let last = leads;
  for (let count = 0; last === leads && count < 5 * CALLS; count += 1) last = await call(access, '127.0.9.3');
  expect(last).toMatch(/^429/);
  expect(await call(`lna_${'A'.repeat(43)}`, '127.0.9.3')).toBe(leads);
});

test('an app that refreshes in a loop gets 429, which uses up no token', async () => {
  const { registration, refreshToken } = await connect(team.member);
  const tokens = [refreshToken];
  const refreshLast = () => refresh(app, registration.clientId, tokens.at(-1) ?? '');
  let answer = await refreshLast();
  // Counts start again after a minute, so a slow machine needs more calls.
  for (; answer.status === 200 && tokens.length < 5 * CALLS; answer = await refreshLast())
    tokens.push(answer.body.refresh_token);
  expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
  const { refreshedAt } = await app.services.db.oauthToken.findUniqueOrThrow({
    where: { refreshHash: hashToken(tokens.at(-1) ?? '') },
  });
  expect(refreshedAt).toBeNull();
});

describe('a reuse ends the access', () => {
  test('of a refresh token, later and at the same time', async () => {
    const { registration, access, refreshToken } = await connect(team.member);
    const next = await refresh(app, registration.clientId, refreshToken);
    expect(next.status).toBe(200);
    expect([await statusOf(app, access), await statusOf(app, next.body.access_token)]).toEqual([200, 200]);
    expect(await refresh(app, registration.clientId, refreshToken)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: expect.stringContaining('used before') },
    });
    for (const token of [access, next.body.access_token]) expect(await statusOf(app, token)).toBe(401);
    expect((await refresh(app, registration.clientId, next.body.refresh_token)).status).toBe(400);

    const other = await connect(team.member);
    const both = await concurrently(2, () => refresh(app, other.registration.clientId, other.refreshToken));
    expect(countStatuses(both)).toEqual({ 200: 1, 400: 1 });
    const issued = both.find(({ status }) => status === 200)?.body.access_token;
    for (const token of [other.access, issued]) expect(await statusOf(app, token)).toBe(401);
    const log = await app.services.db.accountEvent.findMany({
      where: { userId: team.member.id },
      orderBy: { id: 'desc' },
    });
    expect(log[0]).toMatchObject({ action: 'app_disconnected', details: { app: 'Example Agent', reason: 'reuse' } });
  });

  test('of a code, later and at the same time', async () => {
    const { registration, returned, access } = await connect(team.member);
    expect((await exchange(app, registration, returned)).body).toMatchObject({ error: 'invalid_grant' });
    expect(await statusOf(app, access)).toBe(401);

    const other = await register(app);
    const back = await consent(app, team.member, team.id, other.url);
    const both = await concurrently(2, () => exchange(app, other, back));
    expect(countStatuses(both)).toEqual({ 200: 1, 400: 1 });
    expect(await statusOf(app, both.find(({ status }) => status === 200)?.body.access_token)).toBe(401);
  });
});

test('a registration ends after a day, unless somebody has connected the app', async () => {
  const [unused, used] = [await register(app), await connect(team.admin)];
  app.clock.advance(DAY_MS + MINUTE_MS);
  const { token: session } = (
    await app.http.post('/api/auth/login', undefined, { email: team.admin.email, password: PASSWORD })
  ).body;
  const ask = (url: URL) => app.http.get(`/api/auth/apps/request${url.search}`, session);
  expect([(await ask(unused.url)).status, (await ask(used.registration.url)).status]).toEqual([400, 200]);
  await pruneApps(app.services);
  const left = await app.services.db.oauthClient.findMany({ select: { id: true, network: true } });
  expect(left.filter(({ network }) => network !== null)).toEqual([]);
  expect(left.map(({ id }) => id)).toContain(used.registration.clientId);
  expect(left.map(({ id }) => id)).not.toContain(unused.clientId);
});

describe('the access ends', () => {
  const ends: Record<string, (tokens: Awaited<ReturnType<typeof connect>>, person: Person) => Promise<unknown>> = {
    'when the app revokes its token': async ({ registration, refreshToken }) => {
      const fields = new URLSearchParams({ token: refreshToken, client_id: registration.clientId });
      expect((await send(app, '/oauth/revoke', fields)).status).toBe(200);
    },
    'with a change of the password': (_tokens, person) =>
      person.client.auth.updateMe.mutate({ password: 'an entirely new password', current_password: PASSWORD }),
    'with a reset of the password that keeps the rest': async (_tokens, { email }) => {
      await app.http.post('/api/auth/forgot-password', undefined, { email });
      const token = await tokenFor(app, email, 'reset-password');
      const reset = { token, password: 'an entirely new password', keep_access: true };
      expect((await app.http.post('/api/auth/reset-password', undefined, reset)).status).toBe(200);
    },
    'when an operator locks the account': async (_tokens, { email }) => {
      await lockAccount(app.services, email);
      await unlockAccount(app.services, email);
    },
    'when the person is removed': (_tokens, { id }) =>
      team.owner.client.members.remove.mutate({ id: team.id, userId: id }),
    'when the app is connected again': async ({ registration }, person) => {
      await consent(app, person, team.id, registration.url);
    },
    'after 30 days, whatever is refreshed': async () => {
      app.clock.advance(30 * DAY_MS);
      await pruneApps(app.services);
    },
  };

  test.each(Object.entries(ends))('%s', async (_title, end) => {
    const person = (await addTeam(app)).outsider;
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    await person.client.workspaces.join.mutate({ token });
    // Without this, the reset of the password would be the first proof of the address.
    const link = { token: await tokenFor(app, person.email, 'verify-email') };
    await app.http.post('/api/auth/verify-email', person.token, link);
    const tokens = await connect(person);
    expect(await statusOf(app, tokens.access)).toBe(200);
    await end(tokens, person);
    expect(await statusOf(app, tokens.access)).toBe(401);
    expect((await refresh(app, tokens.registration.clientId, tokens.refreshToken)).body).toMatchObject({
      error: 'invalid_grant',
    });
  });
});
