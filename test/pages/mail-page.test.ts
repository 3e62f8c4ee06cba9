/** The page for developers that shows the mail which was not sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkTo } from '../../src/mail/kinds.ts';
import { queueMail } from '../../src/mail/queue-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ showsMail: true });
  const link = linkTo('/reset-password', 'lnm_secret');
  await queueMail(app.services, app.services.db.sql, { kind: 'reset-password', to: '<b>@example.com', data: { link } });
});
afterAll(() => app.close());

test('shows a developer the messages, with their links', async () => {
  const list = await app.http.get('/dev/mail');
  expect(list.status).toBe(200);
  expect(list.body).toContain('&lt;b&gt;@example.com');
  const path = /href="(\/dev\/mail\/\d+)"/.exec(String(list.body))?.[1] ?? '';
  const { body } = await app.http.get(path);
  expect(body).toContain('<h1>Set a new password</h1>');
  expect(body).toContain(`<a href="${app.url}/reset-password#token=lnm_secret">`);
  expect((await app.http.get('/dev/mail/99999')).status).toBe(404);
});

test('answers 404 to other sites, proxies and other host names', async () => {
  for (const headers of [
    { origin: 'http://localhost:5173' },
    { 'sec-fetch-site': 'cross-site' },
    { 'x-forwarded-for': '192.0.2.1' },
    { forwarded: 'for=192.0.2.1' },
  ])
    expect((await app.http.call('GET', '/dev/mail', { headers })).status).toBe(404);
  const response = await app.http.call('GET', '/dev/mail', { headers: { 'x-real-ip': '127.0.0.1' } });
  expect(response.status).toBe(404);
});

test('does not exist in production, or with a mail server', async () => {
  const other = await startTestApp({ sharedDatabase: app });
  expect((await other.http.get('/dev/mail')).status).toBe(404);
  await other.close();
});
