/** How many streams a network, a room and all guests may have, so that some are left for everybody else. */
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';

/** Guests may have 10 of these streams; those of one network 2, and those of one room 4. A network may have 10. */
const limits = { perOwner: 2, perProcess: 20 };

let app: TestApp;
let team: Team;
const open: IncomingMessage[] = [];
beforeAll(async () => {
  app = await startTestApp({ streamLimits: limits });
  team = await addTeam(app);
});
afterAll(async () => {
  for (const stream of open) stream.destroy();
  await app.close();
});

/** Opens a stream from the address 127.0.2.`network`, and keeps it open if the service answers with one. */
async function openFrom(network: number, path: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const call = request(`${app.url}${path}`, { localAddress: `127.0.2.${network}`, headers });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.on('error', reject).on('response', resolve).end();
  });
  response.on('error', () => {});
  if (response.statusCode === 200) open.push(response);
  else response.resume();
  return response.statusCode ?? 0;
}

async function addRoom(): Promise<string> {
  return (await team.owner.client.rooms.create.mutate({ workspace_id: team.id })).room.name;
}

/** A new participant of the room opens a stream from a network. */
async function openAsParticipant(network: number, room: string, by?: Person): Promise<number> {
  const { body } = await app.http.post(`/api/rooms/${room}/join`, by?.token, { name: 'Gus' });
  return openFrom(network, `/api/rooms/${room}/presence/stream?token=${body.participant.token}`);
}

test('guests of one network and of one room cannot take all streams, and all guests only half of them', async () => {
  const rooms = [await addRoom(), await addRoom(), await addRoom()];
  const [first = '', second = '', third = ''] = rooms;
  const from = async (networks: number[], room: string) => {
    const statuses: number[] = [];
    for (const network of networks) statuses.push(await openAsParticipant(network, room));
    return statuses;
  };
  expect(await from([1, 1, 1, 2, 2], first)).toEqual([200, 200, 429, 200, 200]);
  // The room is full, for guests of every network. Its signed-in participants are not counted.
  expect(await from([3], first)).toEqual([503]);
  expect(await openAsParticipant(3, first, team.member)).toBe(200);
  expect(await from([3, 3, 4, 4], second)).toEqual([200, 200, 200, 200]);
  expect(await from([5, 5], third)).toEqual([200, 200]);
  expect(app.services.live.use().open).toBe(11);
  expect(await from([6], third)).toEqual([503]);
  const events = `${team.path}/events/stream`;
  for (const { token } of [team.owner, team.admin, team.member]) expect(await openFrom(6, events, token)).toBe(200);
});

test('one network of signed-in users cannot take all streams', async () => {
  for (const stream of open.splice(0)) stream.destroy();
  await expect.poll(() => app.services.live.use().open).toBe(0);
  const teams = [team, await addTeam(app), await addTeam(app), await addTeam(app)];
  const statuses: number[] = [];
  for (const { path, owner, admin } of teams.slice(0, 3))
    for (const { token } of [owner, owner, admin, admin])
      statuses.push(await openFrom(1, `${path}/events/stream`, token));
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
  const [last = team] = teams.slice(-1);
  for (const { token } of [last.owner, last.admin, last.member])
    expect(await openFrom(2, `${last.path}/events/stream`, token)).toBe(200);
});
