/** What was done in a workspace, and what it uses. */
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

journey('an admin reads, filters, exports and verifies the audit log, and reads the usage', async (world) => {
  const team = await world.newTeam();
  const page = await world.open(`/w/${team.id}/audit`, team.admin);
  const changed = page.getByRole('row', { name: /Olive Owner.*Role changed/ });
  const joined = page.getByRole('row', { name: /Member joined/ });
  await changed.waitFor();
  await expect.poll(() => joined.count()).toBe(2);
  await expectAccessible(page);
  await expectFitsPhone(page);

  await changed.getByRole('button', { name: /^Details/ }).click();
  const details = page.getByRole('dialog', { name: 'Role changed' });
  await details.getByRole('row', { name: 'role member admin' }).waitFor();
  await expectAccessible(page);
  await details.getByRole('button', { name: 'Show only what Olive Owner did' }).click();
  await details.waitFor({ state: 'detached' });
  await expect.poll(() => joined.count()).toBe(0);
  await changed.waitFor();
  expect(page.url()).toContain(`who=user-${team.owner.id}`);

  await page.getByRole('button', { name: 'Clear' }).click();
  await joined.first().waitFor();
  await page.getByLabel('What', { exact: true }).selectOption('Role changed');
  await expect.poll(() => joined.count()).toBe(0);
  await changed.waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: 'Export these' })
      .click()
      .then(() => page.getByRole('menuitem', { name: 'As CSV' }).click()),
  ]);
  expect(file.suggestedFilename()).toBe('audit-log.csv');
  await page.getByLabel('From', { exact: true }).fill('2099-01-01');
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  // The export was recorded too.
  await page.getByRole('row', { name: /Adam Admin.*Audit log exported/ }).waitFor();

  await page.getByRole('button', { name: 'Verify' }).click();
  const dialog = page.getByRole('dialog', { name: 'Verify the log' });
  await dialog.getByLabel(/^Position of an earlier/).fill('none');
  await dialog.getByRole('button', { name: 'Verify' }).click();
  await dialog.getByText(/must be the position of an earlier verification/).waitFor();
  await dialog.getByLabel(/^Position of an earlier/).fill('');
  await dialog.getByRole('button', { name: 'Verify' }).click();
  await dialog.getByText('The log is intact').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('heading', { name: 'Usage' }).waitFor();
  const members = page.getByRole('meter', { name: 'Members' });
  await members.waitFor();
  expect(await members.getAttribute('aria-valuenow')).toBe('3');
  await expectAccessible(page);
  await expectFitsPhone(page);
});

journey('the log is not for members, and the mail that was not sent can be read', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/audit`, team.member);
  await page.getByText('Your role does not allow this').waitFor();
  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Mail' }).click();
  await page.getByText('Without SMTP_URL, messages are not sent').waitFor();
  expect(page.url()).toContain('/dev/mail');
  // Its stylesheet may come after its text.
  await page.waitForLoadState();
  await expectAccessible(page);
  await expectFitsPhone(page);
});
