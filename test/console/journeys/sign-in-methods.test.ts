/** A second factor, passkeys and providers: set up in the account, and used to sign in. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../../src/auth/totp.ts';
import { PASSWORD } from '../../support/world.ts';
import { expectAccessible, expectFitsPhone, journey, refuseOnce } from './support/journey.ts';

/** The code that an authenticator app shows now, or `steps` later. Each works once. */
function codeNow(secret: string, steps = 0): string {
  return codeOf(fromBase32(secret), stepAt(new Date()) + steps);
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Your session has ended').count()).toBe(0);
}

/** Gives the page's browser a device with a lock that always says yes. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', {});
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

journey('a second factor is set up, asked for at the next sign-in, and switched off', async ({ newPerson, open }) => {
  const person = await newPerson('Sam Second');
  const page = await open('/account/security', person);
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  const secret = await page.getByLabel('Key', { exact: true }).inputValue();
  await page.getByLabel('Code', { exact: true }).fill('12');
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('code is wrong').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Code', { exact: true }).fill(codeNow(secret));
  await page.getByRole('button', { name: 'Switch on' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.nth(9).waitFor();
  const recoveryCode = (await codes.first().textContent()) ?? '';
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 recovery codes are left').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  for (const readCode of [() => codeNow(secret, 1), () => recoveryCode]) {
    await signOut(page);
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Code').fill(readCode());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
  }
  await page.goto('/account/security');
  await page.getByText('9 recovery codes are left').waitFor();
  await page.getByRole('button', { name: 'New recovery codes' }).click();
  await codes.nth(9).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 recovery codes are left').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('The second factor was switched off').waitFor();
  await page.getByRole('button', { name: 'Set it up' }).waitFor();
});

journey('a passkey is added, named, used to sign in, and removed', async ({ newPerson, open }) => {
  const page = await open('/account/security', await newPerson('Paul Passkey'));
  await addAuthenticator(page);
  await page.getByText('You have no passkeys yet').waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Laptop');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText('The passkey was added').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Rename Laptop' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Old laptop');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Rename Old laptop' }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expectAccessible(page);
  await expectFitsPhone(page);

  await signOut(page);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
  await page.goto('/account/security');
  await page.getByRole('button', { name: 'Remove Old laptop' }).click();
  await refuseOnce(page, 'passkeys.remove', 403, 'REAUTHENTICATION_REQUIRED');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  const identity = page.getByRole('dialog', { name: 'Confirm your identity' });
  await identity.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('The passkey was removed').waitFor();
  await page.getByText('You have no passkeys yet').waitFor();
});

/** Does what leads to the provider, and waits until the provider has led back. */
async function goThroughProvider(page: Page, press: () => Promise<void>): Promise<void> {
  const returned = page.waitForURL('**/sign-in/return?*', { waitUntil: 'commit' });
  await press();
  await returned;
  await page.waitForURL('**/account/security', { waitUntil: 'commit' });
  await page.getByRole('row', { name: /^Test ID grace\.at\.test\.id@example\.com/ }).waitFor();
}

journey('a person signs in at a provider, gets where they were going, and keeps that way in', async ({ open }) => {
  const page = await open('/account/security');
  const proceed = page.getByRole('button', { name: 'Continue with Test ID' });
  const link = page.getByRole('button', { name: 'Link Test ID', exact: true });
  await goThroughProvider(page, () => proceed.click());
  await page.getByRole('heading', { name: 'Security' }).waitFor();
  await page.getByRole('button', { name: 'Unlink Test ID' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await refuseOnce(page, 'openid.link', 403, 'REAUTHENTICATION_REQUIRED');
  await link.click();
  await page.getByRole('dialog', { name: 'Confirm your identity' }).waitFor();
  await goThroughProvider(page, () => proceed.click());
  // Linking it again changes nothing, and leads back.
  await goThroughProvider(page, () => link.click());
  // A sign-in that was not started here says so, and leads back too.
  await page.goto('/sign-in/return?state=unknown&code=unknown');
  await page.getByRole('link', { name: 'Go back to Lynxroom' }).click();
  await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
});
