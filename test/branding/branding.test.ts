/** How a workspace looks to its guests: who changes it, what anyone can read of it, and when a logo goes. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { jpeg, png, webp } from '../support/images.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const NOTHING = { color: null, logo_url: null, imprint_url: null, privacy_url: null, language: null };

let app: TestApp;
let team: Team;
let path: string;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  path = `${team.path}/branding`;
});
afterAll(() => app.close());

async function setLogo(bytes: Uint8Array, type = 'image/png'): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${app.url}${path}/logo`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${team.owner.token}`, 'content-type': type },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, body: await response.json() };
}

async function logos(): Promise<string[]> {
  return (await storedKeys(app, team.id)).filter((key) => key.includes('/logos/'));
}

async function changes(): Promise<object[]> {
  const query = '?action=workspace.branding_changed';
  return (await app.http.get(`${team.path}/audit${query}`, team.owner.token)).body.entries;
}

test('color and links are normalised, kept where they are not given, removed by null, and audited once', async () => {
  const { token } = team.owner;
  expect((await app.http.get(path, team.member.token)).body).toEqual({ branding: NOTHING });
  const set = {
    color: '#0A7',
    imprint_url: ' https://Example.com/imprint ',
    privacy_url: 'https://example.com',
    language: 'de',
  };
  const branding = {
    color: '#00aa77',
    logo_url: null,
    imprint_url: 'https://example.com/imprint',
    privacy_url: 'https://example.com/',
    language: 'de',
  };
  expect((await app.http.patch(path, token, set)).body).toEqual({ branding });
  expect((await app.http.patch(path, token, set)).body).toEqual({ branding });
  expect((await app.http.patch(path, token, { color: null })).body).toEqual({ branding: { ...branding, color: null } });
  expect((await app.http.get(path, team.member.token)).body).toEqual({ branding: { ...branding, color: null } });
  const { logo_url, ...links } = branding;
  expect(await changes()).toMatchObject([
    { before: { color: '#00aa77' }, after: { color: null }, actor: { user_id: team.owner.id } },
    { before: { color: null, imprint_url: null, privacy_url: null, language: null }, after: links },
  ]);
});

test('a logo is the image that it is, at a URL that anyone can read, and nothing in it runs', async () => {
  const set = await setLogo(png, 'text/html');
  expect(set.status).toBe(200);
  const url: string = set.body.branding.logo_url;
  expect(url).toMatch(new RegExp(`^${app.url}/api/logos/[0-9a-f-]{36}\\.png$`));
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
  const unknown = await app.http.get('/api/logos/00000000-0000-0000-0000-000000000000.png');
  expect([unknown.status, unknown.body.message]).toEqual([404, 'Logo not found']);
  expect((await app.http.get('/api/logos/%00')).status).toBe(404);
});

test('an SVG is refused as what it is called, and a file over 256 kB', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>');
  expect(await setLogo(svg)).toMatchObject({ status: 400, body: { issues: [{ path: 'logo' }] } });
  expect((await setLogo(Buffer.concat([png, Buffer.alloc(262_145)]))).status).toBe(413);
  expect(await logos()).toEqual([]);
});

test('a workspace has one logo: another replaces it in the store, also if both are set at once', async () => {
  const first: string = (await setLogo(png)).body.branding.logo_url;
  const answers = await concurrently(6, (index) => setLogo(index % 2 === 0 ? jpeg : webp));
  expect(countStatuses(answers)).toEqual({ 200: 6 });
  await removeDiscardedObjects(app.services);
  expect(await logos()).toHaveLength(1);
  expect((await fetch(first)).status).toBe(404);
  const { logo_url } = (await app.http.get(path, team.owner.token)).body.branding;
  expect((await fetch(logo_url)).status).toBe(200);
  expect((await changes()).at(-1)).toMatchObject({ before: { logo: null }, after: { logo: 'png' } });
  // The sweep of the store knows it.
  expect((await sweepStorage(app.services)).orphans).toBe(0);

  expect((await app.http.delete(`${path}/logo`, team.owner.token)).body).toEqual({ branding: NOTHING });
  expect((await app.http.delete(`${path}/logo`, team.owner.token)).body).toEqual({ branding: NOTHING });
  await removeDiscardedObjects(app.services);
  expect(await logos()).toEqual([]);
  expect((await fetch(logo_url)).status).toBe(404);
});

test('a logo goes with its workspace', async () => {
  const { logo_url } = (await setLogo(webp)).body.branding;
  expect(await logos()).toHaveLength(1);
  expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
  await removeDiscardedObjects(app.services);
  expect(await logos()).toEqual([]);
  expect((await fetch(logo_url)).status).toBe(404);
});

test('the answers for guests have the branding of their workspace, and of no other', async () => {
  const { token } = team.owner;
  await setLogo(png);
  const { branding } = (await app.http.patch(path, token, { color: '#0f766e' })).body;
  const other = await addTeam(app);
  for (const [{ path: ofTeam, id, owner }, expected] of [
    [team, branding],
    [other, NOTHING],
  ] as const) {
    const slug = `branded-${id}`;
    const hours = [{ day: 'monday', from: '09:00', to: '12:00' }];
    await app.http.post(`${ofTeam}/booking-pages`, owner.token, { title: 'Call', slug, time_zone: 'UTC', hours });
    const { room } = await owner.client.rooms.create.mutate({ workspace_id: id, members_only: true });
    expect((await app.http.get(`/api/book/${slug}`)).body.page.branding).toEqual(expected);
    expect((await app.http.get(`/api/rooms/${room.name}`)).body.room.branding).toEqual(expected);
  }
});
