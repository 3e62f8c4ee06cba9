/** Signing in and out, the switcher, the palette, the theme, and addresses that lead nowhere. */
import { expect } from 'vitest';
import { PASSWORD } from '../../support/world.ts';
import { expectAccessible, expectFitsPhone, journey, PHONE, refuseOnce } from './support/journey.ts';

journey('a person signs in with one form, and gets where they were going', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByLabel('Email').fill(team.owner.email);
  await page.getByLabel('Password').fill('a wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Wrong email or password').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/w/${team.id}/members`);
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('lns_');
  const [session] = await page.context().cookies();
  expect(session).toMatchObject({ name: 'session', httpOnly: true });

  await page.getByRole('button', { name: 'Account' }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`/w/${team.id}/members`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

journey('a person registers, and reads at the field what is wrong', async ({ open }) => {
  const page = await open('/register');
  await page.getByLabel('Name').fill('Grace Hopper');
  await page.getByLabel('Email').fill(`grace${Date.now()}@example.com`);
  await page.getByLabel('Password').fill('password');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('password is too common').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password');
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
});

journey('a session that ends in the middle leads to the form, and back', async ({ newTeam, open, url }) => {
  const team = await newTeam();
  const endSession = ({ token }: { token: string }) =>
    fetch(`${url}/api/auth/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  const page = await open(`/w/${team.id}/members`, team.owner);
  await page.getByRole('button', { name: 'Invite link' }).click();
  await page.getByRole('button', { name: 'Show the link' }).waitFor();
  await endSession(team.owner);
  // The live updates of a workspace say so, before anything is clicked.
  await page.getByText('Your session has ended').waitFor();
  await page.getByLabel('Email').fill(team.owner.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/w/${team.id}/members`);

  // The account has no live updates: there, the next call says so.
  const profile = await open('/account', team.member);
  await profile.getByRole('heading', { name: 'Profile', exact: true }).waitFor();
  await endSession(team.member);
  await profile.getByLabel('Name', { exact: true }).fill('Too late');
  await profile.getByRole('button', { name: 'Save' }).click();
  await profile.getByText('Your session has ended').waitFor();
});

journey('the switcher creates a workspace, and the palette leads to another', async ({ newPerson, open }) => {
  const page = await open('/', await newPerson());
  await page.getByRole('button', { name: 'Workspace: Personal' }).click();
  await page.getByRole('menuitem', { name: 'New workspace' }).click();
  await expectAccessible(page);
  await page
    .getByLabel('Name', { exact: true })
    .fill('Ein sehr langer Name für eine Arbeitsgruppe, der nicht abgeschnitten wird 研究');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: /Workspace: Ein sehr langer/ }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('personal');
  await page.getByText('1 found', { exact: true }).waitFor();
  await expectAccessible(page, '[role=dialog]');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
});

journey('the palette finds rooms and files by their names', async ({ newTeam, open }) => {
  const team = await newTeam();
  const { client } = team.admin;
  await client.rooms.create.mutate({ workspace_id: team.id, display_name: 'Harbour meeting' });
  const file = new Blob(['%PDF-1.4 harbour'], { type: 'application/pdf' });
  await client.upload({ id: team.id, file, filename: 'a.pdf', name: 'Harbour plan' });
  const page = await open(`/w/${team.id}/members`, team.admin);
  await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
  const palette = page.getByRole('combobox', { name: 'Go to' });
  await page.keyboard.press('Control+k');
  await palette.fill('harbour');
  await page.getByText('3 found', { exact: true }).waitFor();
  const foundRooms = page.getByRole('group', { name: 'Rooms' });
  await foundRooms.getByRole('option', { name: /^Harbour meeting/ }).waitFor();
  await foundRooms.getByRole('option', { name: /^Join Harbour meeting/ }).waitFor();
  await expectAccessible(page, '[role=dialog]');
  await expectFitsPhone(page);
  await page.getByRole('group', { name: 'Library' }).getByRole('option', { name: 'Harbour plan' }).click();
  await page.getByRole('dialog', { name: 'Harbour plan' }).waitFor();
  expect(new URL(page.url()).searchParams.get('item')).toMatch(/^\d+$/);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('dialog', { name: 'Harbour plan' }).waitFor({ state: 'hidden' });
  expect(new URL(page.url()).search).toBe('');
  await page.keyboard.press('Control+k');
  await palette.fill('harbour m');
  await page.getByText('2 found', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Harbour meeting' }).waitFor();

  await page.keyboard.press('Control+k');
  await palette.fill('no such harbour');
  await page.getByText('Nothing found').waitFor();
  await refuseOnce(page, 'workspaces.search', 500, 'INTERNAL_SERVER_ERROR');
  await palette.fill('memb');
  await page.getByText('The workspace could not be searched').waitFor();
  await expectAccessible(page, '[role=dialog]');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
});

journey('keys open the palette, which finds people and does things', async ({ newTeam, open }) => {
  const team = await newTeam();
  const { client } = team.admin;
  await client.contacts.create.mutate({ id: team.id, name: 'Vera Novak', email: 'vera@example.com' });
  const page = await open(`/w/${team.id}/usage`, team.admin);
  await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  await page.keyboard.press('c');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Create, on a page').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(1);
  await expectAccessible(page, '[role=dialog]');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const palette = page.getByRole('combobox', { name: 'Go to' });
  await page.keyboard.press('/');
  await palette.fill('novak');
  await page
    .getByRole('group', { name: 'Contacts' })
    .getByRole('option', { name: /Vera Novak/ })
    .click();
  await page.getByRole('heading', { name: 'Vera Novak' }).waitFor();
  await page.keyboard.press('/');
  await palette.fill(team.member.email);
  await page.getByRole('group', { name: 'Members' }).getByRole('option').click();
  await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();

  const act = async (action: string) => {
    await page.keyboard.press('/');
    await palette.fill(action);
    await page.getByRole('group', { name: 'Actions' }).getByRole('option', { name: action }).click();
    await palette.waitFor({ state: 'detached' });
  };
  // On the page of usage it did nothing.
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Invite by mail' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await act('Dark');
  await expect.poll(() => page.evaluate('document.documentElement.className')).toBe('dark');
  await act('Invite by mail');
  await page.getByRole('dialog', { name: 'Invite by mail' }).waitFor();
  // A key that is typed into a field is only text.
  await page.keyboard.press('/');
  expect(await palette.count()).toBe(0);
  // Closing would ask about what was typed.
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
  await act('New room');
  await page.getByRole('dialog', { name: 'New room' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await act('Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

journey('a browser without a network says so, until it is back', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`, team.admin);
  await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
  const banner = page.getByRole('status').filter({ hasText: 'You are offline' });
  await page.context().setOffline(true);
  await banner.waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.context().setOffline(false);
  await banner.waitFor({ state: 'detached' });
});

