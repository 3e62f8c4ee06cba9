/** Workspaces that require a second factor, or signing in by a provider, of the sessions of their members. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { removeSecondFactorOf } from '../../src/features/auth/operator.ts';
import { book, createPage } from '../bookings/pages.ts';
import { type Outcome, transports, viaRest } from '../contract/transports.ts';
import { consent, exchange, register } from '../mcp/oauth-client.ts';
import { operations, rawOperations } from '../support/api.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream } from '../support/event-stream.ts';
import { createBrowser, startProvider, type TestProvider } from '../support/openid-provider.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Person, type Team } from '../support/world.ts';

let app: TestApp;
let provider: TestProvider;
let delivery: TestDelivery;
beforeAll(async () => {
  provider = await startProvider('acme');
  app = await startTestApp({ openidProviders: [provider.settings] });
  provider.open(app.url);
  delivery = await startTestDelivery(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
  await provider.close();
});

const needsFactor = [403, 'WORKSPACE_REQUIRES_SECOND_FACTOR'];

/** Sets a second factor up in the session of the person. Returns the secret. */
async function addSecondFactor({ token }: Pick<Person, 'token'>): Promise<string> {
  const { secret } = (await app.http.post('/api/auth/second-factor', token)).body;
  const code = codeOf(fromBase32(secret), stepAt(app.clock.now()));
  expect((await app.http.post('/api/auth/second-factor/confirm', token, { code })).status).toBe(200);
  return secret;
}

const require = (team: Team, required: string | null, token = team.owner.token, fields: object = {}) =>
  app.http.patch(`${team.path}/sign-in-requirement`, token, { required, ...fields });

/** A team that requires a second factor, which its owner has, and a room of the owner and one of the admin. */
async function addGuardedTeam(): Promise<Team & { rooms: { owner: string; admin: string } }> {
  const team = await addTeam(app);
  const create = async ({ token }: Person) =>
    (await app.http.post('/api/dashboard/rooms', token, { workspace_id: team.id })).body.room.name;
  const rooms = { owner: await create(team.owner), admin: await create(team.admin) };
  await addSecondFactor(team.owner);
  expect((await require(team, 'second_factor')).body).toEqual({
    required: 'second_factor',
    provider: null,
    satisfied: 1,
  });
  return { ...team, rooms };
}

async function codeOfAnswer(answer: Promise<{ status: number; body: unknown }>): Promise<unknown[]> {
  const { status, body } = await answer;
  // `as`: the body of every error has a code.
  return [status, (body as { code?: string }).code];
}

