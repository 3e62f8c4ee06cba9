/** Listing and ending sessions, and the notice of a sign-in from an unknown device. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeDevice } from '../../src/features/auth/devices.ts';
import { deleteExpiredSessions } from '../../src/features/auth/sessions.ts';
import { mailSeal } from '../../src/mail/queue-mail.ts';
import { transports } from '../contract/transports.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

const DAY_MS = 86_400_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 ' +
  'Mobile/15E148 Safari/604.1';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function signIn(email: string, userAgent: string, localAddress = '127.0.0.1'): Promise<string> {
  const { status, body } = await callFrom(`${app.url}/api/auth/login`, {
    method: 'POST',
    localAddress,
    headers: { 'user-agent': userAgent },
    json: { email, password: PASSWORD },
  });
  expect(status).toBe(200);
  // `as`: the answer to a sign-in.
  return (body as { token: string }).token;
}

async function statusOf(token: string): Promise<number> {
  return (await app.http.get('/api/auth/me', token)).status;
}

describe.each(transports)('over %s', (_, transport) => {
  const call = async (name: string, token: string, input = {}) =>
    // biome-ignore lint/suspicious/noExplicitAny: bodies have any shape
    (await transport(app, { name, token, input })) as { status: number; body: any };

  test('the list has the device, the address and the times of each session, and says which is current', async () => {
    const { email, token } = await addPerson(app);
    const firefox = await signIn(email, FIREFOX, '127.0.0.9');
    const { sessions, next_cursor } = (await call('sessions.list', token)).body;
    expect(next_cursor).toBeUndefined();
    expect(sessions).toEqual([
      {
        id: expect.any(Number),
        device: 'Firefox on Linux',
        address: '127.0.0.9',
        method: 'password',
        created_at: expect.any(Number),
        authenticated_at: expect.any(Number),
        last_used_at: expect.any(Number),
        expires_at: expect.any(Number),
        is_current: false,
      },
      expect.objectContaining({ method: 'registration', is_current: true }),
    ]);
    expect((await call('sessions.list', firefox)).body.sessions[0]).toMatchObject({ is_current: true });
  });

  test('ending one session leaves the others', async () => {
    const { email, token } = await addPerson(app);
    const lost = await signIn(email, FIREFOX);
    const [{ id: sessionId }] = (await call('sessions.list', token)).body.sessions;
    expect(await call('sessions.end', token, { sessionId })).toMatchObject({ status: 200, body: { ok: true } });
    expect([await statusOf(lost), await statusOf(token)]).toEqual([401, 200]);
    expect((await call('sessions.end', token, { sessionId })).body.message).toBe('Session not found');
  });

  test('ending all others leaves the current one', async () => {
    const { email, token } = await addPerson(app);
    const others = [await signIn(email, FIREFOX), await signIn(email, SAFARI)];
    expect((await call('sessions.endOthers', token)).body).toEqual({ ended: 2 });
    expect(await Promise.all([...others, token].map(statusOf))).toEqual([401, 401, 200]);
    expect((await call('sessions.endOthers', token)).body).toEqual({ ended: 0 });
  });

  test('the session of another user is not found', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const [{ id: sessionId }] = (await call('sessions.list', bob.token)).body.sessions;
    expect((await call('sessions.end', ada.token, { sessionId })).status).toBe(404);
    expect(await statusOf(bob.token)).toBe(200);
  });
});

test('a user has at most 100 sessions: with one more, the oldest ends', async () => {
  const { id, email, token } = await addPerson(app);
  const older = await addPerson(app, 'Other');
  const now = app.clock.now();
  const data = Array.from({ length: 99 }, (_, index) => ({
    userId: id,
    tokenHash: Buffer.from(`session ${id} ${index}`),
    createdAt: new Date(now.getTime() + 1_000),
    expiresAt: new Date(now.getTime() + DAY_MS),
  }));
  await app.services.db.session.createMany({ data });
  expect(await statusOf(token)).toBe(200);
  app.clock.advance(2_000);
  const count = () => app.services.db.session.count({ where: { userId: id } });
  const newest = await signIn(email, FIREFOX);
  expect([await statusOf(token), await statusOf(newest), await count()]).toEqual([401, 200, 100]);
  // Concurrent sign-ins may leave a few more, until the next one.
  await concurrently(5, () => signIn(email, FIREFOX));
  expect([await statusOf(newest), await statusOf(await signIn(email, FIREFOX)), await count()]).toEqual([
    200, 200, 100,
  ]);
  expect(await statusOf(older.token)).toBe(200);
});

test('ending the current session signs out, and clears the cookie', async () => {
  const { token } = await addPerson(app);
  const { sessions } = (await app.http.get('/api/auth/sessions', token)).body;
  const { headers } = await app.http.delete(`/api/auth/sessions/${sessions[0].id}`, token);
  expect(headers.get('set-cookie')).toMatch(/^session=;/);
  expect(await statusOf(token)).toBe(401);
});

test('expired and unused sessions are not listed', async () => {
  const own = await startTestApp({ settings: { sessionIdleDays: 3, reauthenticationMinutes: 0 } });
  try {
    const { email, id } = await addPerson(own);
    own.clock.advance(4 * DAY_MS);
    const { token } = (await own.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).body;
    expect((await own.http.get('/api/auth/sessions', token)).body.sessions).toHaveLength(1);
    expect(await own.services.db.session.count({ where: { userId: id } })).toBe(2);
  } finally {
    await own.close();
  }
});

test('only one of 10 calls that end the same session succeeds, and requests in it get 200 or 401', async () => {
  const { email, token } = await addPerson(app);
  const used = await signIn(email, FIREFOX);
  const { sessions } = (await app.http.get('/api/auth/sessions', token)).body;
  const path = `/api/auth/sessions/${sessions[0].id}`;
  const [ended, requests] = await Promise.all([
    concurrently(10, () => app.http.delete(path, token)),
    concurrently(20, () => app.http.get('/api/workspaces', used)),
  ]);
  expect(countStatuses(ended)).toEqual({ 200: 1, 404: 9 });
  expect(requests.map(({ status }) => status).filter((status) => status !== 200 && status !== 401)).toEqual([]);
  expect(await statusOf(used)).toBe(401);
});

test('a key whose session ends while it is being created is not created', async () => {
  const { email, id, token } = await addPerson(app);
  const stolen = await signIn(email, FIREFOX);
  const [workspace] = (await app.http.get('/api/workspaces', token)).body.workspaces;
  const created = await changeWhileBlocked(
    app,
    `select id from workspaces where id = ${workspace.id} for update`,
    () => app.http.post(`/api/workspaces/${workspace.id}/api-keys`, stolen, { name: 'Key' }),
    (client) => client.query('delete from sessions where user_id = $1 and method = $2', [id, 'password']),
  );
  expect(created.status).toBe(401);
});

describe('the notice of a sign-in from an unknown device', () => {
  async function noticesTo({ email }: Pick<Person, 'email'>) {
    const { db, sealer } = app.services;
    const rows = await db.mailMessage.findMany({ where: { toAddress: email, kind: 'new-sign-in' } });
    return rows.map(({ data, messageId }) => JSON.parse(sealer.open(data ?? new Uint8Array(), mailSeal(messageId))));
  }

  test('is sent for another program or network, once each, and not for registering', async () => {
    const person = await addPerson(app);
    expect(await noticesTo(person)).toEqual([]);
    await signIn(person.email, FIREFOX);
    await signIn(person.email, FIREFOX.replaceAll('140', '141'));
    expect(await noticesTo(person)).toEqual([
      { method: 'password', address: '127.0.0.1', userAgent: 'Firefox on Linux', at: expect.any(Number) },
    ]);
    await signIn(person.email, FIREFOX, '127.0.0.5');
    await signIn(person.email, 'A text of Mallory: www.example.com', '127.0.0.5');
    // Only the beginning of the header is examined.
    await signIn(person.email, `${'Version/'.repeat(1_500)} ${FIREFOX}`, '127.0.0.6');
    expect(await noticesTo(person)).toMatchObject([
      {},
      { address: '127.0.0.5', userAgent: 'Firefox on Linux' },
      { address: '127.0.0.5', userAgent: 'Unknown device' },
      { address: '127.0.0.6', userAgent: 'Unknown device' },
    ]);
  });

  test('is sent once for concurrent sign-ins', async () => {
    const person = await addPerson(app);
    await concurrently(5, () => signIn(person.email, SAFARI));
    expect(await noticesTo(person)).toHaveLength(1);
  });

  test('is sent again after half a year, and devices are limited to 50', async () => {
    const person = await addPerson(app);
    await signIn(person.email, FIREFOX);
    await app.services.db.$executeRaw`
      insert into known_devices (user_id, device_hash, last_seen_at)
      select ${person.id}, sha256(n::text::bytea), now() - make_interval(days => n) from generate_series(1, 60) n`;
    await signIn(person.email, SAFARI);
    expect(await app.services.db.knownDevice.count({ where: { userId: person.id } })).toBe(50);
    await app.services.db.knownDevice.updateMany({
      where: { userId: person.id },
      data: { lastSeenAt: new Date(app.clock.now().getTime() - 181 * DAY_MS) },
    });
    await deleteExpiredSessions(app.services);
    expect(await app.services.db.knownDevice.count({ where: { userId: person.id } })).toBe(0);
    await signIn(person.email, SAFARI);
    expect(await noticesTo(person)).toHaveLength(3);
  });
});

test('every sign-in and every end of a session is in the log of the account', async () => {
  const { email, id, token } = await addPerson(app);
  const [first, second, third] = [
    await signIn(email, FIREFOX),
    await signIn(email, SAFARI),
    await signIn(email, SAFARI),
  ];
  await app.http.post('/api/auth/logout', first);
  const { sessions } = (await app.http.get('/api/auth/sessions', second)).body;
  await app.http.delete(`/api/auth/sessions/${sessions[0].id}`, second);
  await app.http.delete('/api/auth/sessions', token);
  expect(await statusOf(third)).toBe(401);
  const events = await app.services.db.accountEvent.findMany({ where: { userId: id }, orderBy: { id: 'asc' } });
  expect(events.map(({ action, details }) => [action, details])).toEqual([
    ['registered', { method: 'registration' }],
    ['signed_in', { method: 'password' }],
    ['signed_in', { method: 'password' }],
    ['signed_in', { method: 'password' }],
    ['signed_out', {}],
    ['session_ended', { session_id: sessions[0].id }],
    ['sessions_ended', { ended: 1 }],
  ]);
});

test.each([
  [FIREFOX, 'Firefox on Linux'],
  [SAFARI, 'Safari on iPhone'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36', 'Chrome on Windows'],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0', 'Edge on Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140 Safari/537.36 OPR/1',
    'Opera on macOS',
  ],
  ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36', 'Chrome on Android'],
  ['curl/8.5.0', 'curl'],
  ['node', 'Node.js'],
  ['python-requests/2.32.3', 'Python'],
  ['something else', 'Unknown device'],
  [null, 'Unknown device'],
])('%j is %s', (userAgent, device) => {
  expect(describeDevice(userAgent)).toBe(device);
});
