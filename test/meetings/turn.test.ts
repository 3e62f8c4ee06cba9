/** Credentials for TURN servers. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { addRoom, addWaitingRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { join, openPage } from './pages.ts';

const SECRET = 'a secret of the TURN server';
const URLS = ['turn:turn.example.com:3478', 'turns:turn.example.com:5349?transport=tcp'];
const STUN = { urls: ['stun:stun.example.com'] };

let app: TestApp;
let team: Team;
beforeAll(async () => {
  const turn = { urls: URLS, secret: SECRET, lifetimeSeconds: 600 };
  const meetings = { iceServers: [STUN], turn, maxParticipants: 8, isRelayOnly: false, hasTurn: true, livekit: null };
  app = await startTestApp({
    settings: { meetings },
    streamLimits: { recheckMs: 200 },
    frozenAt: new Date('2026-06-15T12:00:00Z'),
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

const presence = async (room: string, token: string) =>
  (await app.http.post(`/api/rooms/${room}/presence`, undefined, { token })).body.media;

test('each participant gets credentials of 5 to 10 minutes, which change before they end', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const [vera, walt] = [await join(app, name, 'Vera'), await join(app, name, 'Walt')];
  const seen = new Set<string>();
  let last = '';
  for (let minute = 0; minute < 30; minute += 1) {
    const { ice_servers: servers, credentials_expire_at: expiresAt } = await presence(name, vera.token);
    const secondsLeft = expiresAt - app.clock.now().getTime() / SECOND_MS;
    expect(secondsLeft).toBeGreaterThan(300);
    expect(secondsLeft).toBeLessThanOrEqual(600);
    expect(servers).toEqual([
      STUN,
      { urls: URLS, username: `${expiresAt}:${vera.id}`, credential: expect.any(String) },
    ]);
    const { username, credential } = servers[1];
    expect(credential).toBe(createHmac('sha1', SECRET).update(username).digest('base64'));
    last = username;
    seen.add(username);
    app.clock.advance(MINUTE_MS);
  }
  expect(seen.size).toBeGreaterThanOrEqual(6);
  expect(seen.size).toBeLessThanOrEqual(7);
  expect((await presence(name, walt.token)).ice_servers[1].username).not.toBe(last);
  expect(JSON.stringify(app.logLines)).not.toContain(SECRET);
});

test('an open stream gets new credentials, and those who wait get none', async () => {
  const { name } = await addWaitingRoom(app, team, team.owner);
  const host = await openPage(await join(app, name, 'Olive Owner', team.owner.token));
  const waiting = await openPage(await join(app, name, 'Vera'));
  const expiries = () => host.stream.events.flatMap(({ data }) => data.data.media?.credentials_expire_at ?? []);
  expect(expiries()).toHaveLength(1);
  app.clock.advance(5 * MINUTE_MS);
  await expect.poll(expiries).toHaveLength(2);
  expect(waiting.stream.text()).not.toContain('turn.example.com');
  for (const { stream } of [host, waiting]) stream.close();
});

test('a room that uses only relays says so to those who join and before', async () => {
  const { name } = await addRoom(app, team, team.owner, { relay_only: 1 });
  const { token } = await join(app, name, 'Vera');
  expect((await presence(name, token)).ice_transport_policy).toBe('relay');
  expect((await app.http.get(`/api/rooms/${name}`)).body.room.relay_only).toBe(1);
  await app.http.patch(`/api/dashboard/rooms/${name}`, team.owner.token, { relay_only: false });
  expect((await presence(name, token)).ice_transport_policy).toBe('all');
});
