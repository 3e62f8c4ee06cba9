/** Meetings between browsers, on the page of a room: with the cameras and microphones that exist in browsers alone. */
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, type Journey, journey } from './support/journey.ts';
import { expectAllSeeAndHear, joinMeeting, LARGE, openRoom, readReceived, tileOf } from './support/meeting-pages.ts';

const readWidth = (video: { readonly videoWidth?: number }): number => video.videoWidth ?? 0;

async function createRoom({ newTeam }: Journey, settings: { waiting_room_enabled?: 0 | 1 } = {}) {
  const team = await newTeam();
  const input = { workspace_id: team.id, display_name: 'Weekly sync', ...settings };
  const { room } = await team.owner.client.rooms.create.mutate(input);
  return { ...team, roomName: room.name };
}

journey('two people see and hear each other, share, write, and the host admits and removes', async (world) => {
  const { owner, roomName } = await createRoom(world, { waiting_room_enabled: 1 });
  const host = await openRoom(world, roomName, { person: owner, camera: LARGE });
  await joinMeeting(host);
  const guest = await openRoom(world, roomName, { camera: LARGE });
  await guest.getByLabel('Name').fill('Gus Guest');
  await guest.getByRole('button', { name: 'Ask to join' }).click();
  await guest.getByText('A host will let you in').waitFor();
  await host.getByRole('button', { name: 'Admit Gus Guest' }).click();
  await expectAllSeeAndHear([host, guest]);
  for (const page of [host, guest]) {
    const own = tileOf(page, '(you)').locator('video');
    expect(await own.evaluate(readWidth)).toBe(LARGE.width);
    // How much of it arrives depends on the machine.
    await expect.poll(async () => (await readReceived(page))[0]?.width ?? 0).toBeGreaterThanOrEqual(LARGE.width / 4);
  }

  await guest.getByRole('button', { name: 'Mute', exact: true }).click();
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor();
  // The keys do the same as the buttons, but not while the person types.
  await guest.keyboard.press('m');
  await tileOf(host, 'Gus Guest').getByRole('img', { name: 'Muted' }).waitFor({ state: 'detached' });
  await guest.keyboard.press('c');
  await guest.getByLabel('Message', { exact: true }).fill('mv');
  await guest.keyboard.type('!');
  await guest.keyboard.press('Enter');
  await guest.getByRole('button', { name: 'Mute', exact: true }).waitFor();
  await host.getByRole('button', { name: 'Chat', exact: true }).click();
  await host.getByRole('log').getByText('mv!').waitFor();
  await guest.getByRole('button', { name: 'Share screen' }).click();
  const screen = host.getByRole('figure', { name: 'Screen of Gus Guest' });
  await expect.poll(() => screen.locator('video').evaluate(readWidth)).toBeGreaterThan(0);
  await expectFitsPhone(host);
  await guest.getByRole('button', { name: 'Stop sharing' }).click();
  await screen.waitFor({ state: 'detached' });
  await guest.getByRole('button', { name: 'Turn camera off' }).click();
  await expect.poll(() => tileOf(host, 'Gus Guest').locator('video').count()).toBe(0);

  await host.getByRole('button', { name: 'People', exact: true }).click();
  await host.getByRole('button', { name: 'Ask all to mute' }).click();
  await guest.getByRole('button', { name: 'Turn my microphone off' }).click();
  await guest.getByRole('button', { name: 'Unmute' }).waitFor();
  await host.getByLabel('People can chat').click();
  await guest.getByText('A host has switched the chat off').waitFor();
  await expectAccessible(host);
  await expectAccessible(guest);
  await host.getByRole('button', { name: 'Remove Gus Guest' }).click();
  const removedAt = performance.now();
  await guest.getByText('A host has removed you from this room').waitFor();
  await expect.poll(async () => [await readReceived(host), await readReceived(guest)]).toEqual([[], []]);
  process.stdout.write(`Both sides were dark ${Math.round(performance.now() - removedAt)} ms after "Remove"\n`);
  await tileOf(host, 'Gus Guest').waitFor({ state: 'detached' });
  const liveTracks = `connections.flatMap((one) => one.getSenders())
    .filter(({ track }) => track?.readyState === 'live')`;
  expect(await guest.evaluate(`${liveTracks}.length`)).toBe(0);
  await host.getByRole('button', { name: 'Close the meeting' }).click();
  await host.getByRole('dialog').getByRole('button', { name: 'Close the meeting' }).click();
  await host.getByText('A host has closed the meeting').waitFor();
});
