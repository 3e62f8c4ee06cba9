/** How much anonymous callers can book. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toMailbox } from '../../src/core/mailbox.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, cancel, createPage } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({
    frozenAt: new Date('2026-06-15T12:00:00Z'),
    limits: { exemptLoopback: true },
    trustProxy: ['127.0.0.1'],
    settings: { maxBookingsPerNetwork: 20, maxBookingsPerHost: 30 },
  });
});
afterAll(() => app.close());

const NINE = at('2026-06-16T09:00:00Z');
let time = NINE;

async function createOpenPage(title = 'Always'): Promise<string> {
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
  const hours = days.map((day) => ({ day, from: '00:00', to: '24:00' }));
  return (await createPage(app, team, { title, duration_minutes: 5, hours })).slug;
}

/** Books the next free time from a network, with an address of its own by default. */
function bookFrom(network: string | null, slug: string, email?: string): Promise<Answer> {
  time += 300;
  return app.http.call('POST', `/api/book/${slug}`, {
    json: { name: 'Spam', email: email ?? `guest${time}@example.com`, starts_at: time },
    headers: network === null ? {} : { 'x-forwarded-for': network },
  });
}

test('of 200 bookings from one network at once, 20 succeed, on all pages of the host together', async () => {
  team = await addTeam(app);
  const pages = [await createOpenPage(), await createOpenPage('Second')];
  const answers = await concurrently(200, (index) => bookFrom('203.0.113.7', pages[index % 2] ?? ''));
  expect(countStatuses(answers)).toEqual({ 200: 20, 429: 180 });
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.message).toBe('Too many bookings from this network: try again later');
  expect(refused?.headers.get('retry-after')).toBe('3600');
  expect((await bookFrom('203.0.113.8', pages[0] ?? '')).status).toBe(200);
  // An IPv6 network is a /48.
  const neighbours = await concurrently(12, (index) => bookFrom(`2001:db8:1:${index}::1`, pages[0] ?? ''));
  expect(countStatuses(neighbours)).toEqual({ 200: 9, 429: 3 });
});

test('cancelled bookings count for the network and not for the host; a day later nothing does', async () => {
  team = await addTeam(app);
  const slug = await createOpenPage();
  const spam = await concurrently(32, (index) => bookFrom(`203.0.113.${index % 4}`, slug));
  expect(countStatuses(spam)).toEqual({ 200: 30, 429: 2 });
  expect((await bookFrom('198.51.100.1', slug)).body.message).toBe(
    'Too many bookings with this host today: try again later',
  );
  for (const { body } of spam) if (body.booking) await cancel(app, slug, body.booking.cancel_token);
  for (let count = 0; count < 20; count += 1)
    await cancel(app, slug, (await bookFrom('198.51.100.1', slug)).body.booking.cancel_token);
  expect((await bookFrom('198.51.100.1', slug)).status).toBe(429);
  expect((await bookFrom('198.51.100.2', slug)).status).toBe(200);
  app.clock.advance(DAY_MS + 1);
  expect((await bookFrom('198.51.100.1', slug)).status).toBe(200);
  app.clock.advance(-DAY_MS - 1);
});

test('a caller on this machine is exempt from the bound of the network', async () => {
  team = await addTeam(app);
  const slug = await createOpenPage();
  expect(countStatuses(await concurrently(25, () => bookFrom(null, slug)))).toEqual({ 200: 25 });
});

test('an address has three upcoming bookings, however it is written', async () => {
  team = await addTeam(app);
  const slug = await createOpenPage();
  const answers = await concurrently(8, (index) => bookFrom(null, slug, `v.era+${index}@Gmail.com`));
  expect(countStatuses(answers)).toEqual({ 200: 3, 409: 5 });
  expect((await bookFrom(null, slug, 'vera@googlemail.com')).status).toBe(409);
  expect((await bookFrom(null, slug, 'vera@example.com')).status).toBe(200);
  const others = [0, 1, 2, 3].map((index) => `Vera-${index}+${index}@Yahoo.com`);
  expect(countStatuses(await concurrently(4, (index) => bookFrom(null, slug, others[index])))).toEqual({
    200: 3,
    409: 1,
  });
});

test.each([
  ['vera@example.com', 'vera@example.com'],
  ['vera+a+b@example.com', 'vera@example.com'],
  ['+vera@example.com', '+vera@example.com'],
  ['v.e.ra@example.com', 'v.e.ra@example.com'],
  ['v.e.ra+x@gmail.com', 'vera@gmail.com'],
  ['vera@googlemail.com', 'vera@gmail.com'],
  ['vera@gmail.example.com', 'vera@gmail.example.com'],
  ['vera-news+x@yahoo.com', 'vera@yahoo.com'],
  ['-vera@yahoo.de', '-vera@yahoo.de'],
  ['vera-news@example.com', 'vera-news@example.com'],
  ['v_e-r.a+x@protonmail.com', 'vera@proton.me'],
  ['v-e.ra@ya.ru', 'vera@yandex.ru'],
  ['v.era+x@me.com', 'v.era@icloud.com'],
  ['news@vera.fastmail.com', 'vera@fastmail.com'],
  ['vera+news@fastmail.com', 'vera@fastmail.com'],
  ['vera+x@outlook.com', 'vera@outlook.com'],
])('the mailbox of %s is %s', (email, mailbox) => {
  expect(toMailbox(email)).toBe(mailbox);
});
