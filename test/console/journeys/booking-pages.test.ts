/** Booking pages, the calendar feed, and two visitors who want the same time. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { expectAccessible, expectFitsPhone, journey, refuseOnce } from './support/journey.ts';

journey('an admin creates a booking page, and two visitors race for one of its times', async ({ newTeam, open }) => {
  const team = await newTeam();
  const slug = `race-${team.id}`;
  const page = await open(`/w/${team.id}/booking-pages`, team.admin);
  await page.getByRole('button', { name: 'New booking page' }).click();
  const created = page.getByRole('dialog', { name: 'New booking page' });
  await created.getByLabel('Title').fill('Intro call');
  await created.getByLabel('Name in the link').fill(slug);
  await created.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Intro call', level: 1 }).waitFor();

  // Open every day, with a period that is refused first.
  for (const day of ['Saturday', 'Sunday']) await page.getByRole('checkbox', { name: day }).check();
  await page.getByRole('button', { name: 'Add a period on Monday' }).click();
  await page.getByLabel('Monday, period 2: from').fill('16:00');
  await page.getByText('The times overlap').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Correct the opening hours first').waitFor();
  await page.getByRole('button', { name: 'Remove Monday, period 2' }).click();
  await page.getByLabel('Monday: to').fill('12:00');
  await page.getByRole('button', { name: 'Copy Monday to all open days' }).click();
  await page.getByLabel('Length in minutes').fill('60');
  await page.getByLabel('Date', { exact: true }).fill('2027-12-24');
  await page.getByRole('button', { name: 'Add the day' }).click();
  // The message stands above the form, and the button below it.
  await refuseOnce(page, 'bookingPages.update', 403, 'FORBIDDEN');
  await page.getByRole('button', { name: 'Save' }).click();
  const note = page.locator('form [role="alert"]').first();
  await note.waitFor();
  await expect.poll(() => note.evaluate((element) => element.getBoundingClientRect().top >= 0)).toBe(true);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { bookingPages } = await team.admin.client.bookingPages.list.query({ id: team.id });
  expect(bookingPages).toMatchObject([{ slug, duration_minutes: 60, days_off: ['2027-12-24'] }]);
  expect(new Set(bookingPages[0]?.hours.map(({ from, to }) => `${from}-${to}`))).toEqual(new Set(['09:00-12:00']));
  expect(bookingPages[0]?.hours.length).toBe(7);
  const preview = page.getByRole('region', { name: 'Preview' });
  // The second day, because a part of the first is over.
  await preview.getByRole('group', { name: 'Day' }).getByRole('button').nth(1).click();
  await expect.poll(() => countTimes(preview.getByRole('group', { name: 'Time' }))).toBe(3);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await expectUnsavedIsKept(page);

  const visitors = await Promise.all([open(`/book/${slug}`), open(`/book/${slug}`)]);
  // Both choose the day by its name. The second day is far enough from now.
  const second = visitors[0].getByRole('group', { name: 'Day' }).getByRole('button').nth(1);
  const day = (await second.getAttribute('aria-label')) ?? '';
  await Promise.all(visitors.map((visitor, index) => chooseFirstTime(visitor, day, `Visitor ${index}`)));
  await Promise.all(visitors.map((visitor) => visitor.getByRole('button', { name: 'Book the meeting' }).click()));
  const [won, lost] = await Promise.all(
    ['Your meeting is booked', 'The meeting was not booked'].map((text) => findWith(visitors, text)),
  );
  if (!won || !lost) throw new Error('Nobody has won');
  await lost.getByText('This time is not available').waitFor();
  await expect.poll(() => countTimes(lost.getByRole('group', { name: 'Time' }))).toBe(2);
  await chooseFirstTime(lost, day, 'Second choice');
  await lost.getByRole('button', { name: 'Book the meeting' }).click();
  await lost.getByRole('heading', { name: 'Your meeting is booked' }).waitFor();

  await won.getByRole('link', { name: 'Move or cancel' }).click();
  const [file] = await Promise.all([
    won.waitForEvent('download'),
    won.getByRole('button', { name: 'Add to calendar' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('meeting.ics');
  const entry = await readFile(await file.path(), 'utf8');
  expect(entry).toMatch(/\r\nUID:[\da-f-]{36}\r\nSEQUENCE:0\r\n/);
  expect(entry).toContain('SUMMARY:Intro call: Adam Admin');
  await expectAccessible(won);
  await expectFitsPhone(won);

  await page.getByRole('link', { name: 'Bookings', exact: true }).click();
  await page.getByRole('button', { name: 'Actions on the meeting with Second choice' }).click();
  await page.getByRole('menuitem', { name: 'Move' }).click();
  const moved = page.getByRole('dialog', { name: 'Move the meeting with Second choice' });
  const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  await moved.getByLabel('New time').fill(`${inAMonth}T20:15`);
  await moved.getByRole('button', { name: 'Move' }).click();
  await page.getByText('The meeting was moved').waitFor();
  const { bookings } = await team.owner.client.bookings.list.query({ id: team.id });
  expect(bookings.map(({ name, sequence }) => [name.startsWith('Visitor'), sequence])).toEqual([
    [true, 0],
    [false, 1],
  ]);

  await page.getByRole('link', { name: 'Booking pages' }).click();
  await page.getByRole('link', { name: 'Intro call' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete Intro call?' });
  await asked.getByRole('button', { name: 'Delete' }).click();
  // It has upcoming bookings.
  await asked.getByRole('alert').waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await asked.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'All booking pages' }).click();
  await page.getByRole('row', { name: /Intro call.*Every day/ }).waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

/** Neither a link of the page nor the browser takes what is not saved without a question. */
async function expectUnsavedIsKept(page: Page): Promise<void> {
  const length = page.getByLabel('Length in minutes');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const leave = () => page.getByRole('link', { name: 'All booking pages' }).click();
  await length.fill('45');
  await leave();
  await expectAccessible(page, '[role=dialog]');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect(await length.inputValue()).toBe('45');
  const asking = page.waitForEvent('dialog');
  // The question stops the script that reloads, so the call does not wait for it.
  await page.evaluate('void setTimeout(() => location.reload())');
  const asked = await asking;
  expect(asked.type()).toBe('beforeunload');
  await asked.dismiss();
  expect(await length.inputValue()).toBe('45');
  await leave();
  await question.getByRole('button', { name: 'Leave without saving' }).click();
  await page.getByRole('heading', { name: 'Booking pages' }).waitFor();
  await page.getByRole('link', { name: 'Intro call' }).click();
  await length.waitFor();
  expect(await length.inputValue()).toBe('60');
}

