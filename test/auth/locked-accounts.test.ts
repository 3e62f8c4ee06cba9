/** Accounts that an operator has locked, and passwords that one has reset, through both transports. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { identify } from '../../src/auth/identify.ts';
import { updateMe } from '../../src/features/auth/account.ts';
import { listAccounts, lockAccount, resetPassword, unlockAccount } from '../../src/features/auth/operator.ts';
import { noClient } from '../../src/features/auth/sessions.ts';
import { mailTo } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

let team: Team;
beforeEach(async () => {
  team = await addTeam(app);
});

async function createKey(): Promise<string> {
  return (await team.admin.client.apiKeys.create.mutate({ id: team.id, name: 'Key' })).apiKey.full_key;
}

/** The answers of both transports to a sign-in. */
async function signIn(password: string): Promise<{ rest: unknown; trpc: unknown }> {
  const { email } = team.admin;
  const { status, body } = await app.http.post('/api/auth/login', undefined, { email, password });
  const answer = createClient({ url: app.url }).auth.login.mutate({ email, password });
  const trpc = await answer.then(
    () => [200],
    (error) => [error.status, error.message],
  );
  return { rest: status === 200 ? [200] : [status, body.message], trpc };
}

/** The statuses of both transports with a credential. */
async function call(token: string): Promise<number[]> {
  const { status } = await app.http.get(`${team.path}/labels`, token);
  const answer = createClient({ url: app.url, token }).labels.list.query({ id: team.id });
  return [
    status,
    await answer.then(
      () => 200,
      (error) => error.status,
    ),
  ];
}

test('a locked account cannot sign in, as with a wrong password, and its sessions and keys end', async () => {
  const key = await createKey();
  expect([await call(team.admin.token), await call(key)]).toEqual([
    [200, 200],
    [200, 200],
  ]);
  await lockAccount(app.services, team.admin.email);
  expect([await call(team.admin.token), await call(key)]).toEqual([
    [401, 401],
    [401, 401],
  ]);
  const wrong = [401, 'Wrong email or password'];
  expect(await signIn(PASSWORD)).toEqual({ rest: wrong, trpc: wrong });
  expect(await signIn('another password')).toEqual({ rest: wrong, trpc: wrong });
  expect(await call(team.owner.token)).toEqual([200, 200]);
  const [account] = await listAccounts(app.services, { search: team.admin.email, limit: 10, offset: 0 });
  expect(account).toMatchObject({ locked_at: expect.any(Number), sessions: 0, api_keys: 0, workspaces: 2 });

  await unlockAccount(app.services, team.admin.email.toUpperCase());
  expect(await signIn(PASSWORD)).toEqual({ rest: [200], trpc: [200] });
  expect([await call(team.admin.token), await call(key)]).toEqual([
    [401, 401],
    [401, 401],
  ]);
});

test('the user is told by mail that the account is locked or unlocked, if the encryption key is there', async () => {
  const { email } = team.admin;
  const subjects = async () => (await mailTo(app, email)).filter(({ kind }) => kind === 'account-locked');
  await lockAccount(app.services, email);
  await unlockAccount(app.services, email);
  const [locked, unlocked, ...others] = await subjects();
  expect([locked?.subject, unlocked?.subject, others]).toEqual([
    'Your account was locked',
    'Your account was unlocked',
    [],
  ]);
  expect(`${locked?.text}${locked?.html}`).not.toMatch(/href|https?:/);
  await lockAccount({ ...app.services, sealer: null }, email);
  expect(await subjects()).toHaveLength(2);
  await expect(lockAccount(app.services, 'nobody@example.com')).rejects.toThrow('There is no account');
});

test('no sign-in and no new key survives a lock that runs at the same time', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { admin } = await addTeam(app);
    const own = (await admin.client.workspaces.list.query({})).workspaces[0]?.id ?? 0;
    const credentials = { email: admin.email, password: PASSWORD };
    const [keys, sessions] = await Promise.all([
      Promise.allSettled([1, 2, 3].map((name) => admin.client.apiKeys.create.mutate({ id: own, name: `${name}` }))),
      Promise.allSettled([1, 2, 3].map(() => createClient({ url: app.url }).auth.login.mutate(credentials))),
      lockAccount(app.services, admin.email),
    ]);
    const tokens = [
      ...keys.flatMap((result) => (result.status === 'fulfilled' ? [result.value.apiKey.full_key] : [])),
      ...sessions.flatMap((result) => (result.status === 'fulfilled' ? [result.value.token] : [])),
    ];
    const statuses = async () =>
      Promise.all(tokens.map(async (token) => (await app.http.get('/api/workspaces', token)).status));
    expect(await statuses()).toEqual(tokens.map(() => 401));
    await unlockAccount(app.services, admin.email);
    expect(await statuses()).toEqual(tokens.map(() => 401));
  }
});

test('a password that is reset ends all sessions, and the API keys unless told to keep them', async () => {
  const { email } = team.admin;
  const key = await createKey();
  await resetPassword(app.services, { email, password: 'the new password', endApiKeys: false, keepAccess: true });
  expect([await call(team.admin.token), await call(key)]).toEqual([
    [401, 401],
    [200, 200],
  ]);
  expect((await signIn(PASSWORD)).rest).toEqual([401, 'Wrong email or password']);
  expect(await signIn('the new password')).toEqual({ rest: [200], trpc: [200] });
  await resetPassword(app.services, { email, password: 'the newest password', endApiKeys: false });
  expect(await call(key)).toEqual([401, 401]);
});

test('a password change that was under way does not undo what an operator does', async () => {
  const { email, token } = team.admin;
  const { caller } = await identify(app.services, token, null, null);
  if (caller === null) throw new Error('The session is not valid');
  const requester = { network: '', signal: null };
  const changes = [
    () => resetPassword(app.services, { email, password: 'from the operator', endApiKeys: false }),
    () => lockAccount(app.services, email),
  ];
  let current = PASSWORD;
  for (const change of changes) {
    const passwords: typeof app.services.passwords = {
      ...app.services.passwords,
      async hash(password, by) {
        await change();
        return app.services.passwords.hash(password, by);
      },
    };
    const input = { password: 'of the intruder', current_password: current };
    const changing = updateMe(
      { ...app.services, passwords },
      { caller, sessionId: caller.credential.id, requester, client: noClient },
      input,
    );
    await expect(changing).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    current = 'from the operator';
  }
  await unlockAccount(app.services, email);
  expect((await signIn('of the intruder')).rest).toEqual([401, 'Wrong email or password']);
  expect((await signIn('from the operator')).rest).toEqual([200]);
});

test('an unknown address is an error', async () => {
  await expect(lockAccount(app.services, 'nobody@example.com')).rejects.toThrow(
    'There is no account with the email address nobody@example.com',
  );
});
