/** The log of an account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { pruneAccountLogs } from '../../src/features/auth/account-log.ts';
import { lockAccount, resetPassword, unlockAccount } from '../../src/features/auth/operator.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person } from '../support/world.ts';

type Event = { action: string; count: number; details: object; address: string | null; user_agent: string | null };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function logOf({ token }: { token: string }): Promise<Event[]> {
  const { status, body } = await app.http.get('/api/auth/log', token);
  expect(status).toBe(200);
  return body.events;
}

const actionsOf = (events: Event[]) => events.map(({ action }) => action);

function login({ email }: Person, password: string) {
  return app.http.call('POST', '/api/auth/login', { json: { email, password }, headers: { 'user-agent': 'Test/1' } });
}

test('sign-ins have their method, address and program, through both transports', async () => {
  const ada = await addPerson(app);
  const { token } = (await login(ada, PASSWORD)).body;
  const events = await logOf({ token });
  expect(events).toEqual([
    expect.objectContaining({
      action: 'signed_in',
      address: '127.0.0.1',
      user_agent: 'Test/1',
      details: { method: 'password' },
      count: 1,
    }),
    expect.objectContaining({ action: 'registered' }),
  ]);
  expect((await ada.client.auth.log.query({})).events).toEqual(events);
});

test('it keeps the deletion of a workspace, whose own log is deleted', async () => {
  const ada = await addPerson(app);
  const { workspace } = await ada.client.workspaces.create.mutate({ name: 'Short' });
  await ada.client.workspaces.delete.mutate({ id: workspace.id });
  expect((await logOf(ada))[0]).toMatchObject({
    action: 'workspace_deleted',
    address: '127.0.0.1',
    details: { workspace_id: workspace.id, name: 'Short' },
  });
});

test('failures with the right address share an entry an hour, and are nobody else’s', async () => {
  const [ada, eve] = [await addPerson(app, 'Ada'), await addPerson(app, 'Eve')];
  for (let time = 0; time < 5; time += 1) expect((await login(ada, 'wrong password')).status).toBe(401);
  await eventually(async () => (await logOf(ada))[0]?.count === 5);
  expect((await logOf(ada))[0]).toMatchObject({ action: 'sign_in_failed', count: 5 });
  app.clock.advance(3_600_000);
  await login(ada, 'wrong password');
  await eventually(async () => (await logOf(ada)).length === 3);
  expect((await logOf(ada))[0]).toMatchObject({ action: 'sign_in_failed', count: 1, details: { method: 'password' } });
  expect(actionsOf(await logOf(eve))).toEqual(['registered']);
  expect((await login({ ...ada, email: 'nobody@example.com' }, PASSWORD)).status).toBe(401);
});

test('wrong passwords in a session are there like failed sign-ins', async () => {
  const ada = await addPerson(app, 'Ada');
  const reauthenticate = { password: 'a guess' };
  expect((await app.http.post('/api/auth/reauthenticate', ada.token, reauthenticate)).status).toBe(400);
  const change = { password: 'another good password', current_password: 'a guess' };
  expect((await app.http.patch('/api/auth/me', ada.token, change)).status).toBe(400);
  await eventually(async () => (await logOf(ada))[0]?.count === 2);
  expect((await logOf(ada))[0]).toMatchObject({ action: 'sign_in_failed', address: '127.0.0.1' });
});

test('a new password, ended keys, and what operators do', async () => {
  const { owner } = await addTeam(app);
  const { workspaces } = (await app.http.get('/api/workspaces', owner.token)).body;
  await app.http.post(`/api/workspaces/${workspaces[1].id}/api-keys`, owner.token, { name: 'CI' });
  const change = { password: 'another good password', current_password: PASSWORD, end_api_keys: true };
  expect((await app.http.patch('/api/auth/me', owner.token, change)).status).toBe(200);
  expect(await logOf(owner)).toMatchObject([
    { action: 'api_keys_revoked', details: { count: 1 }, address: '127.0.0.1' },
    { action: 'password_changed', details: { ended_sessions: 0 } },
    { action: 'api_key_created', details: { name: 'CI', workspace_id: workspaces[1].id } },
    { action: 'registered' },
  ]);
  await lockAccount(app.services, owner.email);
  await unlockAccount(app.services, owner.email);
  await resetPassword(app.services, { email: owner.email, password: PASSWORD, endApiKeys: false });
  const { token } = (await login(owner, PASSWORD)).body;
  expect((await logOf({ token })).slice(1, 5)).toMatchObject([
    { action: 'password_reset', address: null, details: { by: 'operator' } },
    { action: 'access_ended', address: null, details: { ended: 1, remaining: 0 } },
    { action: 'account_unlocked' },
    { action: 'account_locked' },
  ]);
});

test('old events are deleted after ACCOUNT_LOG_DAYS', async () => {
  const ada = await addPerson(app);
  app.clock.advance(20 * DAY_MS);
  const { token } = (await login(ada, PASSWORD)).body;
  const prune = (accountLogDays: number) =>
    pruneAccountLogs({ ...app.services, settings: { ...app.services.settings, accountLogDays } });
  await prune(21);
  expect(actionsOf(await logOf({ token }))).toEqual(['signed_in', 'registered']);
  await prune(19);
  expect(actionsOf(await logOf({ token }))).toEqual(['signed_in']);
});
