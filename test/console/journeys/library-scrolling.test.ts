/** The list of a library with thousands of items: few rows are in the page, and all of them can be reached. */
import pg from 'pg';
import { expect, inject } from 'vitest';
import { expectAccessible, journey } from './support/journey.ts';

const ITEMS = 5_000;
/** The rows in sight, and those that are kept around them. */
const MAX_ROWS = 40;

/** Adds items that are named for their place in the list, the newest first. */
async function addItems(workspaceId: number, userId: number): Promise<void> {
  const database = new pg.Client({ connectionString: inject('databaseUrl') });
  await database.connect();
  await database.query(
    `insert into library_items
      (workspace_id, uploaded_by, name, file_key, mime_type, size, sha256, created_at, updated_at)
    select $1, $2, 'Item ' || g, 'none/' || $1::int || '/' || g, 'application/pdf', 1000, sha256(''),
      now() - g * interval '1 second', now()
    from generate_series(1, $3::int) g`,
    [workspaceId, userId, ITEMS],
  );
  await database.end();
}

journey('of thousands of items few are in the page, and each is reached by wheel and by keyboard', async (world) => {
  const team = await world.newTeam();
  await addItems(team.id, team.owner.id);
  const page = await world.open(`/w/${team.id}/library`, team.owner);
  const list = page.getByRole('region', { name: 'Items' });
  const rows = list.getByRole('listitem');
  const row = (number: number) => list.getByRole('button', { name: `Item ${number}`, exact: true });
  await row(1).waitFor();
  expect(await rows.first().getAttribute('aria-setsize')).toBe(String(ITEMS));

  // The list begins below the heading of the page, which scrolls with it.
  const scrollTo = (number: number) =>
    page.evaluate(`{
      const top = document.querySelector('[aria-label=Items]').getBoundingClientRect().top + scrollY;
      window.scrollTo(0, top + 64 * (${number} - 1));
    }`);
  await list.hover();
  let most = 0;
  for (let step = 0; step < 40; step += 1) {
    await page.mouse.wheel(0, 1_600);
    most = Math.max(most, await rows.count());
  }
  // The wheel has moved the list by 40 × 1,600 pixels, which are 1,000 rows of 64.
  await row(1_001).waitFor();
  expect(await row(1).count()).toBe(0);

  await page.keyboard.press('End');
  await row(ITEMS).waitFor();
  await expect.poll(() => rows.last().getAttribute('aria-posinset')).toBe(String(ITEMS));
  await page.keyboard.press('PageUp');
  await page.keyboard.press('Home');
  await row(1).waitFor();
  most = Math.max(most, await rows.count());
  expect(most).toBeLessThanOrEqual(MAX_ROWS);

  // The row with the focus stays when it is scrolled out of sight, and Tab leads to the next row.
  await row(1).focus();
  await scrollTo(2_500);
  await row(2_500).waitFor();
  expect(await page.evaluate('document.activeElement.title')).toBe('Item 1');
  expect(await rows.count()).toBeLessThanOrEqual(MAX_ROWS);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await expect.poll(() => page.evaluate('document.activeElement.title')).toBe('Item 2');

  // What is found in the middle is the item of that place, and its panel opens.
  await scrollTo(2_500);
  await row(2_500).click();
  await page.getByRole('dialog').getByText('Item 2500').first().waitFor();
});

journey('Shift and a click select a range, and one box selects as many as a call changes', async (world) => {
  const team = await world.newTeam();
  await addItems(team.id, team.owner.id);
  const page = await world.open(`/w/${team.id}/library`, team.owner);
  const box = (number: number) => page.getByRole('checkbox', { name: `Select Item ${number}`, exact: true });
  const all = page.getByRole('checkbox', { name: 'Select all items' });
  await box(2).click();
  await box(6).click({ modifiers: ['Shift'] });
  await page.getByText('5 selected').waitFor();
  expect(await box(4).isChecked()).toBe(true);
  expect(await page.evaluate(`document.querySelector('[aria-label^="Select all"]').indeterminate`)).toBe(true);
  // What is taken out of the range, upwards, is no longer selected.
  await box(4).click({ modifiers: ['Shift'] });
  await page.getByText('2 selected').waitFor();

  // Rows in between that were never in sight are selected too, on the next page of the list.
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await box(1).scrollIntoViewIfNeeded();
  await box(1).click();
  await page.mouse.wheel(0, 64 * 89);
  await box(90).click({ modifiers: ['Shift'] });
  await page.getByText('90 selected').waitFor();
  await expectAccessible(page);
  await all.click();
  await page.getByText('100 selected (the maximum)').waitFor();
  await all.click();
  await page.getByText('5,000 items').waitFor();
});
