/** Rooms: created, watched by a host while guests wait, locked, and deleted. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
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
  const taken = `taken-${team.id}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name: taken });
  await page.getByLabel('Name in the link').fill(taken);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Room name already taken').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name');
  expect(await page.getByLabel('Name in the link').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await page.getByText('Copy the request ID').count()).toBe(0);
  await team.owner.client.rooms.delete.mutate({ name: taken });
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

  // A person of another product comes with a link, which the address does not keep.
  const pass = { name: 'Vera Vetted', external_id: 'patient-1', admitted: true };
  const roomName = `interviews-${team.id}`;
  const { join_url } = await team.admin.client.participants.create.mutate({ id: team.id, roomName, ...pass });
  const link = new URL(join_url);
  const vetted = await world.open(link.pathname + link.hash);
  await vetted.getByRole('button', { name: 'Join', exact: true }).waitFor();
  expect(await vetted.getByLabel('Name').count()).toBe(0);
  expect(await vetted.evaluate('location.hash')).toBe('');
  await expectAccessible(vetted);
  await vetted.getByRole('button', { name: 'Join', exact: true }).click();
  await vetted.getByText('You are in the room').waitFor();
  // Its pass is used now, which the page learns with the visit.
  await page.getByRole('region', { name: 'Passes for the room' }).getByText('Used', { exact: true }).waitFor();
  await vetted.reload();
  await vetted.getByText('You are in the room').waitFor();
  await page.getByRole('button', { name: 'Remove Vera Vetted' }).waitFor();
  await vetted.getByRole('button', { name: 'Leave' }).click();

  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  await page.getByText('Locked: nobody new can join').waitFor();
  await guest.getByRole('button', { name: 'Join again' }).click();
  await guest.getByText('A host has locked this room').waitFor();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Title').fill('Interviews in autumn');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Interviews in autumn' }).waitFor();

  const deleteRoom = async () => {
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  };
  await deleteRoom();
  await page.getByText('There are no rooms yet').waitFor();
  await page.getByText('Moved to the trash').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Interviews in autumn', exact: true }).click();
  // A recording that is not finished cannot wait in the trash.
  const { recording } = await team.owner.client.recordings.start.mutate({ name: roomName });
  await deleteRoom();
  const forGood = page.getByRole('dialog', { name: 'Delete this room for good?' });
  await forGood.getByText('A recording that is not finished cannot be moved to the trash').waitFor();
  await expectAccessible(page);
  await team.owner.client.recordings.delete.mutate({ recordingId: recording.id });
  await forGood.getByRole('button', { name: 'Cancel' }).click();
  await deleteRoom();
  await page.getByText('There are no rooms yet').waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Trash' }).click();
  await page.getByRole('button', { name: 'Delete Interviews in autumn for good' }).click();
  await page.getByText('Its recordings are deleted too').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The trash is empty').waitFor();
});

journey('an admin revokes the pass of a person whose link has leaked, which members do not see', async (world) => {
  const team = await world.newTeam();
  const { admin, owner, member } = team;
  const roomName = `ward-${team.id}`;
  await owner.client.rooms.create.mutate({ workspace_id: team.id, name: roomName });
  const page = await world.open(`/w/${team.id}/rooms/${roomName}`, admin);
  const passes = page.getByRole('region', { name: 'Passes for the room' });
  const guide = passes.getByRole('link', { name: 'Put a room into your product' });
  expect(await guide.getAttribute('href')).toBe('/docs/guides/embedding');

  const make = (name: string, more: object = {}) =>
    owner.client.participants.create.mutate({ id: team.id, roomName, name, ...more });
  const { token } = await make('Lena Leaked', { external_id: 'patient-1' });
  await make('Dr. Wolfeschlegelsteinhausenbergerdorff', { external_id: 'doctor_'.repeat(20), is_host: 1 });
  const rowOf = (name: string) => passes.getByRole('row').filter({ hasText: name });
  // Without a reload: a server makes passes at any time.
  await rowOf('Lena Leaked').getByText('patient-1').waitFor();
  await rowOf('Lena Leaked').getByText('by Olive Owner').waitFor();
  await rowOf('Lena Leaked').getByText('Not used yet').waitFor();
  await rowOf('Dr. Wolfe').getByText('Host', { exact: true }).waitFor();
  for (let person = 1; person <= 20; person++) await make(`Patient ${person}`);
  await passes.getByRole('button', { name: 'Show more passes' }).click();
  await rowOf('Patient 20').waitFor();
  expect(await passes.innerText()).not.toContain('lnj_');
  await expectAccessible(page);
  await expectFitsPhone(page);

  await passes.getByRole('button', { name: 'Revoke the pass of Lena Leaked' }).click();
  const question = page.getByRole('dialog', { name: 'Revoke the pass of Lena Leaked?' });
  await question.getByText('Its link no longer works').waitFor();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The pass was revoked').waitFor();
  await rowOf('Lena Leaked').waitFor({ state: 'detached' });
  const exchanged = createClient({ url: world.url }).participants.exchange.mutate({ roomName, token });
  await expect(exchanged).rejects.toMatchObject({ status: 404 });

  const seen = await world.open(`/w/${team.id}/rooms/${roomName}`, member);
  await seen.getByText('Nobody has met in this room yet').waitFor();
  expect(await seen.getByRole('region', { name: 'Passes for the room' }).count()).toBe(0);
});

journey('a host sees everybody in a room of more than 100 people', async ({ url, newTeam, open }) => {
  const team = await newTeam();
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name: `hall-${team.id}` });
  const guests = createClient({ url });
  for (let person = 1; person <= 101; person++) {
    await guests.participants.join.mutate({ roomName: room.name, name: `Guest ${person}` });
  }
  const page = await open(`/w/${team.id}/rooms/${room.name}`, team.owner);
  const people = page.getByRole('region', { name: 'In the room', exact: true });
  await people.getByRole('heading', { name: 'In the room (101)' }).waitFor();
  expect(await people.getByRole('listitem').count()).toBe(101);
});

journey('a member joins the room of their team from the list, without waiting', async (world) => {
  const team = await world.newTeam();
  const name = `standup-${team.id}`;
  await team.owner.client.rooms.create.mutate({
    workspace_id: team.id,
    name,
    display_name: 'Stand-up',
    waiting_room_enabled: 1,
  });
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name: `retro-${team.id}` });
  const page = await world.open(`/w/${team.id}/rooms`, team.member);
  await page.getByRole('link', { name: `Join retro-${team.id}` }).waitFor();
  await page.getByLabel('Search rooms').fill('STAND');
  await page.getByRole('link', { name: `Join retro-${team.id}` }).waitFor({ state: 'hidden' });
  await page.locator('[aria-busy="false"]').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('link', { name: 'Join Stand-up' }).click();
  await page.waitForURL(`**/room/${name}`);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  const inside = async () => (await team.owner.client.participants.list.query({ name })).participants;
  await expect.poll(async () => (await inside()).map(({ status }) => status)).toEqual(['joined']);
  expect(await inside()).toMatchObject([{ user_id: team.member.id, is_host: 0, is_member: 1 }]);
  const other = await world.open(`/room/${name}`, (await world.newTeam()).owner);
  await other.getByRole('button', { name: 'Ask to join' }).waitFor();
  await team.owner.client.rooms.update.mutate({ name, members_only: 1 });
  await other.getByText('you are not one of them').waitFor();
});

journey('a member finds a room in the palette, and joins it', async (world) => {
  const team = await world.newTeam();
  const name = `palette-${team.id}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name });
  const page = await world.open(`/w/${team.id}/library`, team.member);
  await page.getByRole('heading', { name: 'Library' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill(name);
  await page.getByRole('option', { name: `Join ${name}` }).click();
  await page.waitForURL(`**/room/${name}`);
});

