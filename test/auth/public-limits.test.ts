/** Limits on calls without a credential: loose for what exists, since people share networks, and strict for guesses. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPage, officeHours } from '../bookings/pages.ts';
import { addRoom } from '../participants/rooms.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

/** The default of misses. That of hits is smaller here, so that fewer calls are needed. */
const MISSES = 60;
const HITS = 150;

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ limits: { publicPerAddress: MISSES, perUser: HITS } });
  team = await addTeam(app);
});
afterAll(() => app.close());

let networks = 0;
/** A network that has not called yet. */
function newNetwork() {
  networks += 1;
  const localAddress = `127.0.1.${networks}`;
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      callFrom(`${app.url}${path}`, { localAddress, headers }),
    post: (path: string, json: object, headers: Record<string, string> = {}) =>
      callFrom(`${app.url}${path}`, { method: 'POST', localAddress, json, headers }),
  };
}
type Network = ReturnType<typeof newNetwork>;

async function useUpMisses(network: Network, misses = MISSES): Promise<void> {
  for (let guess = 0; guess < misses; guess += 1)
    expect((await network.get(`/api/rooms/guess-${guess}`)).status).toBe(404);
}

test('fifty guests behind one address get into a room, each with the calls of the page', async () => {
  const { name } = await addRoom(app, team, team.owner);
  const network = newNetwork();
  const statuses = await concurrently(50, async (guest) => {
    const me = await network.get('/api/auth/me');
    const room = await network.get(`/api/rooms/${name}`);
    const joined = await network.post('/trpc/participants.join', { roomName: name, name: `Guest ${guest}` });
    return [me.status, room.status, joined.status];
  });
  expect(statuses).toEqual(Array.from({ length: 50 }, () => [401, 200, 200]));
});

test('what exists has a limit per network', async () => {
  const [room, other] = [await addRoom(app, team, team.owner), await addRoom(app, team, team.owner)];
  const network = newNetwork();
  const answers = await concurrently(HITS + 10, () => network.get(`/api/rooms/${room.name}`));
  expect(countStatuses(answers)).toEqual({ 200: HITS, 429: 10 });
  expect((await network.post(`/api/rooms/${room.name}/join`, { name: 'Gus' })).status).toBe(429);
  expect((await network.get(`/api/rooms/${other.name}`)).status).toBe(200);
  expect((await newNetwork().get(`/api/rooms/${room.name}`)).status).toBe(200);
});

