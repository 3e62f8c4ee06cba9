/** The members of a workspace. */
import { expect } from 'vitest';
import { callsOf, expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

journey('an owner makes a member an admin, and removes them', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`, team.owner);
  const row = page.getByRole('row', { name: /Mia Member/ });
  const names = page.locator('tbody tr td:first-child .font-medium');
  await page.getByRole('button', { name: 'Sort' }).click();
  await page.getByRole('menuitemradio', { name: 'Name' }).click();
  await expect.poll(() => names.allTextContents()).toEqual(['Adam Admin', 'Mia Member', 'Olive Owner']);
  await page.getByRole('searchbox', { name: 'Search members' }).fill('nobody');
  await page.getByText('No member matches this search').waitFor();
  await page.getByRole('searchbox', { name: 'Search members' }).fill('mEm');
  await expect.poll(() => names.allTextContents()).toEqual(['Mia Member']);
  const readRole = async () => {
    const { workspace } = await team.owner.client.workspaces.read.query({ id: team.id });
    return workspace.members.find(({ id }) => id === team.member.id)?.role;
  };
  await row.getByRole('button', { name: 'Actions on Mia Member' }).click();
  await expectAccessible(page, '[role=menu]');
  await page.getByRole('menuitem', { name: 'Make Admin' }).click();
  await row.getByText('Admin', { exact: true }).waitFor();
  await expect.poll(readRole).toBe('admin');

  await row.getByRole('button', { name: 'Actions on Mia Member' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog', { name: 'Remove Mia Member?' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Mia Member was removed').waitFor();
  await row.waitFor({ state: 'detached' });
  expect(await readRole()).toBeUndefined();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

journey('an owner invites many people by mail, sends one a new link, and revokes another', async (world) => {
  const team = await world.newTeam();
  const page = await world.open(`/w/${team.id}/members`, team.owner);
  const addressOf = (name: string) => `${name}.${team.id}@example.com`;
  await page.getByText('Nobody was invited by mail').waitFor();
  await page.getByRole('button', { name: 'Invite by mail' }).click();
  await page.getByRole('button', { name: 'Send invitations' }).click();
  await page.getByText('There is no address').waitFor();
  const list = `Wanda <${addressOf('wanda')}>, ${addressOf('paul')};\n${team.member.email} ${addressOf('WANDA')}`;
  await page.getByLabel('Addresses').fill(list);
  await page.getByLabel('CSV file').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`name,email\nIda,${addressOf('ida')}\n`),
  });
  await expect.poll(() => page.getByLabel('Addresses').inputValue()).toContain(addressOf('ida'));
  await expectAccessible(page);
  await page.getByLabel('Role').selectOption('admin');
  await page.getByRole('button', { name: 'Send invitations' }).click();
  const results = page.getByRole('list', { name: 'Results' });
  await results.getByText(`${addressOf('ida')}: invited`).waitFor();
  await results.getByText('A member of the workspace has this email address').waitFor();
  expect(await results.getByRole('listitem').count()).toBe(4);
  // Who could not be invited stays, to be corrected.
  await expect.poll(() => page.getByLabel('Addresses').inputValue()).toBe(team.member.email);
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Close without saving?' });
  await question.getByRole('button', { name: 'Close without saving' }).click();
  await question.waitFor({ state: 'detached' });

  const invitations = page.getByRole('region', { name: 'Invitations by mail' });
  await invitations.getByRole('button', { name: `Actions on the invitation of ${addressOf('paul')}` }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByText('The invitation was revoked').waitFor();
  await invitations
    .getByRole('row', { name: addressOf('paul') })
    .getByText('Revoked')
    .waitFor();
  await invitations.getByRole('button', { name: `Actions on the invitation of ${addressOf('wanda')}` }).click();
  await page.getByRole('menuitem', { name: 'Send again' }).click();
  await page.getByText('A new link was sent').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  const { invitations: stored } = await team.owner.client.invitations.list.query({ id: team.id });
  expect(stored.map(({ email, role, state }) => [email, role, state]).toSorted()).toEqual([
    [addressOf('ida'), 'admin', 'pending'],
    [addressOf('paul'), 'admin', 'revoked'],
    [addressOf('wanda'), 'admin', 'pending'],
  ]);

  // As if the invitations of the day were used up.
  await page.route(
    (url) => callsOf(url).includes('invitations.list'),
    async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll('"scheduled_at":null', '"scheduled_at":2000000000');
      await route.fulfill({ response, body });
    },
  );
  await page.reload();
  await invitations
    .getByText(/Will be sent on .*2033/)
    .first()
    .waitFor();
  await expectAccessible(page);

  const member = await world.open(`/w/${team.id}/members`, team.member);
  await member.getByRole('heading', { name: 'Members' }).waitFor();
  expect(await member.getByText('Invitations by mail').count()).toBe(0);
});

journey('who invites to their own workspace is offered a team', async (world) => {
  const person = await world.newPerson('Petra');
  const [personal] = (await person.client.workspaces.list.query({})).workspaces;
  const page = await world.open(`/w/${personal?.id}/members`, person);
  await page.getByRole('button', { name: 'Invite by mail' }).click();
  await page.getByRole('dialog', { name: 'Invite to your own workspace?' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Invite here' }).click();
  await page.getByLabel('Addresses').waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('button', { name: 'Invite link' }).click();
  await page.getByRole('button', { name: 'Create a team' }).click();
  await page.getByLabel('Name').fill('Petra and friends');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Workspace: Petra and friends' }).waitFor();
});

journey('who joined the own workspace of another sees whose it is', async (world) => {
  const [person, friend] = [await world.newPerson('Petra'), await world.newPerson('Gustav')];
  const [personal] = (await person.client.workspaces.list.query({})).workspaces;
  const id = personal?.id ?? 0;
  const { token } = await person.client.workspaces.invite.mutate({ id });
  await friend.client.workspaces.join.mutate({ token });
  const page = await world.open(`/w/${id}/members`, friend);
  await page.getByRole('button', { name: "Workspace: Petra's Personal" }).click();
  await page.getByRole('menuitemradio', { name: "Petra's Personal" }).waitFor();
  await page.getByRole('menuitemradio', { name: 'Personal', exact: true }).click();
  await page.getByRole('button', { name: 'Workspace: Personal', exact: true }).waitFor();
});

journey('an invite is shown, used, and revoked', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`, team.owner);
  await page.getByRole('button', { name: 'Invite link' }).click();
  await page.getByRole('button', { name: 'Show the link' }).click();
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Invite link');
  const link = await page.getByRole('textbox', { name: 'Invite link' }).inputValue();
  const token = link.split('/join/')[1] ?? '';
  await team.outsider.client.workspaces.join.mutate({ token });
  await page.getByRole('button', { name: 'Revoke the link' }).click();
  await page.getByText('The invite link was revoked').waitFor();
  await expect(team.outsider.client.workspaces.join.mutate({ token })).rejects.toMatchObject({ status: 404 });
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  // The focus is where it was before the dialog.
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Invite link');
});