journey('a host creates the calendar feed, which has an address that works, and switches it off', async (world) => {
  const team = await world.newTeam();
  const page = await world.open(`/w/${team.id}/bookings`, team.member);
  await page.getByRole('button', { name: 'Calendar feed' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your calendar feed' });
  await dialog.getByRole('button', { name: 'Create the feed' }).click();
  const address = await dialog.getByLabel('Address of the feed').inputValue();
  const read = async (): Promise<number> => (await fetch(address)).status;
  expect(await read()).toBe(200);
  await expectAccessible(page, '[role=dialog]');
  await dialog.getByRole('button', { name: 'Switch the feed off' }).click();
  await dialog.getByText('You have no feed').waitFor();
  expect(await read()).toBe(404);
});

/** Chooses the first time of a day, and fills in the form. */
async function chooseFirstTime(page: Page, day: string, name: string): Promise<void> {
  await page.getByRole('group', { name: 'Day' }).getByRole('button', { name: day, exact: true }).click();
  await page.getByRole('group', { name: 'Time' }).getByRole('button').first().click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Email').fill(`${name.toLowerCase().replaceAll(' ', '.')}@example.com`);
}

/** Waits until one of the pages shows the text, and returns this page. */
function findWith(pages: readonly Page[], text: string): Promise<Page> {
  return Promise.any(
    pages.map(async (page) => {
      await page.getByText(text, { exact: true }).waitFor();
      return page;
    }),
  );
}

function countTimes(group: ReturnType<Page['getByRole']>): Promise<number> {
  return group.getByRole('button').count();
}

journey('a host approves a booking that its guest has not confirmed', async ({ newTeam, open, url }) => {
  const team = await newTeam();
  const { client } = team.owner;
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
  const hours = days.map((day) => ({ day, from: '00:00', to: '24:00' }));
  const page = { id: team.id, title: 'Consultation', duration_minutes: 30, time_zone: 'UTC', hours };
  const { bookingPage } = await client.bookingPages.create.mutate({ ...page, confirm_email: true });
  const from = Math.floor(Date.now() / 1000) + 86_400;
  const { times } = await client.bookings.times.query({ slug: bookingPage.slug, from, to: from + 86_400 });
  const guest = { slug: bookingPage.slug, name: 'Vera Novak', email: 'vera@example.com', starts_at: times[0] ?? 0 };
  await createClient({ url }).bookings.book.mutate(guest);
  const host = await open(`/w/${team.id}/bookings`, team.owner);
  await host.getByText('Not confirmed').waitFor();
  await expectFitsPhone(host);
  await host.getByRole('button', { name: 'Actions on the meeting with Vera Novak' }).click();
  await host.getByRole('menuitem', { name: 'Approve' }).click();
  await host.getByText('The meeting is confirmed').waitFor();
  await host.getByText('Not confirmed').waitFor({ state: 'hidden' });
  await expectAccessible(host);
});