describe('guessing', () => {
  test('is limited as strictly if hits come between, and shows no more of what exists', async () => {
    const [known, unseen] = [await addRoom(app, team, team.owner), await addRoom(app, team, team.owner)];
    const network = newNetwork();
    for (let guess = 0; guess < MISSES; guess += 1) {
      const miss = await network.get(`/api/rooms/mixed-${guess}`);
      expect([miss.status, miss.headers['ratelimit-remaining']]).toEqual([404, String(MISSES - guess - 1)]);
      expect((await network.get(`/api/rooms/${known.name}`)).status).toBe(200);
    }
    const shown = async (path: string) => {
      const { status, headers, body } = await network.get(path);
      const { 'x-request-id': _id, date: _date, 'ratelimit-reset': _reset, 'retry-after': _after, ...others } = headers;
      return { status, others, code: (body as { code: string }).code };
    };
    const refused = await shown('/api/rooms/mixed-again');
    expect(refused).toMatchObject({ status: 429, others: { 'ratelimit-limit': String(MISSES) } });
    expect(await shown(`/api/rooms/${unseen.name}`)).toEqual(refused);
    // The guesses of others do not keep people out of a room that the network has reached.
    expect((await network.get(`/api/rooms/${known.name}`)).status).toBe(200);
    expect((await network.post(`/api/rooms/${known.name}/join`, { name: 'Gus' })).status).toBe(200);
    expect((await newNetwork().get(`/api/rooms/${unseen.name}`)).status).toBe(200);
  });

  test('at the same time is limited too, and one that goes on is refused everything', async () => {
    const { name } = await addRoom(app, team, team.owner);
    const network = newNetwork();
    expect((await network.get(`/api/rooms/${name}`)).status).toBe(200);
    const guesses = await concurrently(3 * MISSES, (guess) => network.get(`/api/rooms/burst-${guess}`));
    const answered = countStatuses(guesses)[404] ?? 0;
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(MISSES);
    await concurrently(10 * MISSES, () => network.get('/api/rooms/burst-again'));
    expect((await network.get(`/api/rooms/${name}`)).status).toBe(429);
  });

  test('does not end the visits of the same network, and signed-in users are counted apart', async () => {
    const { name } = await addRoom(app, team, team.owner);
    const network = newNetwork();
    const { body } = await network.post(`/api/rooms/${name}/join`, { name: 'Gus' });
    const { token } = (body as { participant: { token: string } }).participant;
    await useUpMisses(network);
    expect((await network.post(`/api/rooms/${name}/presence`, { token })).status).toBe(200);
    const authorization = `Bearer ${team.member.token}`;
    expect((await network.get('/api/auth/me', { authorization })).status).toBe(200);
    expect((await network.get('/api/rooms/no-such-room', { authorization })).status).toBe(404);
    expect((await network.post('/api/rooms/no-such-room/join', {}, { authorization })).status).toBe(404);
  });

  const wrong = (letter: string, prefix: string) => prefix + letter.repeat(43);
  test.each<[string, number, (network: Network) => Promise<{ status: number }>]>([
    ['a room', 404, (network) => network.post('/api/rooms/no-such-room/join', { name: 'Gus' })],
    ['a room over tRPC', 404, (network) => network.get('/trpc/rooms.readPublic?input={"roomName":"no-such-room"}')],
    ['no room', 400, (network) => network.post('/trpc/participants.join', { roomName: 5 })],
    ['a booking page', 404, (network) => network.get('/api/book/no-such-page')],
    ['a booking', 404, (network) => network.post('/api/book/x/booking', { token: wrong('A', 'lnb_') })],
    ['a booking to confirm', 404, (network) => network.post('/api/book/x/confirm', { token: wrong('A', 'lnm_') })],
    ['an invitation', 404, (network) => network.post('/api/invitations/look-up', { token: wrong('A', 'lni_') })],
    ['an invite', 404, (network) => network.post('/api/workspaces/join/look-up', { token: wrong('A', '') })],
    ['a calendar feed', 404, (network) => network.get(`/api/calendar/${wrong('A', 'lnc_')}`)],
    ['a link that confirms an address', 400, (network) => network.post('/api/auth/verify-email', { token: 'x' })],
    ['a participant', 404, (network) => network.post('/api/rooms/x/presence', { token: wrong('A', 'lnp_') })],
    ['a connection', 404, (network) => network.post(`/api/ingest/${'A'.repeat(32)}`, {})],
    ['a session', 401, (network) => network.get('/api/auth/me', { authorization: `Bearer ${wrong('A', 'lns_')}` })],
    [
      'a session, to join a room',
      401,
      (network) => network.post('/api/rooms/x/join', {}, { authorization: 'Bearer x' }),
    ],
  ])('names %s that does not exist: it counts like every other miss', async (_, status, guess) => {
    const network = newNetwork();
    await useUpMisses(network, MISSES - 1);
    expect((await guess(network)).status).toBe(status);
    expect((await guess(network)).status).toBe(429);
    expect((await network.get('/api/rooms/no-such-room')).status).toBe(429);
  });
});

test('a network without misses left reaches no new booking page, but the bookings whose token it has', async () => {
  const { slug } = await createPage(app, team, officeHours);
  const [starts_at] = (await app.http.get(`/api/book/${slug}`)).body.times;
  const guest = { name: 'Vera', email: 'vera@example.com', starts_at };
  const { booking } = (await app.http.post(`/api/book/${slug}`, undefined, guest)).body;
  const network = newNetwork();
  await useUpMisses(network);
  expect((await network.get(`/api/book/${slug}`)).status).toBe(429);
  expect((await network.post(`/api/book/${slug}/booking`, { token: booking.cancel_token })).status).toBe(200);
});
