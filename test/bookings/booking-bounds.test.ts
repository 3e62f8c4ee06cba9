/** How much anonymous callers can book. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toMailbox } from '../../src/core/mailbox.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { mailTo } from '../support/mail.ts';
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
  const neighbours = await concurrently(24, (index) => bookFrom(`2001:db8:1:${index}::1`, pages[0] ?? ''));
  expect(countStatuses(neighbours)).toEqual({ 200: 20, 429: 4 });
});

test('cancelled bookings count for the network and not for the host; a day later nothing does', async () => {
  team = await addTeam(app);
  const slug = await createOpenPage();
  const spam = await concurrently(32, (index) => bookFrom(`203.0.113.${index % 4}`, slug));
  expect(countStatuses(spam)).toEqual({ 200: 32 });
  const waiting = spam.filter(({ body }) => body.booking.status === 'unconfirmed');
  expect(waiting).toHaveLength(2);
  for (const { body } of spam) await cancel(app, slug, body.booking.cancel_token);
  for (let count = 0; count < 20; count += 1)
    await cancel(app, slug, (await bookFrom('198.51.100.1', slug)).body.booking.cancel_token);
  expect((await bookFrom('198.51.100.1', slug)).status).toBe(429);
  expect((await bookFrom('198.51.100.2', slug)).body.booking.status).toBe('confirmed');
  app.clock.advance(DAY_MS + 1);
  expect((await bookFrom('198.51.100.1', slug)).status).toBe(200);
  app.clock.advance(-DAY_MS - 1);
});

describe('bookings beyond the limit of a host', () => {
  let slug: string;
  let free: number;
  beforeEach(async () => {
    team = await addTeam(app);
    slug = await createOpenPage();
    const strangers = await concurrently(35, (index) => bookFrom(`203.0.113.${index % 2}`, slug));
    expect(countStatuses(strangers)).toEqual({ 200: 35 });
    time += 300;
    free = time;
  });

  const bookAt = (startsAt: number, email: string, to = app) =>
    to.http.call('POST', `/api/book/${slug}`, {
      json: { name: 'Vera', email, starts_at: startsAt },
      headers: { 'x-forwarded-for': '198.51.100.9' },
    });
  const listed = async (status: string) =>
    (await app.http.get(`${team.path}/bookings?status=${status}`, team.owner.token)).body.bookings;
  const confirm = (token: string) => app.http.post(`/api/book/${slug}/confirm`, undefined, { token });
  const approve = (id: number, token = team.admin.token) => app.http.post(`${team.path}/bookings/${id}/approve`, token);
  const offered = async () =>
    (await app.http.get(`/api/book/${slug}?from=${free - 60}&to=${free + 60}`)).body.times as number[];

  test('wait for the guest, hold no time, and count when they are confirmed', async () => {
    const booked = await bookAt(free, 'vera@example.com');
    expect(booked.body.booking).toMatchObject({ status: 'unconfirmed', awaits: 'guest', room_name: null });
    expect(await offered()).toContain(free);
    const token = await confirmTokenFor('vera@example.com');
    expect((await confirm(token)).body.booking).toMatchObject({ status: 'confirmed', awaits: null });
    expect(await offered()).not.toContain(free);
    expect(await listed('confirmed')).toHaveLength(31);
    expect((await confirm(token)).body.booking.status).toBe('confirmed');
  });

  test('of several for one time, one is confirmed, also if all are at once, or another is moved there', async () => {
    const emails = Array.from({ length: 5 }, (_, index) => `vera${index}-${free}@example.com`);
    for (const email of emails) expect((await bookAt(free, email)).status).toBe(200);
    const tokens = await Promise.all(emails.map(confirmTokenFor));
    const ids = (await listed('unconfirmed'))
      .filter(({ starts_at }: { starts_at: number }) => starts_at === free)
      .map(({ id }: { id: number }) => id);
    expect(ids).toHaveLength(5);
    const answers = await Promise.all([...tokens.map(confirm), ...ids.map((id: number) => approve(id))]);
    const succeeded = answers.filter(({ status }) => status === 200).map(({ body }) => body.booking.id);
    expect(new Set(succeeded).size).toBe(1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.message}`))).toEqual(
      new Set(['409 This time is not available']),
    );
    expect(await listed('confirmed')).toHaveLength(31);
  });

  test('wait for the host where no mail is sent; a member who is not the host may not approve them', async () => {
    const silent = await startTestApp({
      sharedDatabase: app,
      frozenAt: new Date('2026-06-15T12:00:00Z'),
      limits: { exemptLoopback: true },
      trustProxy: ['127.0.0.1'],
      settings: { maxBookingsPerNetwork: 20, maxBookingsPerHost: 30, sendsMail: false },
    });
    const booked = await bookAt(free, 'walt@example.com', silent);
    expect(booked.body).toMatchObject({ booking: { awaits: 'host' } });
    const { id } = booked.body.booking;
    await silent.close();
    expect(await listed('unconfirmed')).toEqual(
      expect.arrayContaining([expect.objectContaining({ id, awaits: 'host', room_name: null })]),
    );
    expect((await approve(id, team.member.token)).status).toBe(403);
    const approved = await approve(id, team.owner.token);
    expect(approved.body.booking).toMatchObject({ id, status: 'confirmed', awaits: null });
    expect((await approve(id)).body).toEqual(approved.body);
    await app.http.post(`${team.path}/bookings/${id}/cancel`, team.owner.token);
    expect((await approve(id)).body.message).toBe('The booking is cancelled');
  });

  test('end when nobody confirms them; of more than a hundred, one of the network with the most', async () => {
    const first = (await bookAt(free, 'vera@example.com')).body.booking;
    const flood = await concurrently(110, (index) => bookFrom(`192.0.2.${index % 6}`, slug));
    expect(countStatuses(flood)).toEqual({ 200: 110 });
    const lookUp = (token: string) => app.http.post(`/api/book/${slug}/booking`, undefined, { token });
    expect((await lookUp(first.cancel_token)).body.booking.status).toBe('unconfirmed');
    const [oldest] = flood;
    expect((await lookUp(oldest?.body.booking.cancel_token)).body.booking.status).toBe('cancelled');
    const { db } = app.services;
    const waiting = { userId: team.admin.id, isWaiting: true, cancelledAt: null };
    expect(await db.booking.count({ where: waiting })).toBe(100);
    app.clock.advance(30 * 60_000);
    const last = flood.at(-1)?.body.booking;
    expect((await approve(last.id)).body.message).toBe('The time to approve this booking has passed');
    expect(await listed('unconfirmed')).toEqual([]);
    app.clock.advance(-30 * 60_000);
  });
});

/** The token in the link that a guest got by mail. */
async function confirmTokenFor(email: string): Promise<string> {
  const message = (await mailTo(app, email)).find(({ kind }) => kind === 'confirm-booking');
  return /token=(lnm_[\w-]+)/.exec(message?.text ?? '')?.[1] ?? '';
}

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
