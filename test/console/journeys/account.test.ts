/** The account: profile, password, sessions, activity, export and deletion. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { PASSWORD, type Person } from '../../support/world.ts';
import { expectAccessible, expectFitsPhone, journey, linkTo, refuseOnce } from './support/journey.ts';

const NEW_PASSWORD = 'an entirely new password';

/** A second session of a person. */
async function signInAgain(person: Person, password = PASSWORD): Promise<Person> {
  const { token } = await person.client.auth.login.mutate({ email: person.email, password });
  return { ...person, token };
}

journey('a person changes name, address and password, and sessions elsewhere end', async (world) => {
  const { newPerson, open, url } = world;
  const ada = await newPerson('Ada Account');
  const page = await open('/account', ada);
  await page.getByLabel('Name', { exact: true }).fill('Ada 研究');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your name was changed').waitFor();
  const { user } = await ada.client.auth.me.query();
  expect(user.name).toBe('Ada 研究');
  await page.getByRole('button', { name: 'Change the address' }).click();
  await page.getByLabel('New address').fill(`new.${ada.email}`);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText(`A link was sent to new.${ada.email}`).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expectAccessible(page);
  await expectFitsPhone(page);

  // The link of the mail confirms the address, and leads back to the console.
  await page.goto(await linkTo(url, `new.${ada.email}`, '/verify-email'));
  await page.getByRole('button', { name: 'Confirm address' }).click();
  await page.getByRole('link', { name: 'Go to Lynxroom' }).click();
  await page.getByRole('button', { name: 'Account' }).first().click();
  await page.getByRole('menuitem', { name: 'Account' }).click();
  await page.getByText('Confirmed', { exact: true }).waitFor();
  await page.getByText(`new.${ada.email}`).first().waitFor();

  await ada.client.calendarFeed.create.mutate();
  const elsewhere = await open('/account', await signInAgain({ ...ada, email: `new.${ada.email}` }));
  await elsewhere.getByRole('heading', { name: 'Profile' }).waitFor();
  await page.getByRole('link', { name: 'Security' }).click();
  await page.getByLabel('Current password').fill('a wrong password');
  await page.getByLabel('New password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Current password is wrong').waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Look through the lasting access below').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'End Calendar feed' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
  await page.getByText('The access has ended').waitFor();
  await page.getByText('There is none.').waitFor();
  expect((await ada.client.calendarFeed.read.query()).feed).toBeNull();

  // In the middle of work, the other session ends. The form leads back to the work.
  await elsewhere.getByRole('link', { name: 'Sessions' }).click();
  await elsewhere.getByText('Your session has ended').waitFor();
  await elsewhere.getByLabel('Email').fill(`new.${ada.email}`);
  await elsewhere.getByLabel('Password').fill(NEW_PASSWORD);
  await elsewhere.getByRole('button', { name: 'Sign in' }).click();
  await elsewhere.getByRole('heading', { name: 'Sessions' }).waitFor();
  await elsewhere.getByText('This one').waitFor();
  await expectAccessible(elsewhere);
  await expectFitsPhone(elsewhere);
  await elsewhere.getByRole('button', { name: /^End the session of / }).click();
  await elsewhere.getByText(/^The session of .* was ended$/).waitFor();
  await elsewhere.getByRole('button', { name: 'End all others' }).click();
  await elsewhere.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
  await elsewhere.getByText('0 sessions were ended').waitFor();
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('Your session has ended').waitFor();

  await elsewhere.getByRole('link', { name: 'Activity' }).click();
  await elsewhere.getByText('Password changed').waitFor();
  await elsewhere.getByText('Sign-in failed').first().waitFor();
  await expectAccessible(elsewhere);
  await expectFitsPhone(elsewhere);
});

journey('a person exports their data, and deletes the account after confirming who they are', async (world) => {
  const ada = await world.newPerson('Ada Leaver');
  const page = await world.open('/account/data', ada);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export my data' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain(ada.email);
  await page.getByText('Your data was exported').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await refuseOnce(page, 'auth.deleteMe', 403, 'REAUTHENTICATION_REQUIRED');
  await page.getByRole('button', { name: 'Delete my account' }).click();
  await page.getByLabel('Your email address').fill('somebody@example.com');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText(`This is not ${ada.email}`).waitFor();
  await page.getByLabel('Your email address').fill(ada.email);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const identity = page.getByRole('dialog', { name: 'Confirm your identity' });
  await identity.getByLabel('Password').fill('a wrong password');
  await identity.getByRole('button', { name: 'Confirm' }).click();
  await identity.getByText('password is wrong').waitFor();
  await expectAccessible(page);
  await identity.getByLabel('Password').fill(PASSWORD);
  await identity.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Your account was deleted').waitFor();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Your session has ended').count()).toBe(0);
  await expect(signInAgain(ada)).rejects.toMatchObject({ status: 401 });
});

journey(
  'a person who forgot the password gets a link, and signs in with a new one',
  async ({ newPerson, open, url }) => {
    const { email, client } = await newPerson('Fay Forgetful');
    await client.calendarFeed.create.mutate();
    const page = await open('/');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    // The form of the page before has a field with the same label.
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('an email with a link is on its way').waitFor();
    await page.goto(await linkTo(url, email, '/reset-password'));
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat the new password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('all sessions and other access have ended').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
  },
);

journey('a new person accepts an invitation by mail, and gets into the workspace', async ({ newTeam, open, url }) => {
  const { owner, id } = await newTeam('Editors');
  const email = `invited.to.${id}@example.com`;
  await owner.client.invitations.create.mutate({ id, email, role: 'member' });
  const page = await open(await linkTo(url, email, '/invitation'));
  await page.getByLabel('I do not have an account yet').check();
  await page.getByLabel('Name', { exact: true }).fill('Ines Invited');
  await page.getByLabel('Password').fill(PASSWORD);
  // The answer is lost, and the button is pressed again.
  await page.route('**/api/invitations/accept', (route) => route.fetch().then(() => route.abort()), { times: 1 });
  await page.getByRole('button', { name: 'Join workspace' }).click();
  await page.getByText('The service could not be reached').waitFor();
  await page.getByRole('button', { name: 'Join workspace' }).click();
  await page.getByRole('link', { name: 'Open the workspace' }).click();
  await page.getByRole('button', { name: 'Workspace: Editors' }).waitFor();
});
