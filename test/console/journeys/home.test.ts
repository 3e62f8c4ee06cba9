/** The first page of a workspace, and the pages of recordings and meetings. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import type { Team } from '../../support/world.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

async function addRecording({ id, owner }: Team, name: string, title: string): Promise<number> {
  const { recording, upload_token } = await owner.client.recordings.start.mutate({ name, title });
  await owner.client.recordings.stop.mutate({ name, recordingId: recording.id });
  const file = new File([readFileSync('examples/sample.mp4')], 'talk.mp4', { type: 'video/mp4' });
  await owner.client.uploadRecording({ recordingId: recording.id, uploadToken: upload_token, file });
  expect(id).toBeGreaterThan(0);
  return recording.id;
}

journey('an owner starts a meeting with one click, and the first steps tick themselves', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}`, team.owner);
  const steps = page.getByRole('region', { name: 'First steps' });
  await steps.getByText('1 of 6').waitFor();
  await page.getByText('Nothing is recorded yet').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Start a meeting' }).click();
  await page.getByRole('heading', { name: "Olive Owner's room" }).waitFor();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();

  await page.goto(`/w/${team.id}`);
  await steps.getByText('2 of 6').waitFor();
  await steps.getByRole('listitem').filter({ hasText: 'Create a room' }).getByRole('img', { name: 'Done:' }).waitFor();
  // The second click leads to the same room.
  const { rooms } = await team.owner.client.rooms.listInWorkspace.query({ id: team.id });
  await page.getByRole('button', { name: 'Start a meeting' }).click();
  await page.waitForURL(`**/room/${rooms[0]?.name}`);
  expect((await team.owner.client.rooms.listInWorkspace.query({ id: team.id })).rooms).toHaveLength(1);

  await page.goto(`/w/${team.id}`);
  await admitFromHome(page, rooms[0]?.name ?? '');
  await steps.getByRole('button', { name: 'Hide the first steps' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Start a meeting' }).waitFor();
  await expect.poll(() => steps.count()).toBe(0);
});

/** People who come while the page is open are listed, with what the room's own page offers. */
async function admitFromHome(page: Page, roomName: string): Promise<void> {
  const guest = createClient({ url: new URL(page.url()).origin });
  const waiting = page.getByRole('region', { name: 'Waiting now' });
  await waiting.getByText('Nobody waits').waitFor();
  const statusOf = async (token: string) =>
    (await guest.participants.presence.mutate({ roomName, token })).participant.status;
  const [vera, walt] = [
    (await guest.participants.join.mutate({ roomName, name: 'Vera Novak' })).participant,
    (await guest.participants.join.mutate({ roomName, name: 'Walt Wrong' })).participant,
  ];
  await waiting.getByRole('listitem').nth(1).getByText('Walt Wrong').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await waiting.getByRole('button', { name: 'Admit Vera Novak' }).click();
  await page.getByRole('region', { name: 'In a meeting now' }).getByText('Vera Novak').waitFor();
  expect(await statusOf(vera.token)).toBe('joined');
  await waiting.getByRole('button', { name: 'Refuse Walt Wrong' }).click();
  await waiting.getByText('Nobody waits').waitFor();
  await expect.poll(() => statusOf(walt.token)).toBe('refused');
}

journey('a member sees who meets now, what is booked and recorded, and nothing that only hosts do', async (world) => {
  const team = await world.newTeam();
  const name = `sync-${team.id}`;
  const { client } = team.owner;
  await client.rooms.create.mutate({ workspace_id: team.id, name, display_name: 'Weekly sync' });
  await addRecording(team, name, 'First talk');
  const { times } = await openBookingPage(team);
  const page = await world.open(`/w/${team.id}`, team.member);
  await page.getByText('Nobody is in a room').waitFor();
  await client.participants.join.mutate({ roomName: name });
  const meetings = page.getByRole('region', { name: 'In a meeting now' });
  await meetings.getByText('Olive Owner').waitFor();
  expect(await meetings.getByRole('link', { name: 'Join Weekly sync' }).getAttribute('href')).toBe(`/room/${name}`);
  await client.bookings.book.mutate({
    slug: `intro-${team.id}`,
    name: 'Vera Novak',
    email: 'vera@example.com',
    starts_at: times[0] ?? 0,
  });
  await page.getByRole('region', { name: 'Next bookings' }).getByText('Vera Novak').waitFor();
  expect(await page.getByRole('button', { name: 'Start a meeting' }).count()).toBe(0);
  expect(await page.getByRole('region', { name: 'First steps' }).count()).toBe(0);
  await expectAccessible(page);
  await expectFitsPhone(page);
  // The room that the booking made is not among those in which people meet at once.
  await page.getByRole('region', { name: 'Meet now' }).getByText('Weekly sync').waitFor();
  expect(await page.getByRole('region', { name: 'Meet now' }).getByRole('listitem').count()).toBe(1);

  await page.getByRole('link', { name: 'Upcoming and past' }).click();
  await page.getByRole('region', { name: 'Past meetings' }).getByRole('link', { name: 'Weekly sync' }).waitFor();
  await expectAccessible(page);
  await page.goto(`/w/${team.id}/rooms`);
  await page.getByRole('link', { name: 'Weekly sync', exact: true }).waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByLabel('Also rooms of bookings').check();
  await expect.poll(() => page.getByRole('row').count()).toBe(3);
});

journey('a recording has an address, with the one before and after it', async ({ newTeam, open }) => {
  const team = await newTeam();
  const name = `talks-${team.id}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name, display_name: 'Talks' });
  const ids: number[] = [];
  for (const title of ['First', 'Second', 'Third']) ids.push(await addRecording(team, name, title));
  const page = await open(`/w/${team.id}/recordings/${ids[1]}`, team.owner);
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  await expect.poll(() => page.evaluate('document.querySelector("video").duration')).toBeGreaterThan(1);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('link', { name: 'Older: First' }).click();
  await page.getByRole('heading', { name: 'First' }).waitFor();
  expect(await page.getByRole('link', { name: /^Older/ }).count()).toBe(0);
  await page.getByRole('link', { name: 'Newer: Second' }).click();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Second talk');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Second talk' }).waitFor();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('Moved to the trash').waitFor();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.getByRole('heading', { name: 'Recordings' }).waitFor();
  await page.getByRole('link', { name: 'Third' }).waitFor();
  expect(await page.getByRole('link', { name: 'Second talk' }).count()).toBe(0);

  await team.owner.client.rooms.update.mutate({ name, recordings_visible_to: 'hosts' });
  const member = await open(`/w/${team.id}/recordings/${ids[0]}`, team.member);
  await member.getByText('There is no such recording, or you cannot watch it').waitFor();
});

async function openBookingPage({ id, owner }: Team): Promise<{ times: number[] }> {
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
  const hours = days.map((day) => ({ day, from: '00:00', to: '24:00' }));
  const slug = `intro-${id}`;
  const input = { id, title: 'Intro call', slug, duration_minutes: 30, time_zone: 'UTC', hours };
  await owner.client.bookingPages.create.mutate(input);
  return owner.client.bookings.times.query({ slug });
}
