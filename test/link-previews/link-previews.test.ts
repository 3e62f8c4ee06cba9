/** What links to rooms, booking pages and workspaces say of themselves where they are pasted. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const PAGE = '<!doctype html><head><title>Lynxroom</title></head>';
const HOSTILE = '"><script>alert(1)</script> $& Sync';

let dir: string;
let app: TestApp;
let team: Team;
beforeAll(async () => {
  dir = await makeTempDir();
  await writeFile(join(dir, 'index.html'), PAGE);
  app = await startTestApp({ consoleDir: dir, limits: { publicPerAddress: 8 } });
  team = await addTeam(app, 'Secret & Sons');
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

type Page = { status: number; head: string };

async function read(path: string, init: RequestInit = {}): Promise<Page> {
  const response = await fetch(`${app.url}${path}`, { headers: { accept: '*/*' }, ...init });
  return { status: response.status, head: await response.text() };
}

function propertyOf({ head }: Page, name: string): string | undefined {
  return new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(head)?.[1];
}

async function createRoom(settings: { members_only?: 1; waiting_room_enabled?: 1; display_name?: string } = {}) {
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id, ...settings });
  return room;
}

describe('a link to a room', () => {
  test('names an open room, with its name escaped, and an icon', async () => {
    const room = await createRoom({ display_name: HOSTILE });
    const page = await read(`/room/${room.name.toUpperCase()}`);
    const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; $&amp; Sync';
    expect(page.status).toBe(200);
    expect(page.head).toContain(`<title>${escaped}</title>`);
    expect(page.head).not.toContain('<script>');
    expect(propertyOf(page, 'og:title')).toBe(escaped);
    expect(propertyOf(page, 'og:description')).toBe(propertyOf(page, 'description'));
    expect(propertyOf(page, 'og:image')).toBe(`${app.url}/icon-512.png`);
  });

  test('says the same of rooms that are locked, unknown, for members or with a waiting room', async () => {
    const locked = await createRoom({ display_name: 'Locked talk' });
    await team.owner.client.rooms.lock.mutate({ name: locked.name });
    const rooms = [
      locked,
      await createRoom({ display_name: 'Members talk', members_only: 1 }),
      await createRoom({ display_name: 'Waiting talk', waiting_room_enabled: 1 }),
      { name: 'no-such-room' },
      { name: 'not%20a%20room' },
    ];
    const pages = await Promise.all(rooms.map(({ name }) => read(`/room/${name}`)));
    expect(new Set(pages.map(({ head }) => head)).size).toBe(1);
    expect(pages[0]?.head).toContain('<title>Meeting room</title>');
  });

  test('answers HEAD as GET, and JSON to those who prefer it', async () => {
    const { name } = await createRoom();
    const response = await fetch(`${app.url}/room/${name}`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('permissions-policy')).toContain('camera=(self)');
    expect(response.headers.get('vary')).toMatch(/\bAccept\b/);
    expect((await read(`/room/${name}`, { headers: { accept: 'application/json' } })).status).toBe(404);
  });
});

test('a link to a booking page says what can be booked with whom', async () => {
  const { bookingPage } = await team.owner.client.bookingPages.create.mutate({
    id: team.id,
    title: 'First talk',
    duration_minutes: 30,
    time_zone: 'Europe/Berlin',
    hours: [{ day: 'monday', from: '09:00', to: '17:00' }],
  });
  const page = await read(`/book/${bookingPage.slug}`);
  expect(propertyOf(page, 'og:title')).toBe('First talk');
  expect(propertyOf(page, 'description')).toBe(`Book 30 minutes with ${team.owner.name}.`);
  expect(propertyOf(await read('/book/nobody'), 'og:title')).toBe('Booking page');
});

test('an invite link names the workspace only', async () => {
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  const page = await read(`/join/${token}`);
  expect(propertyOf(page, 'og:title')).toBe('Join Secret &amp; Sons');
  expect(page.head).not.toContain(team.owner.email);
  expect(page.head).not.toContain(team.owner.name);
  expect(propertyOf(await read('/join/unknown'), 'og:title')).toBe('Invitation');
});

test('opening the link of a room that says nothing of itself is no guess', async () => {
  const [waiting, open] = [await createRoom({ waiting_room_enabled: 1 }), await createRoom({ display_name: 'Open' })];
  for (let index = 0; index < 10; index += 1) await read(`/room/${waiting.name}`);
  expect(propertyOf(await read(`/room/${open.name}`), 'og:title')).toBe('Open');
});

test('a network that guesses names is told no more of them, but gets the page', async () => {
  const { name } = await createRoom({ display_name: 'Found by a guess' });
  for (let index = 0; index < 10; index += 1) await read(`/room/guess-${index}`);
  const page = await read(`/room/${name}`);
  expect(page.status).toBe(200);
  expect(propertyOf(page, 'og:title')).toBe('Meeting room');
});

test('password managers find the page that changes a password', async () => {
  const { status, headers } = await fetch(`${app.url}/.well-known/change-password`, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([302, '/account/security']);
});
