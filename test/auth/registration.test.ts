/** Who may create an account, by the setting of the operator. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { appRouter } from '../../src/routers/index.ts';
import { proceduresOf } from '../../src/trpc/call-procedure.ts';
import type { Meta } from '../../src/trpc/context.ts';
import type { Answer } from '../support/http.ts';
import { tokenFor } from '../support/mail.ts';
import { createBrowser, startProvider, type TestProvider } from '../support/openid-provider.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';

const INVITED_ONLY = 'This service takes new accounts by invitation only: open the link of your invitation';
const SPENT = 'An account was already created with this invitation: sign in, or ask for another invitation';
const CLOSED = 'This service takes no new accounts';
const SETUP_TOKEN = 'a token for the first account';

let count = 0;

function register(app: TestApp, fields: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  count += 1;
  const body = JSON.stringify({ name: 'Grace', email: `grace${count}@example.com`, password: PASSWORD, ...fields });
  return app.http.call('POST', '/api/auth/register', {
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const refusal = (message: string) => ({ status: 403, body: { code: 'FORBIDDEN', message } });

describe('with accounts', () => {
  let open: TestApp;
  let invited: TestApp;
  let closed: TestApp;
  let provider: TestProvider;
  let team: Team;
  beforeAll(async () => {
    provider = await startProvider('a');
    open = await startTestApp();
    team = await addTeam(open);
    const shared = { sharedDatabase: open, openidProviders: [provider.settings] };
    invited = await startTestApp({ ...shared, settings: { registration: 'invited', setupToken: SETUP_TOKEN } });
    closed = await startTestApp({ ...shared, settings: { registration: 'closed', setupToken: SETUP_TOKEN } });
  });
  afterAll(async () => {
    for (const app of [closed, invited, open]) await app.close();
    await provider.close();
  });

  async function invite(email: string): Promise<{ id: number; token: string }> {
    const { invitation } = await team.owner.client.invitations.create.mutate({ id: team.id, email, role: 'member' });
    return { id: invitation.id, token: await tokenFor(open, email, 'workspace-invitation') };
  }

  test('a service that is open says so, and takes everybody', async () => {
    expect((await open.http.get('/api/auth/openid/providers')).body.registration).toBe('open');
    expect((await register(open)).status).toBe(200);
  });

  test('by invitation only, an invite link or an invitation by mail is needed, over both transports', async () => {
    expect((await invited.http.get('/api/auth/openid/providers')).body.registration).toBe('invited');
    for (const invitation of [undefined, 'lnm_unknown', 'x', team.owner.token, SETUP_TOKEN])
      expect(await register(invited, { invitation })).toMatchObject(refusal(INVITED_ONLY));
    // The operator's token is for the first account alone.
    expect(await register(invited, { setup_token: SETUP_TOKEN })).toMatchObject(refusal(INVITED_ONLY));
    const { token: link } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    expect((await register(invited, { invitation: link })).status).toBe(200);
    const { token } = await invite('wanda@example.com');
    const { status, body } = await register(invited, { invitation: token });
    expect(status).toBe(200);
    // The account exists, and is a member only after it has accepted.
    expect((await invited.http.get(team.path, body.token)).status).toBe(403);
    const input = { name: 'Ada', email: `typed${count}@example.com`, password: PASSWORD };
    const typed = await invited.http.post('/trpc/auth.register', undefined, input);
    expect([typed.status, typed.body.error.message]).toEqual([403, INVITED_ONLY]);
    await team.owner.client.workspaces.revokeInvite.mutate({ id: team.id });
    expect(await register(invited, { invitation: link })).toMatchObject(refusal(INVITED_ONLY));
  });

  test('an invitation by mail admits one account of several at once, and another once it is sent again', async () => {
    const { id, token } = await invite('race@example.com');
    // An account that could not be created spends nothing.
    const { email } = team.owner;
    expect((await register(invited, { invitation: token, email })).status).toBe(409);
    const race = () => Promise.all(Array.from({ length: 6 }, () => register(invited, { invitation: token })));
    const answers = await race();
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403, 403]);
    expect(await register(invited, { invitation: token })).toMatchObject(refusal(SPENT));
    // It can still be accepted, and where everybody may register, it does not matter.
    expect((await register(open, { invitation: token })).status).toBe(200);
    await team.owner.client.invitations.resend.mutate({ id: team.id, invitationId: id });
    const next = await tokenFor(open, 'race@example.com', 'workspace-invitation');
    const admitted = await register(invited, { invitation: next });
    expect(admitted.status).toBe(200);
    expect((await invited.http.post('/api/invitations/accept', admitted.body.token, { token: next })).status).toBe(200);
  });

  test('an invitation that was revoked, accepted or has expired admits nobody', async () => {
    const revoked = await invite('paul@example.com');
    await team.owner.client.invitations.revoke.mutate({ id: team.id, invitationId: revoked.id });
    expect(await register(invited, { invitation: revoked.token })).toMatchObject(refusal(INVITED_ONLY));
    const accepted = await invite('ida@example.com');
    await team.outsider.client.invitations.accept.mutate({ token: accepted.token });
    expect(await register(invited, { invitation: accepted.token })).toMatchObject(refusal(INVITED_ONLY));
    const expired = await invite('karl@example.com');
    invited.clock.advance(7 * DAY_MS);
    expect(await register(invited, { invitation: expired.token })).toMatchObject(refusal(INVITED_ONLY));
  });

  test('a closed service takes nobody, and those who are there sign in', async () => {
    expect((await closed.http.get('/api/auth/openid/providers')).body.registration).toBe('closed');
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    for (const fields of [{}, { invitation: token }, { setup_token: SETUP_TOKEN }])
      expect(await register(closed, fields)).toMatchObject(refusal(CLOSED));
    const { email } = team.owner;
    expect((await closed.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).status).toBe(200);
  });

  async function signIn(app: TestApp, email: string, isVerified: boolean, returnTo = '/'): Promise<Answer> {
    provider.open(app.url);
    count += 1;
    const person = { sub: `sub-${count}`, email, email_verified: isVerified, name: 'Grace' };
    provider.people.set(person.sub, person);
    provider.signingIn.person = person;
    const browser = createBrowser();
    const start = { provider: provider.settings.id, return_to: returnTo };
    const { body } = await browser.post(`${app.url}/api/auth/openid/start`, start);
    return browser.post(`${app.url}/api/auth/openid/complete`, await browser.open(body.url));
  }

  test('a person from a provider is admitted by an invitation of their own address, or an invite link', async () => {
    const fresh = await startTestApp({
      sharedDatabase: open,
      openidProviders: [provider.settings],
      settings: { registration: 'invited' },
    });
    try {
      await invite('olga@example.com');
      expect(await signIn(fresh, 'olga@example.com', false)).toMatchObject(refusal(INVITED_ONLY));
      expect(await signIn(fresh, 'vera@example.com', true)).toMatchObject(refusal(INVITED_ONLY));
      expect((await signIn(fresh, 'olga@example.com', true)).status).toBe(200);
      // The invitation is spent, also for those who have its link.
      const spent = await tokenFor(open, 'olga@example.com', 'workspace-invitation');
      expect(await register(fresh, { invitation: spent })).toMatchObject(refusal(SPENT));
      const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
      expect((await signIn(fresh, 'vera@example.com', true, `/join/${token}`)).status).toBe(200);
      expect(await signIn(closed, 'nina@example.com', true, `/join/${token}`)).toMatchObject(refusal(CLOSED));
    } finally {
      await fresh.close();
    }
  });
});

describe('by the domain of the address', () => {
  const WAITING = { status: 403, body: { code: 'EMAIL_NOT_CONFIRMED' } };
  let app: TestApp;
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await startProvider('b');
    const settings = { registration: 'invited', registrationDomains: ['corp.example'] } as const;
    app = await startTestApp({ openidProviders: [provider.settings], settings });
    // The first account needs nobody's leave.
    await register(app);
  });
  afterAll(async () => {
    await app.close();
    await provider.close();
  });

  test('an account works once its address is confirmed, and nothing but that before', async () => {
    expect((await app.http.get('/api/auth/openid/providers')).body.registration_domains).toEqual(['corp.example']);
    for (const email of ['a@example.com', 'a@sub.corp.example', 'a@notcorp.example', 'corp.example@example.com'])
      expect(await register(app, { email })).toMatchObject(refusal(INVITED_ONLY));
    const { status, body } = await register(app, { email: 'Ann@Corp.example' });
    expect(status).toBe(200);
    const { token } = body;
    expect((await app.http.get('/api/auth/me', token)).body.user).toMatchObject({ email_verified: false });
    const personal = await app.services.db.workspace.findFirstOrThrow({ where: { ownerId: body.user.id } });
    for (const path of ['/api/workspaces', `/api/workspaces/${personal.id}`, '/api/dashboard/rooms'])
      expect(await app.http.get(path, token)).toMatchObject(WAITING);
    const writes: [string, object][] = [
      ['/api/workspaces', { name: 'Team' }],
      ['/api/dashboard/rooms', {}],
      ['/api/auth/change-email', { email: 'ann@example.com' }],
    ];
    for (const [path, input] of writes) expect(await app.http.post(path, token, input)).toMatchObject(WAITING);
    expect(await app.http.patch('/api/auth/me', token, { name: 'Ann' })).toMatchObject(WAITING);
    const typed = await app.http.get('/trpc/workspaces.list', token);
    expect([typed.status, typed.body.error.data.code]).toEqual([403, 'EMAIL_NOT_CONFIRMED']);
    expect((await app.http.post('/api/auth/verify-email/resend', token)).status).toBe(200);
    const link = await tokenFor(app, 'ann@corp.example', 'verify-email');
    expect((await app.http.post('/api/auth/verify-email', token, { token: link })).status).toBe(200);
    expect((await app.http.get('/api/workspaces', token)).status).toBe(200);
  });

  test('an account that waits is nobody where a session is optional, and may only be confirmed', async () => {
    const isOptional = ({ needsSession, networkLimit }: Meta) => needsSession && networkLimit === 'publicPerAddress';
    // `as`: tRPC does not preserve the type of our metadata in this record.
    const names = proceduresOf(appRouter).flatMap(([name, { meta }]) =>
      isOptional((meta ?? {}) as Meta) ? [name] : [],
    );
    expect(names).toEqual(expect.arrayContaining(['emails.verify', 'participants.join']));
    const { token } = (await register(app, { email: 'una@corp.example' })).body;
    const host = (await register(app, { email: 'host@corp.example' })).body;
    await app.services.db.user.update({ where: { id: host.user.id }, data: { emailVerifiedAt: app.clock.now() } });
    const { room } = (await app.http.post('/api/dashboard/rooms', host.token, { display_name: 'Weekly' })).body;
    const input = { roomName: room.name, name: 'Una' };
    for (const name of names) {
      const { status, body } = await app.http.post(`/trpc/${name}`, token, input);
      const expected = name === 'emails.verify' ? [400, 'BAD_REQUEST'] : [403, 'EMAIL_NOT_CONFIRMED'];
      expect([name, status, body.error.data.code]).toEqual([name, ...expected]);
    }
    expect(await app.http.post(`/api/rooms/${room.name}/join`, token, {})).toMatchObject(WAITING);
    const asGuest = await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Una' });
    expect(asGuest.body.participant).toMatchObject({ status: 'joined', user_id: null });
    expect((await app.http.get(`/api/rooms/${room.name}`, token)).body).toEqual(
      (await app.http.get(`/api/rooms/${room.name}`)).body,
    );
  });

  test('an account that waits can be left and deleted', async () => {
    const { body } = await register(app, { email: 'eve@corp.example' });
    expect((await app.http.call('DELETE', '/api/auth/me', { token: body.token })).status).toBe(200);
    const { body: again } = await register(app, { email: 'eve@corp.example' });
    expect((await app.http.post('/api/auth/logout', again.token)).status).toBe(200);
  });

  test('an address that the provider has verified admits at once, and one that it has not waits', async () => {
    const signIn = async (email: string, isVerified: boolean) => {
      provider.open(app.url);
      const person = { sub: `sub-${email}`, email, email_verified: isVerified, name: 'Grace' };
      provider.people.set(person.sub, person);
      provider.signingIn.person = person;
      const browser = createBrowser();
      const { body } = await browser.post(`${app.url}/api/auth/openid/start`, { provider: provider.settings.id });
      return browser.post(`${app.url}/api/auth/openid/complete`, await browser.open(body.url));
    };
    const verified = await signIn('olga@corp.example', true);
    expect((await app.http.get('/api/workspaces', verified.body.token)).status).toBe(200);
    const waiting = await signIn('vera@corp.example', false);
    expect(waiting.status).toBe(200);
    expect(await app.http.get('/api/workspaces', waiting.body.token)).toMatchObject(WAITING);
    expect(await signIn('nina@example.com', true)).toMatchObject(refusal(INVITED_ONLY));
  });
});

describe('the first account of a closed service', () => {
  let app: TestApp;
  afterEach(() => app.close());
  const start = async (settings: { startsLocally?: boolean } = {}) => {
    app = await startTestApp({ settings: { registration: 'closed', setupToken: SETUP_TOKEN, ...settings } });
  };
  const proxied = { 'x-forwarded-for': '192.0.2.1' };

  test('is offered to a person at the same machine alone, and only while there has been none', async () => {
    await start();
    const read = async (headers = {}) =>
      (await app.http.call('GET', '/api/auth/openid/providers', { headers })).body.first_account;
    expect(await read()).toBe(1);
    expect(await read(proxied)).toBe(0);
    await register(app);
    expect(await read()).toBe(0);
    await app.services.db.workspace.deleteMany();
    await app.services.db.user.deleteMany();
    expect(await read()).toBe(0);
  });

  test('is neither offered to the same machine nor created from it where a proxy may be between', async () => {
    await start({ startsLocally: false });
    expect((await app.http.get('/api/auth/openid/providers')).body.first_account).toBe(0);
    expect(await register(app)).toMatchObject(refusal(CLOSED));
    expect((await register(app, { setup_token: SETUP_TOKEN })).status).toBe(200);
  });

  test('is created from the same machine, by one of several at once, and never again', async () => {
    await start();
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => register(app)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 403, 403, 403, 403]);
    await app.services.db.workspace.deleteMany();
    await app.services.db.user.deleteMany();
    expect(await register(app)).toMatchObject(refusal(CLOSED));
  });

  test('can be created until one has been: an attempt that failed does not count', async () => {
    await start();
    await app.services.db.$executeRawUnsafe('create sequence attempts');
    await app.services.db.$executeRawUnsafe(`
      create function fail_twice() returns trigger language plpgsql as $$
      declare attempt bigint := nextval('attempts');
      begin
        if attempt = 1 then raise exception 'out of order'; end if;
        if attempt = 2 then raise exception 'in each other''s way' using errcode = 'deadlock_detected'; end if;
        return new;
      end $$`);
    await app.services.db.$executeRawUnsafe(
      'create trigger fail_twice before insert on sessions for each row execute function fail_twice()',
    );
    expect((await register(app)).status).toBe(500);
    expect(await app.services.db.user.count()).toBe(0);
    // The transaction is repeated after a deadlock, with its admission.
    expect((await register(app)).status).toBe(200);
    expect(await register(app)).toMatchObject(refusal(CLOSED));
  });

  test('is created with the token of the operator from elsewhere, and not without', async () => {
    await start();
    for (const fields of [{}, { setup_token: 'a token for the first accounts' }, { setup_token: '' }])
      expect(await register(app, fields, proxied)).toMatchObject(refusal(CLOSED));
    expect((await register(app, { setup_token: SETUP_TOKEN }, proxied)).status).toBe(200);
    expect(await register(app, { setup_token: SETUP_TOKEN }, proxied)).toMatchObject(refusal(CLOSED));
  });
});
