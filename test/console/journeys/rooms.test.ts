/** Rooms: created, watched by a host while guests wait, locked, and deleted. */
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

journey('a host creates a room, admits a guest in another browser, removes them, and locks it', async (world) => {
  const team = await world.newTeam();
  const page = await world.open(`/w/${team.id}/rooms`, team.admin);
  await page.getByText('There are no rooms yet').waitFor();
  await page.getByRole('button', { name: 'New room' }).click();
  await page.getByLabel('Name in the link').fill('Not A Name');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Invalid room name').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Title').fill('Interviews 面接');
  await page.getByLabel('Name in the link').fill(`interviews-${team.id}`);
  await page.getByLabel('Message to waiting guests').fill('One moment');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Interviews 面接' }).waitFor();
  await page.getByText('Nobody is here at the moment').waitFor();
  await page.getByText('Nobody has met in this room yet').waitFor();

  const guest = await world.open(`/room/interviews-${team.id}`);
  await guest.getByLabel('Name').fill('Gus Guest');
  await guest.getByRole('button', { name: 'Ask to join' }).click();
  await guest.getByText('One moment').waitFor();
  await page.getByRole('button', { name: 'Admit Gus Guest' }).click();
  await guest.getByText('You are in the room').waitFor();
  await page.getByRole('button', { name: 'Remove Gus Guest' }).waitFor();
  // The button with the focus is gone, and the next Tab goes on in the list.
  await page.keyboard.press('Tab');
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Remove Gus Guest');
  await expectAccessible(page);
  await expectFitsPhone(page);
  const meetings = page.getByRole('region', { name: 'Meetings in the room' });
  await meetings.getByText('In progress').waitFor();
  await meetings.getByText('Gus Guest').waitFor();
  await page.getByRole('button', { name: 'Remove Gus Guest' }).click();
  await guest.getByText('A host has removed you from this room').waitFor();
  // The list follows the end of the meeting.
  await meetings.getByText('In progress').waitFor({ state: 'hidden' });
  await meetings.getByText('1 participant').waitFor();

  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  await page.getByText('Locked: nobody new can join').waitFor();
  await guest.getByRole('button', { name: 'Join again' }).click();
  await guest.getByText('A host has locked this room').waitFor();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Title').fill('Interviews in autumn');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Interviews in autumn' }).waitFor();

  // The list leads a member into the room of another host. The page of the room is only for hosts.
  const member = await world.open(`/w/${team.id}/rooms`, team.member);
  await member.getByRole('link', { name: 'Interviews in autumn' }).click();
  await member.waitForURL(`**/room/interviews-${team.id}`);
  await member.getByRole('heading', { name: 'Interviews in autumn' }).waitFor();
  await member.goto(`/w/${team.id}/rooms/interviews-${team.id}`);
  await member.getByText('Only the host of this room, the owner and admins can open it').waitFor();
  await expectAccessible(member);

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There are no rooms yet').waitFor();
});