journey('ownership is transferred, with a recent sign-in', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`, team.owner);
  await page.getByRole('button', { name: 'Actions on Adam Admin' }).click();
  await page.getByRole('menuitem', { name: 'Transfer ownership' }).click();
  await page.getByRole('button', { name: 'Transfer ownership' }).click();
  await page.getByText('Adam Admin is now the owner').waitFor();
  await page.getByRole('row', { name: /Adam Admin.*Owner/ }).waitFor();
});

journey('a member sees who is there, and is offered no more than to leave', async ({ newTeam, open }) => {
  const team = await newTeam('Editors');
  const page = await open(`/w/${team.id}/members`, team.member);
  await page.getByRole('row', { name: /Olive Owner/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Invite link' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: /^Actions on/ }).count()).toBe(1);
  await page.getByRole('button', { name: 'Actions on Mia Member' }).click();
  await page.getByRole('menuitem', { name: 'Leave' }).click();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByText('You have left Editors').waitFor();
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
});

journey('a role that is taken away while its owner looks at the page is not used', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open('/', team.admin);
  // A page that nobody sees is not read again by itself. It would learn of the new role.
  await page.addInitScript("Object.defineProperty(document, 'hidden', { get: () => true })");
  await page.goto(`/w/${team.id}/members`);
  await page.getByRole('button', { name: 'Actions on Mia Member' }).click();
  await page.getByRole('menuitem', { name: 'Make Admin' }).waitFor();
  await team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.admin.id, role: 'member' });
  await page.getByRole('menuitem', { name: 'Make Admin' }).click();
  await page.getByText(/^Could not change the role: /).waitFor();
  await page
    .getByRole('row', { name: /Mia Member/ })
    .getByText('Member', { exact: true })
    .waitFor();
});
