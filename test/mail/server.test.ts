/** The server process with the embedded database and a real mail server: an account from registration to reset. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createHttp, type Http } from '../support/http.ts';
import { type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

let dataDir: string;
let mail: MailServer;
let server: ServerProcess;
let url: string;
let http: Http;
beforeAll(async () => {
  dataDir = await makeTempDir();
  mail = await startMailServer();
  server = startServer({ DATA_DIR: dataDir, SMTP_URL: mail.url, MAIL_FROM: 'Lynxroom <noreply@lynxroom.example>' });
  url = await server.ready;
  http = createHttp(url);
});
afterAll(async () => {
  await stopServer(server);
  await mail.close();
  await rm(dataDir, { recursive: true, force: true });
});

function textOf({ raw }: ReceivedMail): string {
  return raw.replace(/=\r\n/g, '').replace(/=3D/g, '=');
}

/** Waits for the message with this subject, and returns the token of its link. */
async function receiveToken(subject: string, path: string): Promise<string> {
  const isWanted = (one: ReceivedMail) => one.raw.includes(`Subject: ${subject}`);
  await eventually(async () => mail.received.some(isWanted));
  const text = mail.received.filter(isWanted).map(textOf).join('');
  const [, base, token] = new RegExp(`(http://\\S+?)${path}#token=([\\w-]+)`).exec(text) ?? [];
  expect(base).toBe(url);
  return token ?? '';
}

test('links arrive by mail, lead to pages of the server, and work', async () => {
  const email = 'ada@example.com';
  await http.post('/api/auth/register', undefined, { name: 'Ada', email, password: 'correct horse battery' });
  const token = await receiveToken('Confirm your email address', '/verify-email');
  expect((await http.get('/verify-email')).status).toBe(200);
  const proof = { token, password: 'correct horse battery' };
  expect((await http.post('/api/auth/verify-email', undefined, proof)).body).toEqual({ email });

  await http.post('/api/auth/forgot-password', undefined, { email });
  await http.post('/api/auth/forgot-password', undefined, { email: 'nobody@example.com' });
  const reset = await receiveToken('Set a new password', '/reset-password');
  const password = 'a better horse battery';
  expect((await http.post('/api/auth/reset-password', undefined, { token: reset, password })).status).toBe(200);
  expect((await http.post('/api/auth/login', undefined, { email, password })).body.user.email_verified).toBe(true);
  await eventually(async () => mail.received.some(({ raw }) => raw.includes('Subject: Your password has changed')));
  expect(new Set(mail.received.flatMap(({ to }) => to))).toEqual(new Set([email]));

  const guest = 'guest@example.com';
  const { token: session } = (await http.post('/api/auth/login', undefined, { email, password })).body;
  const { workspace } = (await http.post('/api/workspaces', session, { name: 'Acme' })).body;
  const path = `/api/workspaces/${workspace.id}`;
  expect((await http.post(`${path}/invitations`, session, { email: guest, role: 'member' })).status).toBe(200);
  const invitation = { token: await receiveToken('Invitation to a Lynxroom workspace', '/invitation') };
  expect((await http.get('/invitation')).status).toBe(200);
  const found = (await http.post('/api/invitations/look-up', undefined, invitation)).body.invitation;
  expect(found).toMatchObject({ workspace_name: 'Acme', invited_by_name: 'Ada', email: guest, role: 'member' });
  const newcomer = { name: 'Guest', email: guest, password };
  const { token: own } = (await http.post('/api/auth/register', undefined, newcomer)).body;
  expect((await http.post('/api/invitations/accept', own, invitation)).body.workspace.id).toBe(workspace.id);
  expect((await http.get('/api/auth/me', own)).body.user.email_verified).toBe(true);
  // The messages are on the mail server only.
  expect((await http.get('/dev/mail')).status).toBe(404);
});
