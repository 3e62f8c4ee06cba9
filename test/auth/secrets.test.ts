/** Secrets are only in the answers that return them, and never in a log. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('no log line of any level contains a token, a password, an invite, an email address or a signed URL', async () => {
  const team = await addTeam(app);
  const { member, owner } = team;
  const invite = (await app.http.post(`${team.path}/invite`, owner.token)).body.token;
  const { body: uploaded } = await upload(app, team.path, member.token);
  const download = await app.http.get(`${team.path}/library/${uploaded.item.id}/download`, member.token);
  const url = new URL(download.body.url);
  const secrets = {
    token: member.token,
    password: PASSWORD,
    wrongPassword: 'a wrong password',
    newPassword: 'a new password',
    invite,
    email: member.email,
    signature: url.searchParams.get('signature') ?? '',
    unknownToken: `lns_${'Q'.repeat(43)}`,
  };

  // Every way to send them, with every kind of answer.
  await app.http.call('GET', url.pathname + url.search);
  await app.http.call('GET', `${url.pathname}${url.search}x`);
  await app.http.post(`/api/workspaces/join/${invite}`, team.outsider.token);
  await app.http.post(`/api/workspaces/join/${invite}`);
  await app.http.get(`/api/workspaces/join/${invite}`, member.token);
  await app.http.get(`/unknown/${invite}?token=${member.token}`);
  await app.http.get('/api/auth/me', secrets.unknownToken);
  await app.http.call('GET', '/api/auth/me', { headers: { cookie: `session=${member.token}` } });
  await app.http.post('/api/auth/login', undefined, { email: member.email, password: secrets.wrongPassword });
  await app.http.post('/api/auth/register', undefined, { name: '', email: member.email, password: PASSWORD });
  await app.http.post('/api/auth/register', undefined, { name: 'x', email: member.email, password: PASSWORD });
  await app.http.call('POST', '/api/auth/login', {
    body: `{"email": "${member.email}", "password": "${PASSWORD}"`,
    headers: { 'content-type': 'application/json' },
  });
  await app.http.patch('/api/auth/me', member.token, {
    password: secrets.newPassword,
    current_password: secrets.wrongPassword,
  });
  await app.http.patch('/api/auth/me', member.token, { password: secrets.newPassword, current_password: PASSWORD });
  const input = encodeURIComponent(JSON.stringify({ email: member.email, password: PASSWORD }));
  await app.http.get(`/trpc/auth.login?input=${input}`);
  await app.http.post('/trpc/workspaces.join', member.token, { token: invite });
  await app.http.post('/trpc/auth.login', undefined, { email: member.email, password: secrets.wrongPassword });
  // An unexpected failure, which is logged with its details: the password column rejects every value.
  await app.services.db.$executeRaw`alter table users add constraint no_change check (name <> 'Unlucky') not valid`;
  const fault = await app.http.patch('/api/auth/me', member.token, {
    name: 'Unlucky',
    password: 'a third password',
    current_password: secrets.newPassword,
  });
  expect(fault).toMatchObject({ status: 500, body: { message: 'Internal server error' } });
  expect(JSON.stringify(fault.body)).not.toMatch(/constraint|users|prisma|\/src\//i);

  const log = JSON.stringify(app.logLines);
  expect(app.logLines.length).toBeGreaterThan(20);
  expect(log).toContain(fault.body.request_id);
  for (const [name, secret] of Object.entries({ ...secrets, thirdPassword: 'a third password' })) {
    expect(secret.length, name).toBeGreaterThan(8);
    expect(log.includes(secret), `the log holds the ${name}`).toBe(false);
  }
  expect(log).not.toContain('$argon2');
});

test('every answer has a request ID, and the body of an error has the same one', async () => {
  const unknown = await app.http.get('/nowhere');
  expect(unknown.body.request_id).toBe(unknown.headers.get('x-request-id'));
  expect(app.logLines.some(({ reqId }) => reqId === unknown.body.request_id)).toBe(true);
  expect((await app.http.get('/health')).headers.get('x-request-id')).toMatch(/./);
});
