/** Meetings between browsers, on the page of a room: with the cameras and microphones that exist in browsers alone. */
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { enter } from '../../meetings/pages.ts';
import { createHttp } from '../../support/http.ts';
import type { TestApp } from '../../support/test-app.ts';
import { expectAccessible, type Journey, journey, refuseOnce } from './support/journey.ts';
import { expectAllSeeAndHear, joinMeeting, openRoom, readReceived, tileOf } from './support/meeting-pages.ts';

async function createRoom({ newTeam }: Journey) {
  const team = await newTeam();
  const input = { workspace_id: team.id, display_name: 'Weekly sync' };
  const { room } = await team.owner.client.rooms.create.mutate(input);
  return { ...team, roomName: room.name };
}

const DENY = `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('No', 'NotAllowedError'))`;
/** Keeps the tracks of the devices. */
const KEEP_TRACKS = `{
  globalThis.tracks = [];
  const getUserMedia = navigator.mediaDevices.getUserMedia;
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const stream = await getUserMedia(constraints);
    tracks.push(...stream.getTracks());
    return stream;
  };
}`;
const INSECURE = `Object.defineProperty(Navigator.prototype, 'mediaDevices', { value: undefined })`;

journey('people without a camera and a microphone take part, and are told how to change it', async (world) => {
  const { roomName } = await createRoom(world);
  const seen = await openRoom(world, roomName);
  await joinMeeting(seen, 'Sina Seen');
  const denied = await openRoom(world, roomName, { prepare: DENY });
  await denied.getByText('The browser was not allowed to use your camera and microphone').waitFor();
  await expectAccessible(denied);
  await joinMeeting(denied, 'Dora Denied');
  await expect.poll(async () => (await readReceived(denied))[0]?.pictures ?? 0).toBeGreaterThan(0);
  await tileOf(seen, 'Dora Denied').getByRole('img', { name: 'Muted' }).waitFor();
  const insecure = await openRoom(world, roomName, { prepare: INSECURE });
  await insecure.getByText('loaded over plain http').waitFor();
  const guide = await insecure.getByRole('link', { name: 'HTTPS guide' }).getAttribute('href');
  expect((await fetch(`${world.url}${guide}`)).status).toBe(200);
  await joinMeeting(insecure, 'Ivan Insecure');
  expect(await insecure.getByRole('button', { name: 'Share screen' }).count()).toBe(0);
  await expect.poll(async () => (await readReceived(insecure)).length).toBe(2);
});

journey('a second page takes over from the first, which can come back', async (world) => {
  const { owner, roomName } = await createRoom(world);
  const first = await openRoom(world, roomName, { person: owner });
  await joinMeeting(first);
  const guest = await openRoom(world, roomName);
  await joinMeeting(guest, 'Gus Guest');
  await expectAllSeeAndHear([first, guest]);
  const second = await openRoom(world, roomName, { person: owner });
  await joinMeeting(second);
  await first.getByText('You continued elsewhere').waitFor();
  await expectAccessible(first);
  await expectAllSeeAndHear([second, guest]);
  await first.getByRole('button', { name: 'Come back here' }).click();
  await second.getByText('You continued elsewhere').waitFor();
  await expectAllSeeAndHear([first, guest]);
});

journey('camera and microphone are off where a provider carries the meeting', async (world) => {
  const { id, owner, roomName } = await createRoom(world);
  const page = await openRoom(world, roomName, { prepare: KEEP_TRACKS });
  const countLive = () => page.evaluate(`tracks.filter(({ readyState }) => readyState === 'live').length`);
  await expect.poll(countLive).toBe(2);
  // The page was opened before the workspace had a provider, and shows a preview.
  await owner.client.connections.create.mutate({ id, name: 'Meetings', provider: 'generic' });
  await joinMeeting(page, 'Gus Guest');
  await page.getByText('You are in the room').waitFor();
  await expect.poll(countLive).toBe(0);
});

journey('a full meeting says so, and is joined as soon as somebody leaves', async (world) => {
  const { roomName } = await createRoom(world);
  // `as`: the pages need nothing else of an app.
  const app = { url: world.url, http: createHttp(world.url) } as TestApp;
  const others = await Promise.all(Array.from({ length: 8 }, (_, index) => enter(app, roomName, `Guest ${index}`)));
  const page = await openRoom(world, roomName);
  await page.getByText('This meeting is full at the moment').waitFor();
  await page.getByLabel('Name').fill('Nina Ninth');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByText('All 8 places are taken').waitFor();
  await expectAccessible(page);
  const [one] = others;
  await app.http.post(`/api/rooms/${roomName}/leave`, undefined, { token: one?.token });
  await page.getByRole('button', { name: 'Mute', exact: true }).waitFor();
  for (const { stream } of others) stream.close();
});

journey('everybody is asked when a recording starts, and told before they join one', async (world) => {
  const { roomName } = await createRoom(world);
  const [stays, leaves] = [await openRoom(world, roomName), await openRoom(world, roomName)];
  await joinMeeting(stays, 'Stella Stays');
  await joinMeeting(leaves, 'Lena Leaves');
  const guest = createClient({ url: world.url });
  const { participant } = await guest.participants.join.mutate({ roomName, name: 'Rita Recorder' });
  await guest.recordings.startInRoom.mutate({ roomName, token: participant.token });
  for (const page of [stays, leaves])
    await page.getByRole('alertdialog', { name: /recorded by Rita Recorder/ }).waitFor();
  await expectAccessible(stays);
  await stays.getByText('All members of the workspace of this room can watch').waitFor();
  await stays.keyboard.press('Escape');
  await stays.getByRole('button', { name: 'Stay' }).click();
  await stays.getByRole('alertdialog').waitFor({ state: 'detached' });
  await stays.getByText('This meeting is being recorded by Rita Recorder').waitFor();
  await leaves.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await leaves.getByText('You have left the room').waitFor();
  await expectAccessible(leaves);
  const late = await openRoom(world, roomName);
  await late.getByText('This meeting is being recorded by Rita Recorder').waitFor();
  await expectAccessible(late);
  await joinMeeting(late, 'Lars Late');
  await tileOf(late, 'Stella Stays').waitFor();
  expect(await late.getByRole('alertdialog').count()).toBe(0);
  await late.getByText('This meeting is being recorded by Rita Recorder').waitFor();
  // A reload asks nobody a second time, and a service that is not available for a moment ends no visit.
  await refuseOnce(stays, 'participants.presence', 503, 'SERVICE_UNAVAILABLE');
  await stays.reload();
  await stays.getByText('This meeting is being recorded by Rita Recorder').waitFor();
  expect(await stays.getByRole('alertdialog').count()).toBe(0);
});
