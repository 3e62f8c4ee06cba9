/** The pages for everybody: invite links, rooms, and booking pages. */
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import {
  DESKTOP,
  expectAccessible,
  expectFitsPhone,
  expectPrints,
  journey,
  loseAnswerOnce,
  PHONE,
} from './support/journey.ts';

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

journey('an invite link leads through the sign-in form into the workspace', async ({ newTeam, newPerson, open }) => {
  const team = await newTeam('Editors');
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  const person = await newPerson('Nora New');
  const page = await open(`/join/${token}`, person);
  await page.getByRole('heading', { name: 'Join Editors' }).waitFor();
  await page.getByText(`${team.owner.name} invites you`).waitFor();
  await page.getByText('You join as Nora New').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Join the workspace' }).click();
  await page.getByText('You are now a member of Editors').waitFor();
  for (const reader of [person, undefined]) {
    const unknown = await open('/join/unknown', reader);
    await unknown.getByText('This link does not work (any more)').waitFor();
    expect(await unknown.getByRole('button').count()).toBe(0);
    await expectAccessible(unknown);
  }
  const visitor = await open(`/join/${token}`);
  await visitor.getByText(`${team.owner.name} invites you`).waitFor();
  await expectAccessible(visitor);
  await expectFitsPhone(visitor);
  await visitor.getByRole('link', { name: 'Create an account' }).click();
  await visitor.getByRole('heading', { name: 'Create an account' }).waitFor();
  await visitor.goBack();
  await visitor.getByRole('link', { name: 'Sign in' }).click();
  await visitor.getByText('You were invited to a workspace').waitFor();
  await visitor.getByRole('button', { name: 'Sign in' }).waitFor();
});

journey('a guest waits, is admitted, reloads, and leaves', async ({ newTeam, open }) => {
  const { owner, id } = await newTeam();
  const waiting_room_message = 'We begin\nin a moment';
  const { room } = await owner.client.rooms.create.mutate({
    workspace_id: id,
    display_name: 'Weekly meeting',
    waiting_room_enabled: 1,
    waiting_room_message,
  });
  const page = await open(`/room/${room.name}`);
  await page.getByRole('heading', { name: 'Weekly meeting' }).waitFor();
  await expectAccessible(page);
  await page.getByLabel('Name').fill('Vera Visitor 研究');
  await page.getByLabel('Email').fill('vera@example.com');
  await page.getByRole('button', { name: 'Ask to join' }).click();
  await page.getByText('We begin').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  const { participants } = await owner.client.participants.list.query({ name: room.name });
  expect(participants.map(({ name, status }) => [name, status])).toEqual([['Vera Visitor 研究', 'waiting']]);
  await owner.client.participants.admit.mutate({ name: room.name, participantId: participants[0]?.id ?? 0 });
  await page.getByText('You are in the room').waitFor();
  await page.reload();
  await page.getByText('You are in the room').waitFor();
  const { participants: still } = await owner.client.participants.list.query({ name: room.name });
  expect(still.length).toBe(1);
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByText('You have left the room').waitFor();
  const unknown = await open('/room/there-is-none');
  await unknown.getByText('This room could not be opened').waitFor();
});