journey('the ID of a request is shown to users if the service fails, and to no guest', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/members`, team.admin);
  await page.getByRole('button', { name: 'Invite link' }).click();
  await refuseOnce(page, 'workspaces.invite', 500, 'INTERNAL_SERVER_ERROR');
  await page.getByRole('button', { name: 'Show the link' }).click();
  await page.getByRole('button', { name: 'Copy the request ID' }).waitFor();
  await refuseOnce(page, 'workspaces.invite', 409, 'CONFLICT');
  await page.getByRole('button', { name: 'Show the link' }).click();
  await page.getByRole('button', { name: 'Copy the request ID' }).waitFor({ state: 'hidden' });
  await page.getByText('The test refuses this').waitFor();

  const guest = await open(`/book/none-${team.id}`);
  await guest.route(/bookings\.times/, (route) => {
    const data = { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, request_id: 'the-request-id', issues: [] };
    return route.fulfill({ status: 500, json: { error: { message: 'A failure', code: -32603, data } } });
  });
  await guest.reload();
  await guest.getByText('A failure').waitFor();
  expect(await guest.getByRole('button', { name: 'Copy the request ID' }).count()).toBe(0);
});

journey('the theme is chosen, and is there before the first paint the next time', async ({ newPerson, open }) => {
  const page = await open('/', await newPerson());
  await page.getByRole('button', { name: 'Account' }).first().click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  const readTheme = () => page.evaluate('document.documentElement.className');
  await expect.poll(readTheme).toBe('dark');
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(readTheme).toBe('dark');
});

journey('a phone has the navigation in a drawer, which the keyboard closes', async ({ newPerson, open }) => {
  const page = await open('/', await newPerson());
  await page.getByRole('heading', { name: 'Members' }).or(page.locator('h1')).first().waitFor();
  await page.setViewportSize(PHONE);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'detached' });
});

journey('an address without a page, and a workspace of others, say so', async ({ newTeam, open }) => {
  const team = await newTeam();
  for (const path of ['/nowhere', `/w/${team.id}/members`, `/w/${team.id}/nowhere`, '/w/x']) {
    const page = await open(path, team.outsider);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectAccessible(page);
  }
});
