/** The statements of docs/backup.md that end what an older backup brings back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../client/packed-client.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** The statements of the block that begins with `lynxroom db psql`. */
function readStatements(): string[] {
  const [, block = ''] =
    /^```sh no-run="it ends all.*\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'docs/backup.md'), 'utf8')) ?? [];
  return [...block.matchAll(/-c "([^"]+)"/g)].map(([, sql = '']) => sql);
}

test('they end links, sessions, feeds and mail that waits, and leave accounts as they are', async () => {
  const team = await addTeam(app);
  const { email, token } = team.admin;
  const guest = 'guest@example.com';
  const { invitation } = (
    await app.http.post(`${team.path}/invitations`, team.owner.token, { email: guest, role: 'member' })
  ).body;
  const { feed } = (await app.http.post('/api/auth/calendar-feed', token)).body;
  await app.http.post('/api/auth/forgot-password', undefined, { email });
  const links = {
    verify: await tokenFor(app, email, 'verify-email'),
    reset: await tokenFor(app, email, 'reset-password'),
    invite: await tokenFor(app, guest, 'workspace-invitation'),
  };
  const statements = readStatements();
  expect(statements).toHaveLength(7);
  for (const sql of statements) await app.services.db.$executeRawUnsafe(sql);

  const password = 'an entirely new password';
  const answers = [
    await app.http.get('/api/auth/me', token),
    await fetch(feed.url),
    await app.http.post('/api/auth/verify-email', undefined, { token: links.verify, password: PASSWORD }),
    await app.http.post('/api/auth/reset-password', undefined, { token: links.reset, password }),
    await app.http.post('/api/invitations/look-up', undefined, { token: links.invite }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 404, 400, 400, 404]);
  expect(await app.services.db.mailMessage.count({ where: { state: 'queued' } })).toBe(0);

  const signIn = await app.http.post('/api/auth/login', undefined, { email: team.owner.email, password: PASSWORD });
  expect(signIn.status).toBe(200);
  const path = `${team.path}/invitations`;
  const listed = (await app.http.get(path, signIn.body.token)).body.invitations;
  expect(listed).toMatchObject([{ id: invitation.id, state: 'revoked' }]);
  const again = await app.http.post(path, signIn.body.token, { email: guest, role: 'member' });
  expect(again.status).toBe(200);
  const invite = { token: await tokenFor(app, guest, 'workspace-invitation') };
  expect((await app.http.post('/api/invitations/look-up', undefined, invite)).status).toBe(200);
});
