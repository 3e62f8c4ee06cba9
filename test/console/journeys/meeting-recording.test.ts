/** What the people in a meeting are told while one of them records, and what a host can do about it. */
import { expect } from 'vitest';
import { journey } from './support/journey.ts';
import { joinMeeting, openRoom } from './support/meeting-pages.ts';

/** As over plain HTTP, where browsers keep no files either. */
const IS_INSECURE = `
  Object.defineProperty(Navigator.prototype, 'storage', { value: undefined });
  Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
  Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined })`;

journey('a host stops the recording of a guest over plain HTTP, whose browser keeps no files', async (world) => {
  const { id, owner } = await world.newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const host = await openRoom(world, room.name, { person: owner });
  await joinMeeting(host);
  const guest = await openRoom(world, room.name, { prepare: IS_INSECURE });
  await joinMeeting(guest, 'Gus Guest');

  await guest.getByRole('button', { name: 'Record', exact: true }).click();
  await guest.getByText('This browser cannot keep the recording on this device').waitFor();
  await host.getByRole('alertdialog').getByText('Gus Guest').first().waitFor();
  await host.getByRole('button', { name: 'Stay' }).click();
  await host.getByRole('button', { name: 'Stop recording' }).click();
  await guest.getByText('A host has stopped the recording.').waitFor();
  await guest.getByText('The recording was sent.').waitFor();
  await guest.getByRole('button', { name: 'Record', exact: true }).waitFor();
  await host.getByText('This meeting is being recorded').waitFor({ state: 'detached' });

  // What was captured until then is there, although nothing of it was kept on the device.
  const read = async () => (await owner.client.recordings.listInRoom.query({ name: room.name })).recordings[0];
  await expect.poll(async () => (await read())?.status).toBe('available');
  expect((await read())?.size ?? 0).toBeGreaterThan(0);
});
