import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test.each([
  ['run.bat', 'run.bat.pdf'],
  ['page.html', 'page.html.pdf'],
  ['Offer.PDF', 'Offer.pdf'],
  ['offer.pdf', 'offer.pdf'],
  ['.pdf', 'download.pdf'],
  ['.PDF', 'download.pdf'],
  ['...', 'download.pdf'],
  ['. .pdf', 'download.pdf'],
  ['.env', 'env.pdf'],
  ['Offer 2027..pdf', 'Offer 2027.pdf'],
  ['nul', '_nul.pdf'],
  ['Invoice 1/2026.pdf', 'Invoice 1-2026.pdf'],
])(
  'the file of an item named %s is downloaded as %s, so that it has the extension of its type',
  async (name, saved) => {
    const { token } = team.member;
    const { body } = await upload(app, team.path, token, undefined, { fields: { name } });
    expect(body.item.name).toBe(name);
    const download = await app.http.get(`${team.path}/library/${body.item.id}/download`, token);
    const file = await fetch(download.body.url);
    await file.arrayBuffer();
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${saved}"`);
  },
);

test('an item is displayed under its name only with disposition=inline, and in a sandbox', async () => {
  const { token } = team.member;
  const { item } = (await upload(app, team.path, token)).body;
  const path = `${team.path}/library/${item.id}/download`;
  const attached = await fetch((await app.http.get(path, token)).body.url);
  await attached.arrayBuffer();
  expect(attached.headers.get('content-disposition')).toMatch(/^attachment; /);
  const { url } = (await app.http.get(`${path}?disposition=inline`, token)).body;
  const inline = await fetch(url, { headers: { range: 'bytes=0-3' } });
  expect([inline.status, await inline.text()]).toEqual([206, '%PDF']);
  expect(inline.headers.get('content-disposition')).toMatch(/^inline; /);
  expect(inline.headers.get('content-type')).toBe('application/pdf');
  expect(inline.headers.get('x-content-type-options')).toBe('nosniff');
  expect(inline.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'; media-src 'self'");
});

test('nobody turns an attachment into a displayed file, or back', async () => {
  const { token } = team.member;
  const { item } = (await upload(app, team.path, token)).body;
  const path = `${team.path}/library/${item.id}/download`;
  const { url: attached } = (await app.http.get(path, token)).body;
  const { url: inline } = (await app.http.get(`${path}?disposition=inline`, token)).body;
  for (const altered of [
    `${attached}&disposition=inline`,
    inline.replace('&disposition=inline', ''),
    inline.replace('disposition=inline', 'disposition=attachment'),
    `${inline}&disposition=inline`,
  ])
    expect((await fetch(altered)).status).toBe(403);
});
