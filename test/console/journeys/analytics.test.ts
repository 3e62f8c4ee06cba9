/** The analytics of a workspace, with none, one and ten million events. */
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

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
  await page.getByRole('img', { name: /room joins 1\./ }).waitFor();
  await page.getByRole('img', { name: /Gespräche 面接 comes first with 1\./ }).waitFor();
  await page.getByRole('button', { name: 'Show as a table: Bookings and room joins' }).click();
  const table = page.getByRole('table', { name: 'Bookings and room joins' });
  expect(await table.getByRole('row').count()).toBe(31);
  await table.getByRole('row', { name: /0 1$/ }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Show as a chart: Bookings and room joins' }).click();

  // The real answer, with larger numbers: ten million events would take an hour to make.
  await page.route('**/trpc/analytics.read*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: multiply(await response.json()) });
  });
  await page.reload();
  await page.getByRole('img', { name: /room joins 10,000,000\./ }).waitFor();
  await page.getByText(/^10M$/i).first().waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  // A failure says why, and names the request.
  const removed = await open(`/w/${team.id}/settings`, team.admin);
  await removed.getByRole('heading', { name: 'Settings' }).waitFor();
  await team.owner.client.members.remove.mutate({ id: team.id, userId: team.admin.id });
  await removed.getByRole('link', { name: 'Analytics' }).click();
  await removed.getByText('The analytics could not be loaded').waitFor();
  await removed.getByRole('button', { name: 'Copy the request ID' }).waitFor();
  await expectAccessible(removed);
});

/** Makes each count ten million times as large. */
function multiply(value: Counts | Counts[] | number | string): unknown {
  if (Array.isArray(value)) return value.map(multiply);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === 'number' && name !== 'id' ? one * 10_000_000 : multiply(one),
    ]),
  );
}