journey('two visitors race for one time, and the first moves and cancels the meeting', async ({ newTeam, open }) => {
  const { owner, id } = await newTeam();
  const slug = `talk-${id}`;
  await owner.client.bookingPages.create.mutate({
    id,
    title: 'Intro call',
    slug,
    duration_minutes: 60,
    time_zone: 'Europe/Berlin',
    hours: WEEK.map((day) => ({ day, from: '08:00', to: '18:00' })),
  });
  const pages = await Promise.all([open(`/book/${slug}`), open(`/book/${slug}`)]);
  for (const [index, page] of pages.entries()) {
    await page.getByRole('heading', { name: 'Intro call' }).waitFor();
    // The second day is far enough from now. Its first time is the same for both.
    await page.getByRole('group', { name: 'Day' }).getByRole('button').nth(1).click();
    await page.getByRole('group', { name: 'Time' }).getByRole('button').first().click();
    await page.getByLabel('Name').fill(`Visitor ${index}`);
    await page.getByLabel('Email').fill(`visitor${index}@example.com`);
  }
  const [first, second] = pages as [(typeof pages)[0], (typeof pages)[0]];
  await expectAccessible(first);
  await expectFitsPhone(first);
  await loseAnswerOnce(first, 'bookings.book');
  await first.getByRole('button', { name: 'Book the meeting' }).click();
  await first.getByText('The service cannot be reached').waitFor();
  await first.getByRole('button', { name: 'Book the meeting' }).click();
  await first.getByRole('heading', { name: 'Your meeting is booked' }).waitFor();
  await second.getByRole('button', { name: 'Book the meeting' }).click();
  await second.getByText('This time is not available').waitFor();

  await first.getByRole('link', { name: 'Move or cancel' }).click();
  await first.getByRole('button', { name: 'Move', exact: true }).click();
  await first.getByRole('group', { name: 'Day' }).getByRole('button').nth(2).click();
  await first.getByRole('group', { name: 'Time' }).getByRole('button').last().click();
  await first.getByRole('button', { name: /^Move to / }).click();
  await first.getByRole('button', { name: 'Move', exact: true }).waitFor();
  await expectAccessible(first);
  const host = await open(`/w/${id}/bookings`, owner);
  await host.getByRole('row', { name: /Visitor 0/ }).waitFor();
  await expectAccessible(host);
  await expectFitsPhone(host);
  for (const printed of [host, first]) await expectPrints(printed);
  await first.getByRole('button', { name: 'Cancel the meeting' }).click();
  await first.getByRole('dialog').getByRole('button', { name: 'Cancel the meeting' }).click();
  await first.getByText('Cancelled').waitFor();
  await first.getByRole('link', { name: 'Book another time' }).waitFor();
  const { bookings } = await owner.client.bookings.list.query({ id, from: 0 });
  expect(bookings).toMatchObject([{ name: 'Visitor 0', status: 'cancelled', sequence: 2 }]);
});

journey('a guest sees month, times and form at one look, and chooses with the keyboard', async ({ newTeam, open }) => {
  const { owner, id } = await newTeam();
  const slug = `look-${id}`;
  await owner.client.bookingPages.create.mutate({
    id,
    title: 'Intro call',
    slug,
    duration_minutes: 60,
    time_zone: 'UTC',
    hours: WEEK.map((day) => ({ day, from: '08:00', to: '18:00' })),
  });
  const page = await open(`/book/${slug}`);
  const [days, times] = ['Day', 'Time'].map((name) => page.getByRole('group', { name })) as [Locator, Locator];
  const submit = page.getByRole('button', { name: 'Book the meeting' });
  await times.getByRole('button').first().waitFor();
  const parts = [days, times, page.getByLabel('Name'), submit];
  for (const part of parts) {
    const { y = -1, height = 0 } = (await part.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(DESKTOP.height);
  }
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByLabel('Email').fill('vera@example.com');
  await submit.click();
  await page.getByText('Choose a time first').waitFor();

  const chosen = days.getByRole('button', { pressed: true });
  const readChosen = () => chosen.getAttribute('aria-label');
  const first = await readChosen();
  await chosen.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(readChosen).not.toBe(first);
  expect(await page.evaluate('document.activeElement.ariaPressed')).toBe('true');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(readChosen).toBe(first);
  await page.keyboard.press('PageDown');
  await expect.poll(readChosen).toMatch(/^\w+,? 1 /);
  await page.keyboard.press('PageUp');
  await page.getByRole('button', { name: 'Earlier dates', disabled: true }).waitFor();

  await page.setViewportSize(PHONE);
  const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y ?? 0));
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
});

/** A browser that does not know its time zone, blocks the data of sites, and has a clock that is two years fast. */
const STRANGE_BROWSER = `
  const { resolvedOptions } = Intl.DateTimeFormat.prototype;
  Intl.DateTimeFormat.prototype.resolvedOptions = function () {
    return { ...resolvedOptions.call(this), timeZone: location.hash === '#undefined' ? undefined : 'Etc/Unknown' };
  };
  for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(window, name, { get() { throw new DOMException('Denied', 'SecurityError'); } });
  }
  const now = Date.now;
  Date.now = () => now() + 63_072_000_000;
`;

