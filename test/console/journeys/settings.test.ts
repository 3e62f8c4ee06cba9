/** The settings of a workspace. */
import { expect } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../../src/auth/totp.ts';
import { png } from '../../support/images.ts';
import type { Person } from '../../support/world.ts';
import { expectAccessible, expectFitsPhone, journey, linkTo, refuseOnce } from './support/journey.ts';

journey('an owner renames and deletes a workspace, and a member leaves it', async ({ newTeam, open }) => {
  const team = await newTeam('Editors');
  const member = await open(`/w/${team.id}/settings`, team.member);
  await member.getByText('Only the owner can rename the workspace').waitFor();
  expect(await member.getByRole('button', { name: 'Delete the workspace' }).count()).toBe(0);
  await member.getByRole('button', { name: 'Leave' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await member.getByText('You have left Editors').waitFor();
  await member.getByRole('button', { name: 'Workspace: Personal' }).waitFor();

  const page = await open(`/w/${team.id}/settings`, team.owner);
  await page.getByLabel('Name', { exact: true }).fill('Ein langer Name 研究');
  const saveName = page.getByLabel('Name', { exact: true }).locator('xpath=ancestor::form').getByRole('button');
  await saveName.click();
  await page.getByRole('button', { name: 'Workspace: Ein langer Name 研究' }).waitFor();
  await page.getByText('The workspace was renamed').waitFor();
  await page.getByRole('link', { name: 'Go to the members' }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  // What the service refuses is taken back.
  await refuseOnce(page, 'workspaces.rename', 403, 'FORBIDDEN');
  await page.getByLabel('Name', { exact: true }).fill('Another name');
  await saveName.click();
  await page.getByText(/^Could not rename the workspace: /).waitFor();
  await page.getByRole('button', { name: 'Workspace: Ein langer Name 研究' }).waitFor();

  await page.getByRole('button', { name: 'Delete the workspace' }).click();
  await page.getByLabel('Name of the workspace').fill('Editors');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('This is not Ein langer Name 研究').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Name of the workspace').fill('Ein langer Name 研究');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Ein langer Name 研究 was deleted').waitFor();
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
  await expect(team.owner.client.workspaces.read.query({ id: team.id })).rejects.toMatchObject({ status: 404 });
});

/** Sets a second factor up in the session of the person. */
async function addSecondFactor({ client }: Person): Promise<void> {
  const { secret } = await client.secondFactor.setUp.mutate();
  await client.secondFactor.confirm.mutate({ code: codeOf(fromBase32(secret), stepAt(new Date())) });
}

journey('an owner requires a second factor, and members learn what to do', async ({ newTeam, open }) => {
  const team = await newTeam('Guarded');
  const page = await open(`/w/${team.id}/settings`, team.owner);
  const required = page.getByLabel('Members must have');
  await required.selectOption('second_factor');
  const save = required.locator('xpath=ancestor::form').getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByText('You would lock yourself out').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await addSecondFactor(team.owner);
  await save.click();
  await page.getByText('The required sign-in was changed').waitFor();

  const member = await open(`/w/${team.id}/rooms`, team.member);
  await member.getByRole('heading', { name: 'Guarded requires another sign-in' }).waitFor();
  await member.getByRole('link', { name: 'Set up a second factor' }).waitFor();
  await expectAccessible(member);
  await expectFitsPhone(member);
  await addSecondFactor(team.member);
  await member.reload();
  await member.getByRole('button', { name: 'Workspace: Guarded' }).waitFor();
});

journey('an owner lets people with an address of their domain join, and one does', async ({ newTeam, open, url }) => {
  const team = await newTeam('Open to colleagues');
  const page = await open(`/w/${team.id}/settings`, team.owner);
  await page.getByText('For this, your own address must be confirmed').waitFor();
  const confirm = async ({ email, client }: Person) => {
    const link = await linkTo(url, email, '/verify-email');
    await client.emails.verify.mutate({ token: link.slice(link.indexOf('token=') + 'token='.length) });
  };
  await confirm(team.owner);
  await page.reload();
  const isOpen = page.getByLabel('People with an address at example.com may join');
  await isOpen.check();
  await isOpen.locator('xpath=ancestor::form').getByRole('button', { name: 'Save' }).click();
  await page.getByText('People at example.com can join').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await confirm(team.outsider);
  const colleague = await open('/', team.outsider);
  const joinable = colleague.getByRole('region', { name: 'Workspaces you can join' });
  await joinable.getByText(`Owned by ${team.owner.name}`).waitFor();
  await expectAccessible(colleague);
  await expectFitsPhone(colleague);
  await joinable.getByRole('button', { name: 'Join Open to colleagues' }).click();
  await colleague.getByText('You are now a member of Open to colleagues').waitFor();
  await colleague.getByRole('button', { name: 'Workspace: Open to colleagues' }).waitFor();
});

journey('an owner gives the pages of guests a color, a logo and links', async ({ newTeam, open }) => {
  const team = await newTeam();
  const slug = `branded-${team.id}`;
  await team.owner.client.bookingPages.create.mutate({
    id: team.id,
    title: 'Intro call',
    slug,
    time_zone: 'UTC',
    hours: [{ day: 'monday', from: '08:00', to: '18:00' }],
  });
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  const owner = await open(`/w/${team.id}/branding`, team.owner);
  await owner.getByLabel('Use a color of our own').check();
  // White text is not readable on it.
  await owner.getByLabel('Color', { exact: true }).fill('#facc15');
  await owner.getByLabel('Imprint').fill('http://example.com/imprint');
  await owner.getByRole('button', { name: 'Save' }).click();
  await owner.getByText('must be a URL that begins with https://').waitFor();
  await owner.getByLabel('Imprint').fill('https://example.com/imprint');
  await owner.getByLabel('Language').selectOption('fr');
  await owner.getByRole('button', { name: 'Save' }).click();
  await owner.getByText('The branding was saved').waitFor();
  const logo = owner.getByLabel('Logo', { exact: true });
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from('<svg/>'.repeat(9)) });
  await owner.getByText('The logo must be a PNG, JPEG or WebP image').waitFor();
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png });
  await owner.getByRole('button', { name: 'Remove the logo' }).waitFor();
  await expectAccessible(owner);
  await expectFitsPhone(owner);

  const guest = await open(`/book/${slug}`);
  await guest.getByRole('link', { name: 'Imprint' }).waitFor();
  const color = (name: string) =>
    guest.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--${name}')`);
  const [accent, text] = [await color('accent'), await color('on-accent')];
  expect([accent, text]).not.toEqual(['#4f46e5', '#ffffff']);
  await expect.poll(() => guest.evaluate('document.querySelector("header img")?.naturalWidth')).toBe(24);
  await expectAccessible(guest);
  await expectFitsPhone(guest);
  await guest.goto(`/room/${room.name}`);
  await guest.getByRole('link', { name: 'Imprint' }).waitFor();
  await expect.poll(() => color('accent')).toBe(accent);
  await expectAccessible(guest);
  // A guest whose browser has none of the languages reads that of the workspace.
  await guest.addInitScript(`Object.defineProperty(navigator, 'languages', { value: ['it'] })`);
  for (const path of [`/room/${room.name}`, `/book/${slug}`]) {
    await guest.goto(path);
    await guest.getByRole('link', { name: 'Mentions légales' }).waitFor();
  }
});
