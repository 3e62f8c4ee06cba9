/** The library: uploads, search, the panel, labels, and retention. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

const PDF = join(root, 'examples/sample.pdf');
const MP4 = join(root, 'examples/sample.mp4');

journey('three files are uploaded at once: one is cancelled, one is cut off and sent again', async (world) => {
  const team = await world.newTeam();
  const page = await world.open(`/w/${team.id}/library`, team.member);
  await page.getByText('The library is empty').waitFor();
  await expectAccessible(page);
  let requests = 0;
  await page.route('**/api/workspaces/*/library', async (route) => {
    requests += 1;
    // The first is held until it is cancelled, and the connection of the second breaks.
    if (requests === 1) return;
    await (requests === 2 ? route.abort('connectionreset') : route.continue());
  });
  await page.locator('input[type=file]').setInputFiles([PDF, MP4, join(root, 'README.md')]);
  await page.getByText('Only PDF and MP4 files can be uploaded').waitFor();
  await page.getByRole('button', { name: 'Upload sample.mp4 again' }).waitFor();
  await page.getByRole('button', { name: 'Cancel the upload of sample.pdf' }).click();
  await page.getByText('Cancelled', { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Upload sample.mp4 again' }).click();
  await page.getByText(/^Uploaded, /).waitFor();
  await page.getByRole('button', { name: 'sample.mp4', exact: true }).waitFor();
  const { items } = await team.member.client.library.list.query({ id: team.id });
  expect(items.map(({ name }) => name)).toEqual(['sample.mp4']);

  // The same way, by dropping.
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const name of ['dropped.pdf', 'dropped-too.pdf', 'dropped-last.pdf'])
      transfer.items.add(new File(['%PDF-1.4 ' + name], name, { type: 'application/pdf' }));
    return transfer;
  })()`);
  await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
  for (const name of ['dropped.pdf', 'dropped-too.pdf', 'dropped-last.pdf'])
    await page.getByRole('button', { name, exact: true }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expectFitsPhone(page);
});

journey('an item is found, watched, renamed, labelled, and deleted', async ({ newTeam, open }) => {
  const team = await newTeam();
  const { client } = team.owner;
  for (const name of ['Annual report', 'Budget', 'Welcome video']) {
    const isVideo = name === 'Welcome video';
    const file = await openAsBlob(isVideo ? MP4 : PDF, { type: isVideo ? 'video/mp4' : 'application/pdf' });
    await client.upload({ id: team.id, file, filename: isVideo ? 'a.mp4' : 'a.pdf', name });
  }
  const page = await open(`/w/${team.id}/library`, team.owner);
  await page.getByText('3 items').waitFor();

  await page.getByRole('button', { name: 'Labels' }).click();
  await page.getByLabel('New label', { exact: true }).fill('Finance');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('textbox', { name: 'Name of Finance' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('checkbox', { name: 'Select Annual report' }).check();
  await page.getByRole('checkbox', { name: 'Select Budget' }).check();
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Label', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Finance' }).click();
  const readLabelled = async () => {
    const { labels } = await client.labels.list.query({ id: team.id });
    const { items } = await client.library.list.query({
      id: team.id,
      label: labels[0]?.id,
      sort: 'name',
      order: 'asc',
    });
    return items.map(({ name }) => name);
  };
  await expect.poll(readLabelled).toEqual(['Annual report', 'Budget']);
  await page.getByLabel('Filter by label').selectOption('Finance');
  await page.getByText('2 items').waitFor();

  await page.getByRole('searchbox', { name: 'Search by name' }).fill('budg');
  await page.getByText('1 item', { exact: true }).waitFor();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('nothing like this');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByText('3 items').waitFor();

  // Browsers without a viewer, such as those of phones, get the download only.
  if (await page.evaluate('navigator.pdfViewerEnabled')) {
    await page.getByRole('button', { name: 'Budget', exact: true }).click();
    await page.getByTitle('PDF Budget').waitFor();
    await expect.poll(() => page.frames().some((frame) => frame.url().includes('/files/'))).toBe(true);
    await expectAccessible(page, '[role=dialog]');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog', { name: 'Budget' }).waitFor({ state: 'hidden' });
  }

  await page.getByRole('button', { name: 'Welcome video' }).click();
  await expect.poll(() => page.evaluate("document.querySelector('video')?.readyState >= 1")).toBe(true);
  await expectAccessible(page, '[role=dialog]');
  await page.getByRole('dialog').getByLabel('Name').fill('First steps');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'First steps' }).waitFor();
  await expectFitsPhone(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('2 items').waitFor();
  const readNames = async () => (await client.library.list.query({ id: team.id })).items.map(({ name }) => name);
  await expect.poll(readNames).not.toContain('First steps');
  await page.getByText('Moved to the trash').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('3 items').waitFor();
  await page.getByRole('button', { name: 'First steps', exact: true }).waitFor();

  for (const name of ['Annual report', 'Budget', 'First steps'])
    await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('The library is empty').waitFor();
  await page.getByText('3 moved to the trash').waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Trash' }).click();
  await page.getByRole('heading', { name: 'Trash' }).waitFor();
  await page.getByRole('button', { name: 'Restore First steps' }).click();
  await page.getByText('First steps is back in the library').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Delete Budget for good' }).click();
  await page.getByRole('dialog', { name: 'Delete Budget for good?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Budget was deleted for good').waitFor();
  await page.getByRole('button', { name: 'Empty the trash' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Empty the trash' }).click();
  await page.getByText('The trash is empty').waitFor();
  await expectAccessible(page);
  expect(await readNames()).toEqual(['First steps']);
  await page.getByRole('link', { name: 'Open the library' }).click();

  await page.getByRole('button', { name: 'Retention' }).click();
  await page.getByLabel('Keep items for').selectOption('90 days');
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Close without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The retention was changed').waitFor();
  expect(await client.retention.read.query({ id: team.id })).toEqual({ media_retention_days: 90 });
});
