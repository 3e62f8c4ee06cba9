/** The analytics of a workspace, with none, one and ten million events. */
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { callsOf, expectAccessible, expectFitsPhone, expectPrints, journey, refuseOnce } from './support/journey.ts';

type Counts = { [field: string]: number | string | Counts | Counts[] };

journey('the numbers and charts can be read with none, one and ten million events', async ({ newTeam, open, url }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/analytics`, team.member);
  await page.getByText('Nothing has happened yet').waitFor();
  await expectAccessible(page);

  const { room } = await team.owner.client.rooms.create.mutate({
    workspace_id: team.id,
    display_name: 'Gespräche 面接',
  });
  const guest = { roomName: room.name, name: 'Gus Guest', email: 'gus@example.com' };
  await createClient({ url }).participants.join.mutate(guest);
  await page.reload();
  await page.getByRole('figure', { name: /room joins 1\./ }).waitFor();
  await page.getByRole('figure', { name: /Gespräche 面接 comes first with 1\./ }).waitFor();
  await page.getByRole('button', { name: 'Show as a table: Bookings and room joins' }).click();
  const table = page.getByRole('table', { name: 'Bookings and room joins' });
  await expect.poll(() => table.getByRole('row').count()).toBe(31);
  await table.getByRole('row', { name: /0 1$/ }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await expectPrints(page);
  await page.getByRole('button', { name: 'Show as a chart: Bookings and room joins' }).click();

  // The range is in the address, and a bar leads to the list of what it counts.
  await page.getByLabel('Compare with the days before').click();
  await page.getByText('+1 from 0').first().waitFor();
  await page.getByLabel('From').fill(new Date().toISOString().slice(0, 10));
  await page.getByLabel('Time zone').selectOption('UTC');
  await page.getByRole('figure', { name: /On one day: bookings 0, room joins 1\./ }).waitFor();
  expect(new URL(page.url()).search).toMatch(/compare=true&from=\d{4}-\d\d-\d\d&zone=UTC/);
  await page.reload();
  await page.getByRole('figure', { name: /On one day: bookings 0, room joins 1\./ }).waitFor();
  await page.locator('figure[aria-label*="room joins 1"] svg a').click();
  await page.getByRole('heading', { name: 'Rooms joined', level: 1 }).waitFor();
  await page.getByText('1 event', { exact: true }).waitFor();
  await page.getByRole('row', { name: /Joined a room Gus Guest/ }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.goBack();
  await page.locator('figure[aria-label*="new contacts 1"] svg a').click();
  await page.getByText('1 contact', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Added from .*: show all$/ }).click();
  await page.waitForURL((url) => url.search === '');
  await page.goto(`${url}/w/${team.id}/analytics`);

  // The real answer, with larger numbers: ten million events would take an hour to make.
  const isRead = (call: string) => call.startsWith('analytics.read');
  await page.route(
    (url) => callsOf(url).some(isRead),
    async (route) => {
      const response = await route.fetch();
      const calls = callsOf(new URL(route.request().url()));
      // `as`: a batch has one answer for each call.
      const answers = (await response.json()) as Counts[];
      const json = answers.map((answer, index) => (isRead(calls[index] ?? '') ? multiply(answer) : answer));
      await route.fulfill({ response, json });
    },
  );
  await page.reload();
  await page.getByRole('figure', { name: /room joins 10,000,000\./ }).waitFor();
  await page.getByText(/^10M$/i).first().waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  // A failure says why, and names the request. The loader asks first, and the page once more.
  await refuseOnce(page, 'analytics.read', 500, 'INTERNAL_SERVER_ERROR');
  await refuseOnce(page, 'analytics.read', 500, 'INTERNAL_SERVER_ERROR');
  await page.reload();
  await page.getByText('The analytics could not be loaded').waitFor();
  await page.getByText('the-request-id').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('figure', { name: /room joins 10,000,000\./ }).waitFor();
});

/** Makes each count ten million times as large. */
function multiply(value: Counts | Counts[] | number | string): unknown {
  if (Array.isArray(value)) return value.map(multiply);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === 'number' && name !== 'id' && !name.endsWith('_at') ? one * 10_000_000 : multiply(one),
    ]),
  );
}