describe('a second factor', () => {
  test('all operations of the workspace refuse a session without it, over both transports', async () => {
    const team = await addGuardedTeam();
    const { token } = team.admin;
    const named = [
      ...operations.filter(({ minRole }) => minRole !== null && minRole !== 'owner').map(({ name }) => name),
      ...rawOperations
        .filter(({ access }) => access.minRole != null && access.minRole !== 'owner')
        .map(({ name }) => name),
    ].filter((name) => name !== 'workspaces.signInRequirement');
    expect(named.length).toBeGreaterThan(80);
    const input = new Proxy(
      { id: team.id, workspaceId: team.id },
      { get: (target, name) => Reflect.get(target, name) ?? 1 },
    );
    for (const [kind, transport] of transports)
      for (const name of named) {
        if (transport !== viaRest && rawOperations.some((one) => one.name === name)) continue;
        const outcome: Outcome = await transport(app, { name, token, input });
        expect([kind, name, ...(await codeOfAnswer(Promise.resolve(outcome)))]).toEqual([kind, name, ...needsFactor]);
      }
    const state = await app.http.get(`${team.path}/sign-in-requirement`, token);
    expect(state.body).toEqual({ required: 'second_factor', provider: null, satisfied: 0 });
    expect((await app.http.get('/api/workspaces', token)).body.workspaces).toHaveLength(2);
    const { body } = await app.http.get(team.path, token);
    expect(body.message).toContain('set one up (POST /api/auth/second-factor)');

    await addSecondFactor(team.admin);
    expect((await app.http.get(team.path, token)).status).toBe(200);
    expect((await app.http.get(`${team.path}/sign-in-requirement`, token)).body.satisfied).toBe(1);
  });

  test('rooms and recordings that are named without their workspace are refused, and left out of lists', async () => {
    const team = await addGuardedTeam();
    const { token } = team.admin;
    const room = `/api/dashboard/rooms/${team.rooms.admin}`;
    const recordingId = await startRecording(team);
    const calls = [
      app.http.get(room, token),
      app.http.patch(room, token, { display_name: 'Mine' }),
      app.http.get(`/api/dashboard/rooms/${team.rooms.owner}`, token),
      app.http.get(`${room}/participants`, token),
      app.http.post(`${room}/lock`, token),
      app.http.post('/api/dashboard/rooms', token, { workspace_id: team.id }),
      app.http.get(`/api/dashboard/recordings/${recordingId}/download`, token),
      app.http.post(`/api/rooms/${team.rooms.admin}/join`, token, { name: 'Adam' }),
    ];
    for (const call of calls) expect(await codeOfAnswer(call)).toEqual(needsFactor);
    const listed = async () => [
      (await app.http.get('/api/dashboard/rooms', token)).body.rooms.length,
      (await app.http.get('/api/dashboard/recordings', token)).body.recordings.length,
    ];
    expect(await listed()).toEqual([0, 0]);
    await addSecondFactor(team.admin);
    expect(await listed()).toEqual([1, 1]);
  });

  async function startRecording(team: Team & { rooms: { admin: string } }): Promise<number> {
    await require(team, null);
    const { body } = await app.http.post(`/api/dashboard/rooms/${team.rooms.admin}/recordings`, team.admin.token, {});
    await require(team, 'second_factor');
    return body.recording.id;
  }

  test('the session that proves it satisfies, others of the account only after they have confirmed it', async () => {
    const team = await addGuardedTeam();
    const login = async (fields: object = {}): Promise<string> =>
      (await app.http.post('/api/auth/login', undefined, { email: team.member.email, password: PASSWORD, ...fields }))
        .body.token;
    const before = await login();
    const secret = await addSecondFactor(team.member);
    const read = async (token: string) => (await app.http.get(team.path, token)).status;
    expect([await read(team.member.token), await read(before)]).toEqual([200, 403]);
    const next = () => {
      app.clock.advance(30_000);
      return codeOf(fromBase32(secret), stepAt(app.clock.now()));
    };
    await app.http.post('/api/auth/reauthenticate', before, { password: PASSWORD, code: next() });
    expect(await read(before)).toBe(200);
    expect(await read(await login({ code: next() }))).toBe(200);
    await app.http.delete('/api/auth/second-factor', before);
    expect([await read(before), await read(team.member.token)]).toEqual([403, 403]);
  });

  test('API keys keep working; apps need to be connected in a session that satisfies it', async () => {
    const team = await addTeam(app);
    const key = (await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'Import' })).body.apiKey
      .full_key;
    const connect = async (): Promise<string> => {
      const registration = await register(app);
      const returned = await consent(app, team.admin, team.id, registration.url);
      return String((await exchange(app, registration, returned)).body.access_token);
    };
    const call = async (token: string): Promise<unknown[]> =>
      codeOfAnswer(
        app.http.call('POST', '/mcp', {
          token,
          json: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          headers: { accept: 'application/json, text/event-stream' },
        }),
      );
    const earlier = await connect();
    expect((await call(earlier))[0]).toBe(200);
    await addSecondFactor(team.owner);
    await require(team, 'second_factor');
    expect((await call(earlier))[0]).toBe(403);
    expect((await call(key))[0]).toBe(200);
    expect((await app.http.get(team.path, key)).status).toBe(200);
    expect((await app.http.get('/api/dashboard/rooms', key)).status).toBe(200);
    await addSecondFactor(team.admin);
    expect((await call(await connect()))[0]).toBe(200);
    expect((await call(earlier))[0]).toBe(403);
  });

  test('a calendar feed has the bookings of the workspace if its session satisfied it', async () => {
    const team = await addTeam(app);
    const page = await createPage(app, team);
    const day = DAY_MS / 1_000;
    const noon = (Math.floor(app.clock.now().getTime() / DAY_MS) + 2) * day + day / 2;
    expect((await book(app, page.slug, noon)).status).toBe(200);
    const createFeed = async (): Promise<string> =>
      new URL((await app.http.post('/api/auth/calendar-feed', team.admin.token)).body.feed.url).pathname;
    const isListed = async (path: string) => (await (await fetch(app.url + path)).text()).includes('BEGIN:VEVENT');
    const earlier = await createFeed();
    expect(await isListed(earlier)).toBe(true);
    await addSecondFactor(team.owner);
    await require(team, 'second_factor');
    expect(await isListed(earlier)).toBe(false);
    expect(await isListed(await createFeed())).toBe(false);
    await addSecondFactor(team.admin);
    const feed = await createFeed();
    expect(await isListed(feed)).toBe(true);
    await removeSecondFactorOf(app.services, team.admin.email);
    expect(await isListed(feed)).toBe(false);
    expect(await codeOfAnswer(app.http.get(team.path, team.admin.token))).toEqual(needsFactor);
  });

  test('turning it on ends the live updates of sessions that do not satisfy it', async () => {
    const team = await addTeam(app);
    await addSecondFactor(team.owner);
    const streams = await Promise.all(
      [team.owner, team.member].map(({ token }) => openEventStream(`${app.url}${team.path}/events/stream`, token)),
    );
    await Promise.all(streams.map((stream) => stream.first('stream.opened')));
    await require(team, 'second_factor');
    const [own, other] = streams;
    expect((await other?.first('stream.closed'))?.data.code).toBe('WORKSPACE_REQUIRES_SECOND_FACTOR');
    await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
    await own?.first('room.created');
    own?.close();
  });

  test('only an owner who satisfies it turns it on, with a recent sign-in and an entry of the audit log', async () => {
    const team = await addTeam(app);
    expect(await codeOfAnswer(require(team, 'second_factor'))).toEqual(needsFactor);
    expect((await app.http.get(`${team.path}/sign-in-requirement`, team.owner.token)).body.required).toBeNull();
    await addSecondFactor(team.owner);
    expect((await require(team, 'second_factor', team.admin.token)).status).toBe(403);
    const [personal] = (await app.http.get('/api/workspaces', team.owner.token)).body.workspaces;
    const inPersonal = await app.http.patch(`/api/workspaces/${personal.id}/sign-in-requirement`, team.owner.token, {
      required: 'second_factor',
    });
    expect([inPersonal.status, inPersonal.body.message]).toEqual([
      400,
      'The Personal workspace has no other members: create a workspace',
    ]);

    const before = await lastAuditId(app);
    for (const required of ['second_factor', 'second_factor', null]) await require(team, required);
    const none = { required: null, issuer: null };
    const factor = { required: 'second_factor', issuer: null };
    expect((await auditOf(app, team.id, before)).map(({ action, actor, details }) => [action, actor, details])).toEqual(
      [
        ['workspace.sign_in_changed', ['user', team.owner.id, null], { name: 'Team', before: none, after: factor }],
        ['workspace.sign_in_changed', ['user', team.owner.id, null], { name: 'Team', before: factor, after: none }],
      ],
    );

    await app.services.db.session.updateMany({
      where: { tokenHash: hashToken(team.owner.token) },
      data: { authenticatedAt: new Date(app.clock.now().getTime() - 24 * 3_600_000) },
    });
    expect(await codeOfAnswer(require(team, null))).toEqual([403, 'REAUTHENTICATION_REQUIRED']);
  });

  test('a write that waits while it is turned on is refused', async () => {
    const team = await addTeam(app);
    await addSecondFactor(team.owner);
    const [, ...writes] = await Promise.all([
      require(team, 'second_factor'),
      ...Array.from({ length: 8 }, () => app.http.post(`${team.path}/invite`, team.admin.token)),
    ]);
    for (const { status } of writes) expect([200, 403]).toContain(status);
    expect(await codeOfAnswer(app.http.post(`${team.path}/invite`, team.admin.token))).toEqual(needsFactor);
  });
});

