/** The documents for frames of other origins: who may show them, and what they are allowed. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const PAGE = '<!doctype html><head><title>Lynxroom</title></head>';
const ORIGINS = ['https://app.example.com', 'http://localhost:5173'];

let dir: string;
let app: TestApp;
let team: Team;
let room: string;
beforeAll(async () => {
  dir = await makeTempDir();
  await writeFile(join(dir, 'index.html'), PAGE);
  app = await startTestApp({ consoleDir: dir, limits: { publicPerAddress: 20 } });
  team = await addTeam(app);
  await team.owner.client.workspaces.rename.mutate({ id: team.id, embed_origins: ORIGINS });
  room = (await team.owner.client.rooms.create.mutate({ workspace_id: team.id })).room.name;
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

async function open(path: string, init: RequestInit = {}) {
  const response = await fetch(`${app.url}${path}`, { headers: { accept: 'text/html' }, ...init });
  const { headers, status } = response;
  const ancestors = /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
  return { status, headers, ancestors, html: await response.text() };
}

describe('a document for a frame', () => {
  test('names the origins of the workspace in its policy and its permissions, and to its script', async () => {
    const { bookingPage } = await team.owner.client.bookingPages.create.mutate({
      id: team.id,
      title: 'Intro',
      duration_minutes: 30,
      time_zone: 'Europe/Berlin',
      hours: [{ day: 'monday', from: '09:00', to: '17:00' }],
    });
    const { slug } = bookingPage;
    const paths = [
      ...[room, room.toUpperCase()].map((name) => `/embed/room/${name}`),
      `/embed/book/${slug}`,
      ...['library', 'webhooks'].map((part) => `/embed/${part}/${team.id}`),
    ];
    for (const path of paths) {
      const { status, headers, ancestors, html } = await open(path);
      expect([path, status, ancestors]).toEqual([path, 200, ORIGINS.join(' ')]);
      expect(headers.get('permissions-policy')).toBe(
        ['camera', 'microphone', 'display-capture']
          .map((feature) => `${feature}=(self "${ORIGINS[0]}" "${ORIGINS[1]}")`)
          .join(', '),
      );
      expect([headers.get('x-frame-options'), headers.get('cross-origin-opener-policy')]).toEqual([null, null]);
      expect(html).toContain(`<meta name="lynxroom:embed-origins" content="${ORIGINS.join(' ')}" />`);
    }
  });

  test('connects to the LiveKit server that carries the media of its room, and no other document does', async () => {
    const other = await addTeam(app);
    const { client } = other.owner;
    const credentials = { api_key: 'a key', api_secret: 'its secret', url: 'wss://livekit.example.com' };
    await client.connections.create.mutate({ id: other.id, name: 'Video', provider: 'livekit', credentials });
    const { room: carried } = await client.rooms.create.mutate({ workspace_id: other.id, waiting_room_enabled: 1 });
    const { room: meshed } = await client.rooms.create.mutate({ workspace_id: other.id, media: 'mesh' });
    const connectsTo = async (path: string) => {
      const { headers } = await open(path);
      return /connect-src ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
    };
    for (const path of [`/room/${carried.name}`, `/embed/room/${carried.name.toUpperCase()}`]) {
      expect([path, await connectsTo(path)]).toEqual([
        path,
        "'self' https://livekit.example.com wss://livekit.example.com",
      ]);
    }
    for (const path of [`/room/${meshed.name}`, `/embed/room/${meshed.name}`, `/room/${room}`, '/room/none', '/'])
      expect([path, await connectsTo(path)]).toEqual([path, "'self'"]);
  });

  test('may be shown by nobody if there is nothing, or no origin', async () => {
    const other = await addTeam(app);
    const { room: unnamed } = await other.owner.client.rooms.create.mutate({ workspace_id: other.id });
    const names = [
      ...['room/no-such-room', 'room/not%20a%20room', `room/${unnamed.name}`, 'book/none'],
      ...[`library/${other.id}`, 'library/999999', 'library/none', 'webhooks/0', 'webhooks/1e3'],
    ];
    for (const name of names) {
      const { status, headers, ancestors, html } = await open(`/embed/${name}`);
      expect([name, status, ancestors]).toEqual([name, 200, "'none'"]);
      expect(headers.get('permissions-policy')).toContain('camera=(self),');
      expect(html).toContain('<meta name="lynxroom:embed-origins" content="" />');
    }
  });

  test('is the only one: pages of the console and of guests may be framed by nobody', async () => {
    for (const path of [
      '/',
      `/room/${room}`,
      '/book/none',
      '/embed',
      '/embed/room',
      '/embed/library',
      `/embed/other/${room}`,
    ]) {
      const { headers, ancestors } = await open(path);
      expect([path, ancestors, headers.get('x-frame-options')]).toEqual([path, "'none'", 'DENY']);
    }
  });

  test('answers HEAD as GET, and JSON to those who prefer it', async () => {
    const head = await open(`/embed/room/${room}`, { method: 'HEAD' });
    expect([head.status, head.ancestors]).toEqual([200, ORIGINS.join(' ')]);
    expect((await open(`/embed/room/${room}`, { headers: { accept: 'application/json' } })).status).toBe(404);
  });

  test('may be shown by nobody to a network that guesses names', async () => {
    for (let index = 0; index < 40; index += 1) await open(`/embed/room/guess-${index}`);
    const unopened = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
    const { status, ancestors } = await open(`/embed/room/${unopened.room.name}`);
    expect([status, ancestors]).toEqual([200, "'none'"]);
  });
});
