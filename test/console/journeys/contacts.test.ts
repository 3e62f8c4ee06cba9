/** Contacts: found as one types, created, imported, exported, and erased. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { expectAccessible, expectFitsPhone, expectPrints, journey, refuseOnce } from './support/journey.ts';

const CSV = 'email;name\ngrace@example.com;Grace Hopper\nnobody;Nobody\nada@example.com;Ada Lovelace 研究\n';

journey('an admin creates, imports, finds, changes, exports and erases contacts', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/contacts`, team.admin);
  await page.getByText('There are no contacts yet').waitFor();

  await page.getByRole('button', { name: 'New contact' }).click();
  const created = page.getByRole('dialog', { name: 'New contact' });
  await created.getByLabel('Name', { exact: true }).fill('Vera Visitor');
  await created.getByLabel('Email').fill('vera@example.com');
  await created.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Vera Visitor' }).waitFor();
  await page.getByText('Nothing has happened yet').waitFor();
  await page.getByRole('link', { name: 'All contacts' }).click();

  await page.getByRole('button', { name: 'Import' }).click();
  const imported = page.getByRole('dialog', { name: 'Import contacts' });
  await imported.getByLabel('CSV file').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(CSV),
  });
  await imported.getByRole('button', { name: 'Import' }).click();
  await imported.getByText('2 added, 0 updated, 1 skipped').waitFor();
  await imported.getByRole('row', { name: '3 email must be a valid email address' }).waitFor();
  await imported.getByRole('button', { name: 'Done' }).click();
  await imported.waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /Ada Lovelace 研究/ }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await expectPrints(page);

  await page.getByRole('searchbox', { name: 'Search contacts' }).pressSequentially('hop');
  await page.getByText('1 contact', { exact: true }).waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  const edited = page.getByRole('dialog', { name: 'Edit the contact' });
  await edited.getByLabel('Email').fill('vera@example.com');
  await edited.getByRole('button', { name: 'Save' }).click();
  await edited.getByText(/already/).waitFor();
  await edited.getByLabel('Email').fill('hopper@example.com');
  await edited.getByRole('button', { name: 'Save' }).click();
  await edited.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'hopper@example.com' }).waitFor();
  await page.goBack();
  await page.getByText('1 contact', { exact: true }).waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain('Grace Hopper,hopper@example.com,');

  const { contacts } = await team.owner.client.contacts.list.query({ id: team.id, search: 'vera' });
  await page.goto(`/w/${team.id}/contacts/${contacts[0]?.id}`);
  await page.getByRole('button', { name: 'Data about the person' }).click();
  const person = page.getByRole('dialog');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    person.getByRole('button', { name: 'Export the data' }).click(),
  ]);
  expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
    person: { email: 'vera@example.com' },
    contacts: [{ name: 'Vera Visitor' }],
  });
  await person.getByLabel('I understand that this cannot be undone').check();
  await expectAccessible(page, '[role=dialog]');
  await person.getByRole('button', { name: 'Erase the person' }).click();
  await page.getByRole('dialog', { name: 'What was erased' }).waitFor();
  await person.getByRole('button', { name: 'Done' }).click();
  await page.getByText('2 contacts', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete Grace Hopper?' });
  await asked.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Grace Hopper was deleted').waitFor();
  await page.getByText('1 contact', { exact: true }).waitFor();
  const { contacts: rest } = await team.owner.client.contacts.list.query({ id: team.id });
  expect(rest.map(({ name }) => name)).toEqual(['Ada Lovelace 研究']);
});

journey('a member reads what a contact did, and is offered no change', async ({ newTeam, open, url }) => {
  const team = await newTeam();
  const { contact } = await team.admin.client.contacts.create.mutate({
    id: team.id,
    name: 'Nora Novak',
    email: 'nora@example.com',
  });
  const settings = { workspace_id: team.id, display_name: 'Weekly sync', waiting_room_enabled: 0 } as const;
  const { room } = await team.admin.client.rooms.create.mutate(settings);
  const guest = createClient({ url });
  await guest.participants.join.mutate({ roomName: room.name, name: 'Nora', email: 'nora@example.com' });
  const page = await open(`/w/${team.id}/contacts/${contact.id}`, team.member);
  await page.getByRole('row', { name: /Joined a room/ }).waitFor();
  await page.getByRole('link', { name: 'Weekly sync' }).waitFor();
  expect(await page.getByRole('button', { name: /^(Edit|Delete|Data)/ }).count()).toBe(0);
  await expectAccessible(page);
  await expectFitsPhone(page);
});

journey('a list says that it could not be read, and keeps the pages that it has', async ({ newTeam, open }) => {
  const team = await newTeam();
  const lines = Array.from({ length: 60 }, (_, index) => `Person ${index},person${index}@example.com`);
  const csv = new File([['name,email', ...lines].join('\n')], 'people.csv', { type: 'text/csv' });
  await team.admin.client.importContacts({ id: team.id, csv });
  const page = await open(`/w/${team.id}/members`, team.admin);
  const people = page.getByRole('region', { name: 'Contacts' }).getByRole('link');
  const failure = page.getByText('The contacts could not be loaded');
  const refuse = () => refuseOnce(page, 'contacts.list', 500, 'INTERNAL_SERVER_ERROR');

  await page.getByRole('row', { name: /Mia Member/ }).waitFor();
  await refuse();
  await page.getByRole('link', { name: 'Contacts' }).click();
  await failure.waitFor();
  await page.getByText('the-request-id').waitFor();
  expect(await page.getByText('There are no contacts yet').count()).toBe(0);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => people.count()).toBe(50);

  await refuse();
  await page.getByRole('button', { name: 'Show more' }).click();
  await failure.waitFor();
  expect(await people.count()).toBe(50);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await failure.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => people.count()).toBe(60);
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
});
