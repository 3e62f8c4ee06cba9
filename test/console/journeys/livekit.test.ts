/**
 * Meetings that a LiveKit server carries, on the page of a room. The server is that of the tests, and the page has a
 * stub of LiveKit's client: a LiveKit server has never been there.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import { type LivekitServer, startLivekitServer } from '../../livekit/livekit-server.ts';
import { expectAccessible, type Journey, journey } from './support/journey.ts';
import { stubLivekit } from './support/livekit-stub.ts';
import { expectAllSeeAndHear, joinMeeting, openRoom, tileOf } from './support/meeting-pages.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

let server: LivekitServer;
beforeAll(async () => {
  server = await startLivekitServer(key);
});
afterAll(() => server[Symbol.asyncDispose]());

async function createRoom({ newTeam }: Journey) {
  const team = await newTeam();
  const { id, owner } = team;
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const credentials = { ...key, url: server.url };
  const { connection } = await owner.client.connections.create.mutate({
    id,
    name: 'Video',
    provider: 'livekit',
    credentials,
  });
  const rotate = () => owner.client.connections.rotate.mutate({ id, connectionId: connection.id, credentials });
  return { owner, roomName: room.name, rotate };
}

journey('a LiveKit server carries a meeting on the same page, with chat, muting and a recording', async (world) => {
  const { owner, roomName, rotate } = await createRoom(world);
  const host = await openRoom(world, roomName, { person: owner });
  const guest = await openRoom(world, roomName);
  const asked = [await stubLivekit(host), await stubLivekit(guest)];
  await joinMeeting(host);
  await joinMeeting(guest, 'Gus Guest');
  await expectAllSeeAndHear([host, guest]);
  expect(asked.map(({ length }) => length)).toEqual([1, 1]);
  // Each page is on the server once, by the token for it.
  expect(server.rooms.get(roomName)?.size).toBe(2);
  await expectAccessible(host);

  await host.getByRole('button', { name: 'Chat', exact: true }).click();
  await host.getByLabel('Message', { exact: true }).fill('Hello over LiveKit');
  await host.keyboard.press('Enter');
  await guest.getByRole('button', { name: /^Chat/ }).click();
  await guest.getByRole('log').getByText('Hello over LiveKit').waitFor();

  // Without anything but what the server has: the page records what it shows.
  await host.getByRole('button', { name: 'Record', exact: true }).click();
  await guest.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
  await guest.getByText('This meeting is being recorded').waitFor();
  await host.waitForTimeout(2_000);
  await host.getByRole('button', { name: 'Stop recording' }).click();
  const read = async () => (await owner.client.recordings.listInRoom.query({ name: roomName })).recordings[0];
  await expect.poll(async () => (await read())?.status).toBe('available');

  // A newer token, which comes before the next list of the others, ends no connection, and is for the next one.
  await rotate();
  await guest.getByRole('button', { name: 'Mute', exact: true }).click();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).click();
  expect(await host.evaluate('livekit.tokens.length')).toBe(1);
  // A restart of the server: both connect again, and send what they sent.
  server.disconnectPages();
  await expect.poll(() => host.evaluate('livekit.tokens.length')).toBe(2);
  expect(await host.evaluate('new Set(livekit.tokens).size')).toBe(2);
  await expectAllSeeAndHear([host, guest]);

  await host.getByRole('button', { name: 'People', exact: true }).click();
  await host.getByRole('button', { name: 'Ask all to mute' }).click();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).waitFor();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor();
  await guest.getByRole('button', { name: 'Unmute', exact: true }).click();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor({ state: 'detached' });
  await expectAllSeeAndHear([host, guest]);

  await host.getByRole('button', { name: 'Remove Gus Guest' }).click();
  await guest.getByText('A host has removed you').waitFor();
  await expect.poll(() => server.rooms.get(roomName)?.size).toBe(1);
});

journey('a page whose workspace gets a LiveKit server goes on there, and loads its client only then', async (world) => {
  const { id, owner } = await world.newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const page = await openRoom(world, room.name);
  const asked = await stubLivekit(page);
  await joinMeeting(page, 'Gus Guest');
  expect(asked).toEqual([]);
  const credentials = { ...key, url: server.url };
  await owner.client.connections.create.mutate({ id, name: 'Video', provider: 'livekit', credentials });
  // As a person who comes back to the page, which asks at once. Its document may not connect to the server.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await expect.poll(() => server.rooms.get(room.name)?.size).toBe(1);
  await tileOf(page, 'Gus Guest').waitFor();
  expect(asked).toHaveLength(1);
});
