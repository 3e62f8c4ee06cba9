/** Six people in one meeting, on the page of a room. */
import { expect } from 'vitest';
import { journey } from './support/journey.ts';
import { expectAllSeeAndHear, expectConnected, joinMeeting, openRoom } from './support/meeting-pages.ts';

const NAMES = ['Ada', 'Grace', 'Alan', 'Katherine', 'Edsger', 'Barbara'];
/** All pages together are drawn by one machine. */
const WINDOW = { width: 640, height: 400 };
const SIZES = [
  { width: 320, height: 568 },
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 3840, height: 2160 },
  WINDOW,
];

const IS_WHOLE = `document.documentElement.scrollHeight <= innerHeight &&
  document.documentElement.scrollWidth <= innerWidth`;

journey('six people see and hear each other, and one comes back by a reload', async (world) => {
  const { id, owner } = await world.newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id, display_name: 'Weekly sync' });
  const pages = await Promise.all(
    NAMES.map(async (name) => {
      const page = await openRoom(world, room.name);
      await page.setViewportSize(WINDOW);
      await page.getByLabel('Name').fill(name);
      return page;
    }),
  );
  for (const [index, page] of pages.entries()) {
    await joinMeeting(page);
    await expectConnected(page, index);
  }
  await expectAllSeeAndHear(pages);

  const [first, last] = [pages.at(0), pages.at(-1)];
  if (!first || !last) throw new Error('There are six pages');
  for (const size of SIZES) {
    await first.setViewportSize(size);
    expect([size, await first.evaluate(IS_WHOLE)]).toEqual([size, true]);
  }

  await last.reload();
  await last.getByRole('button', { name: 'Leave' }).waitFor();
  // A page that was just loaded may play sound after a gesture alone.
  await last.keyboard.press('p');
  await expectAllSeeAndHear(pages);
});