journey('a visitor books and moves a meeting, whatever the browser says about itself', async ({ newTeam, open }) => {
  const { owner, id } = await newTeam();
  const slug = `strange-${id}`;
  await owner.client.bookingPages.create.mutate({
    id,
    title: 'Intro call',
    slug,
    duration_minutes: 60,
    time_zone: 'UTC',
    hours: WEEK.map((day) => ({ day, from: '08:00', to: '18:00' })),
  });
  for (const hash of ['', '#undefined']) {
    const page = await open('/robots.txt');
    await page.addInitScript(STRANGE_BROWSER);
    await page.goto(`/book/${slug}${hash}`);
    await page.getByRole('group', { name: 'Day' }).getByRole('button').nth(1).click();
    await page.getByRole('group', { name: 'Time' }).getByRole('button').first().click();
    await page.getByLabel('Name').fill('Vera Visitor');
    await page.getByLabel('Email').fill('vera@example.com');
    await page.getByRole('button', { name: 'Book the meeting' }).click();
    await page.getByText('(UTC)').waitFor();
    await page.getByRole('link', { name: 'Move or cancel' }).click();
    await page.getByRole('button', { name: 'Move', exact: true }).waitFor();
  }
  const { bookings } = await owner.client.bookings.list.query({ id, from: 0 });
  expect(bookings.map(({ time_zone }) => time_zone)).toEqual(['UTC', 'UTC']);
});

journey('a page that asks for a confirmation says so, and a link that is not valid is refused', async (world) => {
  const { owner, id } = await world.newTeam();
  const slug = `confirmed-${id}`;
  await owner.client.bookingPages.create.mutate({
    id,
    title: 'Demo',
    slug,
    duration_minutes: 60,
    time_zone: 'UTC',
    confirm_email: true,
    hours: WEEK.map((day) => ({ day, from: '08:00', to: '18:00' })),
  });
  const page = await world.open(`/book/${slug}`);
  await page.getByRole('group', { name: 'Day' }).getByRole('button').nth(1).click();
  await page.getByRole('group', { name: 'Time' }).getByRole('button').first().click();
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByLabel('Email').fill('vera@example.com');
  await page.getByRole('button', { name: 'Book the meeting' }).click();
  await page.getByRole('heading', { name: 'Check your email to confirm the meeting' }).waitFor();
  await page.getByRole('link', { name: 'Move or cancel' }).click();
  await page.getByText('Not confirmed').waitFor();
  const stranger = await world.open(`/book/${slug}/booking#token=lnm_unknown`);
  await stranger.getByRole('button', { name: 'Confirm the meeting' }).click();
  await stranger.getByText('The meeting was not confirmed').waitFor();
  await expectAccessible(stranger);
});

journey('a guest comes back into a locked room, from a link in capitals, without waiting again', async (world) => {
  const { owner, id } = await world.newTeam();
  const name = `weekly-${id}`;
  await owner.client.rooms.create.mutate({ workspace_id: id, name, waiting_room_enabled: 1 });
  const page = await world.open(`/room/Weekly-${id}`);
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByRole('button', { name: 'Ask to join' }).click();
  await page.getByText('A host will let you in').waitFor();
  const { participants } = await owner.client.participants.list.query({ name });
  await owner.client.participants.admit.mutate({ name, participantId: participants[0]?.id ?? 0 });
  await page.getByText('You are in the room').waitFor();
  await owner.client.rooms.lock.mutate({ name });
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByText('You have left the room').waitFor();
  await page.getByRole('button', { name: 'Join again' }).click();
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByRole('button', { name: 'Ask to join' }).click();
  await page.getByText('You are in the room').waitFor();
  const stranger = await world.open(`/room/${name}`);
  await stranger.getByLabel('Name').fill('Sam Stranger');
  await stranger.getByRole('button', { name: 'Ask to join' }).click();
  await stranger.getByText('The room is locked: a host must unlock it').waitFor();
});

journey('a hidden tab of a room with a meeting provider closes its stream until it is shown', async (world) => {
  const { owner, id } = await world.newTeam();
  await owner.client.connections.create.mutate({ id, name: 'Meetings', provider: 'generic' });
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const page = await world.open(`/room/${room.name}`);
  const isLive = (request: { url(): string }): boolean => request.url().includes('/trpc/participants.live');
  const opened = page.waitForRequest(isLive);
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await opened;
  // The place of the browser SDK of the provider.
  await page.locator('#meeting').waitFor({ state: 'attached' });
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
      document.dispatchEvent(new Event('visibilitychange'))`);
  const closed = page.waitForEvent('requestfailed', isLive);
  await setHidden(true);
  await closed;
  // It still asks what happens to the visit.
  await owner.client.rooms.close.mutate({ name: room.name });
  await page.getByText('A host has closed the meeting').waitFor();
  await page.getByRole('button', { name: 'Join again' }).click();
  await page.getByLabel('Name').fill('Vera Visitor');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByText('You are in the room').waitFor();
  const reopened = page.waitForRequest(isLive);
  await setHidden(false);
  await reopened;
});