journey('a member watches a recording of their team, until the owner keeps recordings for hosts', async (world) => {
  const team = await world.newTeam();
  const name = `talks-${team.id}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name, display_name: 'Talks' });
  const { recording, upload_token } = await team.owner.client.recordings.start.mutate({ name, title: 'First talk' });
  await team.owner.client.recordings.stop.mutate({ name, recordingId: recording.id });
  await team.owner.client.uploadRecording({
    recordingId: recording.id,
    uploadToken: upload_token,
    file: new File([readFileSync('examples/sample.mp4')], 'talk.mp4', { type: 'video/mp4' }),
  });

  const page = await world.open(`/w/${team.id}/rooms/${name}`, team.member);
  await page.getByRole('heading', { name: 'Talks' }).waitFor();
  await page.getByRole('link', { name: 'Join', exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Play First talk' }).click();
  const duration = () => page.evaluate('document.querySelector("video").duration');
  await expect.poll(duration).toBeGreaterThan(1);
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'Recordings', exact: true }).click();
  const answered = page.waitForResponse((response) => response.url().includes('TALK'));
  await page.getByLabel('Search recordings').fill('TALK');
  await answered;
  await page.getByRole('button', { name: 'Play First talk' }).waitFor();
  // What was found before is dimmed until the search has its answer.
  await page.locator('[aria-busy="false"]').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByLabel('Status').selectOption('failed');
  await page.getByText('No recording matches').waitFor();

  const owner = await world.open(`/w/${team.id}/recordings`, team.owner);
  await owner.getByRole('button', { name: 'Who can watch' }).click();
  await owner.getByLabel('The recordings of all rooms').selectOption('hosts');
  await owner.getByRole('button', { name: 'Change all rooms' }).click();
  await owner.getByText('1 room was changed').waitFor();
  await page.goto(`/w/${team.id}/rooms/${name}`);
  await page.getByText('Only the hosts can watch the recordings of this room').waitFor();
});

journey('an admin changes a room of another, and says who may do what in it', async (world) => {
  const team = await world.newTeam();
  const name = `board-${team.id}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name });
  const page = await world.open(`/w/${team.id}/rooms`, team.admin);
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('button', { name: 'Settings' }).click();
  await expectAccessible(page);
  await page.getByLabel('Title').fill('Board');
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Close without saving?' });
  await expectAccessible(page, '[role=dialog]');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Title').inputValue()).toBe('Board');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Close without saving' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Settings' }).click();
  expect(await page.getByLabel('Title').inputValue()).toBe('');
  // What was typed and taken back is no change.
  await page.getByLabel('Title').fill('Board');
  await page.getByLabel('Title').fill('');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Title').fill('Board');
  await page.getByLabel('Only members of the workspace can join').click();
  await page.getByLabel('How many people fit').fill('12');
  await page.getByLabel('Who can record').selectOption('hosts');
  await page.getByLabel('Recordings', { exact: true }).selectOption('hosts');
  await page.getByLabel('People can chat in the meeting').click();
  await page.getByLabel('Hide network addresses from the others').click();
  await page.getByRole('button', { name: 'Save' }).click();
  // This service has no TURN server.
  await page.getByText('there is no TURN server').waitFor();
  await page.getByLabel('Hide network addresses from the others').click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  const { room } = await team.owner.client.rooms.read.query({ name });
  expect(room).toMatchObject({
    user_id: team.owner.id,
    display_name: 'Board',
    members_only: 1,
    max_participants: 12,
    who_may_record: 'hosts',
    recordings_visible_to: 'hosts',
    chat_enabled: 0,
    relay_only: 0,
    media: null,
  });
});
