/** What others change appears by itself, with a stream and without one. */
import { expect } from 'vitest';
import { journey } from './support/journey.ts';

const STREAM = '**/trpc/events.live*';

journey('the changes of others appear by a stream, and by polling where there is none', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/library`, team.owner);
  await page.getByText('The library is empty').waitFor();
  // Lists without `refetchInterval` change only by the stream, or by the polling in place of it.
  const opened = page.waitForResponse((response) => response.url().includes('/trpc/events.live'));
  await page.reload();
  expect((await opened).status()).toBe(200);
  await page.getByText('The library is empty').waitFor();
  const file = new Blob(['%PDF-1.4 of another'], { type: 'application/pdf' });
  const item = await team.admin.client.upload({ id: team.id, file, filename: 'a.pdf', name: 'From another user' });
  await page.getByRole('button', { name: 'From another user', exact: true }).waitFor();

  await page.getByRole('link', { name: 'Rooms', exact: true }).click();
  await page.getByText('There are no rooms yet').waitFor();
  await team.admin.client.rooms.create.mutate({ workspace_id: team.id, display_name: 'Opened by another' });
  await page.getByRole('link', { name: 'Opened by another', exact: true }).waitFor();

  const refused = await open('/', team.member);
  await refused.route(STREAM, (route) => route.abort());
  await refused.goto(`/w/${team.id}/library`);
  await refused.getByRole('button', { name: 'From another user', exact: true }).waitFor();
  await team.admin.client.library.delete.mutate({ id: team.id, itemId: item.id });
  await refused.getByText('The library is empty').waitFor();
});
