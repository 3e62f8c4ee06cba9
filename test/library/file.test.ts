/** The path of an item's file: it stays the same, and redirects to a fresh URL each time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team, upload } from '../support/world.ts';

const MP4 = makeMp4({ durationSeconds: 3, moov: 'front', mdatBytes: 10_000 });

let app: TestApp;
let team: Team;
let path: string;
let cookie: string;
beforeAll(async () => {
  app = await startTestApp({ settings: { downloadSeconds: 60 } });
  team = await addTeam(app);
  const { item } = (
    await upload(app, team.path, team.owner.token, Uint8Array.from(MP4), { filename: 'film.mp4', type: 'video/mp4' })
  ).body;
  path = `${team.path}/library/${item.id}/file`;
  const login = await app.http.post('/api/auth/login', undefined, { email: team.member.email, password: PASSWORD });
  cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
});
afterAll(() => app.close());

function get(headers: Record<string, string>, { follow = false, method = 'GET', query = '' } = {}) {
  return fetch(`${app.url}${path}${query}`, { method, headers, redirect: follow ? 'follow' : 'manual' });
}

test('a media element with the cookie, and a server with a key, get the file for as long as they ask', async () => {
  const { body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Player' });
  // What browsers send for <video src>.
  const media = { cookie, accept: '*/*', 'sec-fetch-dest': 'video', 'sec-fetch-mode': 'no-cors' };
  for (const headers of [media, { authorization: `Bearer ${body.apiKey.full_key}` }]) {
    const first = await get(headers);
    expect(first.status).toBe(302);
    expect(first.headers.get('location')).toMatch(new RegExp(`^${app.url}/files/`));
    expect(first.headers.get('cache-control')).toBe('private, no-store');
    app.clock.advance(61_000);
    expect((await fetch(first.headers.get('location') ?? '')).status).toBe(403);
    const part = await get({ ...headers, range: 'bytes=100-199' }, { follow: true });
    expect([part.status, part.headers.get('content-type')]).toEqual([206, 'video/mp4']);
    expect(Buffer.from(await part.arrayBuffer()).equals(MP4.subarray(100, 200))).toBe(true);
  }
});

test('the file is displayed, unless it is asked for as an attachment; HEAD is redirected too', async () => {
  const disposition = async (query: string) =>
    (await get({ cookie }, { follow: true, query })).headers.get('content-disposition')?.split(';')[0];
  expect(await disposition('')).toBe('inline');
  expect(await disposition('?disposition=attachment')).toBe('attachment');
  const head = await get({ cookie }, { follow: true, method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, `${MP4.length}`]);
});

test('a caller that accepts JSON gets the URL, over tRPC too', async () => {
  const response = await get({ cookie, accept: 'application/json' });
  const now = Math.floor(app.clock.now().getTime() / 1_000);
  expect([response.status, await response.json()]).toEqual([
    200,
    { url: expect.stringContaining('/files/'), expires_at: now + 60 },
  ]);
  const itemId = Number(/(\d+)\/file$/.exec(path)?.[1]);
  const { url } = await team.member.client.library.file.query({ id: team.id, itemId });
  expect((await fetch(url)).headers.get('content-disposition')).toMatch(/^inline/);
});

test('it is never public, and no query carries a credential', async () => {
  expect((await get({})).status).toBe(401);
  expect((await get({}, { query: `?token=${team.owner.token}` })).status).toBe(401);
  expect((await get({ authorization: `Bearer ${team.outsider.token}` })).status).toBe(403);
});
