/** A person who has never seen the service follows what its pages say, from `npm start` to all that a team does. */
import { rm } from 'node:fs/promises';
import { expect } from 'vitest';
import { startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { PASSWORD } from '../../support/world.ts';
import { journey } from './support/journey.ts';

/** How long the recording takes. */
const RECORDED_MS = 4_000;

journey('a newcomer makes a team, meets, records, invites by mail, and is booked', async ({ open }) => {
  const dataDir = await makeTempDir();
  const server = startServer({ DATA_DIR: dataDir });
  try {
    const url = await server.ready;
    // What the terminal shows.
    const link = /http:\S+\/open#token=\S+/.exec(server.messages().join('\n'))?.[0] ?? '';
    const owner = await open(link);
    await owner.getByRole('button', { name: 'Open' }).click();
    await owner.getByRole('button', { name: 'Create a team' }).click();
    await owner.getByLabel('Name').fill('Editors');
    await owner.getByRole('button', { name: 'Create', exact: true }).click();
    await owner.getByRole('button', { name: 'Workspace: Editors' }).waitFor();

    // Two people meet, and record.
    await owner.getByRole('button', { name: 'Start a meeting' }).click();
    await owner.getByRole('button', { name: 'Join', exact: true }).click();
    await owner.getByRole('button', { name: 'Leave' }).waitFor();
    const guest = await open(owner.url());
    await guest.getByLabel('Name').fill('Gus Guest');
    await guest.getByRole('button', { name: 'Ask to join' }).click();
    await owner.getByRole('button', { name: 'Admit Gus Guest' }).click();
    await guest.getByText('Demo', { exact: true }).first().waitFor();
    await owner.getByRole('button', { name: 'Record', exact: true }).click();
    await guest.getByRole('button', { name: 'Stay' }).click();
    await owner.getByRole('button', { name: 'Stop recording' }).waitFor();
    await new Promise((resolve) => setTimeout(resolve, RECORDED_MS));
    await owner.getByRole('button', { name: 'Leave', exact: true }).click();
    await owner.getByText('The recording was sent.').waitFor();
    await guest.getByRole('button', { name: 'Leave', exact: true }).click();
    await owner.getByRole('link', { name: 'Go to the start page' }).click();
    await owner
      .getByRole('region', { name: 'Latest recordings' })
      .getByRole('link', { name: /^Recording/ })
      .waitFor();

    // A third person is invited by mail, and watches it.
    await owner.getByRole('link', { name: 'Invite somebody' }).click();
    await owner.getByRole('button', { name: 'Invite by mail' }).click();
    await owner.getByLabel('Addresses').fill('ines@example.com');
    await owner.getByRole('button', { name: 'Send invitations' }).click();
    await owner.getByText('ines@example.com: invited').waitFor();
    await owner.getByRole('link', { name: 'the mail that was not sent' }).click();
    await owner.getByRole('listitem').filter({ hasText: 'ines@example.com' }).getByRole('link').first().click();
    const invitation = await owner.getByRole('link', { name: /\/invitation#token=/ }).getAttribute('href');
    const invited = await open(invitation ?? '');
    await invited.getByLabel('I do not have an account yet').check();
    await invited.getByLabel('Name', { exact: true }).fill('Ines Invited');
    await invited.getByLabel('Password').fill(PASSWORD);
    await invited.getByRole('button', { name: 'Join workspace' }).click();
    await invited.getByRole('link', { name: 'Open the workspace' }).click();
    await invited.getByRole('link', { name: 'Recordings', exact: true }).click();
    await invited
      .getByRole('row')
      .getByRole('link', { name: /^Recording/ })
      .click();
    await expect.poll(() => invited.evaluate('document.querySelector("video")?.duration ?? 0')).toBeGreaterThan(2);

    // A guest books.
    await owner.goto(url);
    await owner.getByRole('link', { name: 'Let guests book' }).click();
    await owner.getByRole('button', { name: 'New booking page' }).first().click();
    await owner.getByLabel('Title').fill('Intro call');
    await owner.getByLabel('Name in the link').fill('intro');
    await owner.getByRole('button', { name: 'Create', exact: true }).click();
    await owner.getByRole('heading', { name: 'Intro call', level: 1 }).waitFor();
    const booking = await open(`${url}/book/intro`);
    await booking.getByRole('group', { name: 'Day' }).getByRole('button').nth(1).click();
    await booking.getByRole('group', { name: 'Time' }).getByRole('button').first().click();
    await booking.getByLabel('Name').fill('Vera Visitor');
    await booking.getByLabel('Email').fill('vera@example.com');
    await booking.getByRole('button', { name: 'Book the meeting' }).click();
    await booking.getByRole('heading', { name: 'Your meeting is booked' }).waitFor();
    await owner.getByRole('link', { name: 'Home' }).click();
    await owner.getByRole('region', { name: 'Next bookings' }).getByText('Vera Visitor').waitFor();
    // All that is left is a file, and a call of the API.
    await owner.getByRole('region', { name: 'First steps' }).getByText('4 of 6').waitFor();
  } finally {
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  }
});
