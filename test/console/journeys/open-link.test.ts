/** Servers of their own: the link that `npm start` prints, and one that takes new accounts by invitation only. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findRunningPostgres } from '../../../src/db/embedded.ts';
import { startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { expectAccessible, expectFitsPhone, type Journey, journey } from './support/journey.ts';

journey('the link of a first start leads to the demo account with one click, and no second time', async ({ open }) => {
  const dataDir = await makeTempDir();
  const server = startServer({ DATA_DIR: dataDir });
  try {
    const url = await server.ready;
    const link = /http:\S+\/open#token=\S+/.exec(server.messages().join('\n'))?.[0] ?? '';
    const page = await open(link);
    await page.getByRole('heading', { name: 'Open Lynxroom' }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
    await page.getByRole('button', { name: 'Start a meeting' }).click();
    await page.getByRole('heading', { name: "Demo's room" }).waitFor();

    const again = await open(link);
    await again.getByRole('button', { name: 'Open' }).click();
    await again.getByText('npm run -s lynxroom -- open').waitFor();
    await again.goto(url);
    await again.getByText('your terminal shows a link that signs you in').waitFor();
  } finally {
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  }
});

journey('a service by invitation only says so, and takes who comes by an invite link', async ({ open }) => {
  const dataDir = await makeTempDir();
  const server = startServer({ DATA_DIR: dataDir, REGISTRATION: 'invited', REGISTRATION_DOMAINS: 'corp.example' });
  try {
    const url = await server.ready;
    const link = /http:\S+\/open#token=\S+/.exec(server.messages().join('\n'))?.[0] ?? '';
    const owner = await open(link);
    await owner.getByRole('button', { name: 'Open' }).click();
    await owner.getByRole('link', { name: 'Members' }).click();
    await owner.getByRole('button', { name: 'Invite link' }).click();
    await owner.getByRole('button', { name: 'Invite here' }).click();
    await owner.getByRole('button', { name: 'Show the link' }).click();
    const invite = await owner.getByRole('textbox', { name: 'Invite link' }).inputValue();

    const page = await open(url);
    await page.getByRole('link', { name: 'Create one' }).click();
    await page.getByText('your address must end in @corp.example').waitFor();
    await expectAccessible(page);
    const applicant = await open(`${url}/register`);
    await registerByDomain(applicant);
    // With the token of the operator the form is there, and the service decides.
    await page.goto(`${url}/register#setup_token=a-token-of-the-operator`);
    await page.reload();
    await page.getByLabel('Password').waitFor();
    await page.goto(invite.replace(/^https?:\/\/[^/]+/, url));
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Name').fill('Grace Hopper');
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Join the workspace' }).click();
    await page.getByText("You are now a member of Demo's Personal").waitFor();
    // Their accounts are deleted under them, which no page expects.
    for (const one of [owner, page, applicant]) await one.context().close();
    await createFirstAccount(open, url, dataDir);
  } finally {
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  }
});

/** Without an invitation, the domain of the address decides, and the account works once that is confirmed. */
async function registerByDomain(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('Ann');
  await page.getByLabel('Email').fill('ann@example.com');
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('This service takes new accounts by invitation only').waitFor();
  await page.getByLabel('Email').fill('ann@corp.example');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('A link was sent to ann@corp.example').waitFor();
  await expectAccessible(page);
  await page.goto(new URL('/', page.url()).href);
  await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  await page.getByRole('button', { name: 'Send another link' }).click();
  await page.getByText('Another link is on its way').waitFor();
  await page.getByRole('button', { name: 'I have confirmed it' }).click();
  await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** On the machine of the service, a database without accounts offers the first one, whatever the setting, and once. */
async function createFirstAccount(open: Journey['open'], url: string, dataDir: string): Promise<void> {
  const database = new pg.Client({ connectionString: (await findRunningPostgres(dataDir)) ?? '' });
  await database.connect();
  await database.query(`delete from workspaces; delete from users; delete from account_history`);
  await database.end();
  const page = await open(url);
  await page.getByRole('heading', { name: 'Welcome to Lynxroom' }).waitFor();
  await page.getByText('Nobody has an account here yet').waitFor();
  expect(await page.getByRole('link', { name: 'guides' }).getAttribute('href')).toBe('/docs/guides');
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('link', { name: 'Create the first account' }).click();
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}
