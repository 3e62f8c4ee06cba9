/** The settings of a workspace. */
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey, refuseOnce } from './support/journey.ts';

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