describe('a provider', () => {
  /** Signs in at the provider in a new browser, in a session or for a new one. */
  async function goToProvider(kind: 'start' | 'link' | 'reauthenticate', token?: string) {
    const browser = createBrowser();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const started = await browser.post(`${app.url}/api/auth/openid/${kind}`, { provider: 'acme' }, headers);
    return browser.post(`${app.url}/api/auth/openid/complete`, await browser.open(started.body.url));
  }

  test('members have to sign in there; an unlinked account no longer satisfies it', async () => {
    const team = await addTeam(app);
    const person = { sub: 'olive', email: team.owner.email, email_verified: true, name: 'Olive' };
    provider.people.set(person.sub, person);
    provider.signingIn.person = person;
    const turnOn = (token: string) => require(team, 'provider', token, { provider: 'acme' });
    expect(await codeOfAnswer(turnOn(team.owner.token))).toEqual([403, 'WORKSPACE_REQUIRES_PROVIDER']);
    expect((await goToProvider('link', team.owner.token)).status).toBe(200);
    expect(await codeOfAnswer(turnOn(team.owner.token))).toEqual([403, 'WORKSPACE_REQUIRES_PROVIDER']);

    const { token } = (await goToProvider('start')).body;
    expect((await turnOn(token)).body).toEqual({
      required: 'provider',
      provider: { id: 'acme', name: provider.settings.name },
      satisfied: 1,
    });
    const read = (credential: string) => codeOfAnswer(app.http.get(team.path, credential));
    expect(await read(team.owner.token)).toEqual([403, 'WORKSPACE_REQUIRES_PROVIDER']);
    await goToProvider('reauthenticate', team.owner.token);
    expect(await read(team.owner.token)).toEqual([200, undefined]);
    await addSecondFactor(team.member);
    expect(await read(team.member.token)).toEqual([403, 'WORKSPACE_REQUIRES_PROVIDER']);

    const [identity] = (await app.http.get('/api/auth/openid/identities', token)).body.identities;
    expect((await app.http.delete(`/api/auth/openid/identities/${identity.id}`, token)).status).toBe(200);
    expect(await read(token)).toEqual([403, 'WORKSPACE_REQUIRES_PROVIDER']);
  });
});
