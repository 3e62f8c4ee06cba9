/** The life of a booking, as its guest and host receive it from a real mail server. */
import ICAL from 'ical.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { pruneUnconfirmed, queueReminders } from '../../src/features/booking-mails/remind.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { createSmtpTransport, type MailTransport } from '../../src/mail/smtp.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { calendarOf, invitationOf, partsOf, type ReadInvitation, textOf } from '../support/received-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage } from './pages.ts';

const source = { baseUrl: 'https://app.example.com', address: 'noreply@lynxroom.example' };
const now = new Date('2026-06-15T08:00:00Z');
/** The day after, in the opening hours. */
const start = at('2026-06-17T10:00:00Z');

let app: TestApp;
let team: Team;
let server: MailServer;
let transport: MailTransport;
beforeAll(async () => {
  server = await startMailServer();
  transport = createSmtpTransport({ smtpUrl: server.url, from: { name: 'Lynxroom', address: source.address } });
});
afterAll(async () => {
  transport.close();
  await server.close();
});
beforeEach(async () => {
  app = await startTestApp({ frozenAt: now });
  team = await addTeam(app);
  await receive();
});
afterEach(() => app.close());

type Mail = { to: string; text: string; invitation: ReadInvitation | null };

/** Sends what waits, and returns what the mail server received. */
async function receive(): Promise<Mail[]> {
  server.received.length = 0;
  while ((await sendDueMail({ services: app.services, transport, source })) > 0);
  return server.received
    .map((mail) => ({
      to: mail.to.join(),
      text: textOf(mail),
      invitation: calendarOf(mail) === null ? null : invitationOf(mail),
    }))
    .sort((a, b) => a.to.localeCompare(b.to));
}

/** Sends what waits, which must be one message to the guest and one to the host. */
async function receiveBoth(host = team.admin.email): Promise<{ guest: Mail; host: Mail }> {
  const mails = await receive();
  const [guest, other] = ['vera@example.com', host].map((to) => mails.find((mail) => mail.to === to));
  expect(mails.map(({ to }) => to).sort()).toEqual(['vera@example.com', host].sort());
  if (!guest?.invitation || !other?.invitation) throw new Error('A message has no calendar file');
  expect({ ...guest.invitation, description: '' }).toEqual({ ...other.invitation, description: '' });
  return { guest, host: other };
}

function linkIn({ text }: Mail, page: string): string {
  const token = new RegExp(`^https://app\\.example\\.com${page}#token=([\\w-]+)$`, 'm').exec(text)?.[1];
  if (token === undefined) throw new Error(`The message has no link to ${page}:\n${text}`);
  return token;
}

function post(path: string, body: object, token?: string) {
  return app.http.post(path, token, body);
}

test('a guest gets mail in the language of the booking or of the browser, and the host in English', async () => {
  const page = await createPage(app, team);
  const guest = { name: 'Vera Novak', email: 'vera@example.com', time_zone: 'Europe/Vienna' };
  const headers = { 'accept-language': 'it, ar;q=0.5, de-AT;q=0.9, fr;q=0' };
  const path = `/api/book/${page.slug}`;
  const booked = await app.http.call('POST', path, { headers, json: { ...guest, starts_at: start } });
  const { guest: german, host } = await receiveBoth();
  expect(german.text).toContain('Ihr Termin ist gebucht.');
  expect(german.text).toContain('Wann: Mittwoch, 17. Juni 2026, 12:00 bis 12:30');
  expect(german.invitation?.description).toContain('Termin ansehen, verschieben oder absagen');
  expect(host.text).toContain('Somebody has booked a meeting with you.');
  // The booking remembers it: nobody has said it again.
  await cancel(app, page.slug, booked.body.booking.cancel_token);
  expect((await receiveBoth()).guest.text).toContain('Ihr Termin wurde abgesagt');
  await app.http.call('POST', path, { headers, json: { ...guest, starts_at: start, language: 'ar' } });
  const { guest: arabic } = await receiveBoth();
  expect(arabic.text).toContain('تم حجز اجتماعك.');
  const html = server.received.flatMap(partsOf).filter(({ type }) => type.startsWith('text/html'));
  expect(html.map(({ text }) => /<html[^>]*>/.exec(text)?.[0]).sort()).toEqual([
    '<html lang="ar" dir="rtl">',
    '<html lang="en" dir="ltr">',
  ]);
});

test('a guest who has said no language gets mail in that of the workspace, as it is then', async () => {
  const page = await createPage(app, team);
  const speak = (language: 'de' | 'es' | null) =>
    app.http.patch(`${team.path}/branding`, team.owner.token, { language });
  await speak('es');
  const guest = { name: 'Vera Novak', email: 'vera@example.com', time_zone: 'Europe/Vienna' };
  const headers = { 'accept-language': 'it' };
  const json = { ...guest, starts_at: at('2026-06-18T11:00:00Z') };
  const booked = await app.http.call('POST', `/api/book/${page.slug}`, { headers, json });
  const { guest: spanish, host } = await receiveBoth();
  expect(spanish.text).toContain('Su cita está reservada.');
  expect(host.text).toContain('Somebody has booked a meeting with you.');
  await speak('de');
  await cancel(app, page.slug, booked.body.booking.cancel_token);
  expect((await receiveBoth()).guest.text).toContain('Ihr Termin wurde abgesagt');
  await speak(null);
});

test('the mail to a guest whose browser knows only an offset has the times at that offset', async () => {
  const page = await createPage(app, team, { time_zone: 'UTC' });
  const guest = { name: 'Vera Novak', email: 'vera.offset@example.com', time_zone: '+05:30' };
  const { status } = await post(`/api/book/${page.slug}`, { ...guest, starts_at: at('2026-06-18T09:00:00Z') });
  expect(status).toBe(200);
  const mail = (await receive()).find(({ to }) => to === guest.email);
  expect(mail?.text).toContain('14:30');
  expect(mail?.text).toContain('+05:30 (GMT+05:30)');
});

test('a booking is made, confirmed, remembered, moved and cancelled, and every calendar follows', async () => {
  const page = await createPage(app, team, {
    confirm_email: true,
    time_zone: 'America/New_York',
    reminder_minutes: 60,
  });
  // 10:00 in UTC is before the office hours there.
  const first = at('2026-06-17T14:00:00Z');
  const booked = await post(`/api/book/${page.slug}`, {
    name: 'Vera Novak',
    email: 'vera@example.com',
    starts_at: first,
    time_zone: 'Asia/Kolkata',
  });
  expect(booked.body.booking).toMatchObject({ status: 'unconfirmed', room_name: null });

  const [toConfirm, ...others] = await receive();
  if (!toConfirm || others.length > 0) throw new Error('Not only the guest got mail');
  expect([toConfirm.to, toConfirm.invitation]).toEqual(['vera@example.com', null]);
  expect(toConfirm.text).toContain('by 14:00');
  const confirmToken = linkIn(toConfirm, `/book/${page.slug}/booking`);
  expect(confirmToken).not.toBe(booked.body.booking.cancel_token);
  const confirmed = await post(`/api/book/${page.slug}/confirm`, { token: confirmToken });
  const room = confirmed.body.booking.room_name;
  expect(confirmed.body.booking).toMatchObject({ status: 'confirmed', room_name: expect.any(String) });

  const one = await receiveBoth();
  const { uid } = one.guest.invitation ?? {};
  expect(uid).toBe(confirmed.body.booking.uid);
  expect(one.guest.invitation).toEqual({
    method: 'REQUEST',
    uid: expect.stringMatching(/^[\da-f-]{36}$/),
    sequence: 0,
    status: 'CONFIRMED',
    summary: 'Intro call: Vera Novak and Adam Admin',
    location: `https://app.example.com/room/${room}`,
    description: expect.stringContaining(`/book/${page.slug}/booking#token=${booked.body.booking.cancel_token}`),
    startsAt: first,
    endsAt: first + 1_800,
    organizer: { name: 'Adam Admin', address: source.address },
    attendees: [
      { name: 'Vera Novak', address: 'vera@example.com', rsvp: 'TRUE' },
      { name: 'Adam Admin', address: team.admin.email, rsvp: 'TRUE' },
    ],
  });
  expect(one.guest.text).toContain(
    'When: Wednesday, 17 June 2026, 19:30 to 20:00\nTime zone: Asia/Kolkata (GMT+05:30)\n',
  );
  expect(one.host.text).toContain('When: Wednesday, 17 June 2026, 10:00 to 10:30\n');
  expect(one.host.text).toContain('Time zone: America/New_York (GMT-04:00)\n');
  expect(one.host.text).toContain(`https://app.example.com/w/${team.id}/bookings`);
  const token = linkIn(one.guest, `/book/${page.slug}/booking`);
  expect(token).toBe(booked.body.booking.cancel_token);

  app.clock.advance(first * 1_000 - HOUR_MS - now.getTime());
  await queueReminders(app.services);
  await queueReminders(app.services);
  const reminder = await receiveBoth();
  expect(reminder.guest.text).toMatch(/^Meeting soon: 17 Jun 2026, 19:30\n/);
  expect(reminder.guest.invitation).toMatchObject({ method: 'REQUEST', uid, sequence: 0 });

  const second = at('2026-06-18T15:00:00Z');
  expect((await post(`/api/book/${page.slug}/reschedule`, { token, starts_at: second })).status).toBe(200);
  const moved = await receiveBoth();
  expect(moved.host.text).toMatch(/^Booking moved: 18 Jun 2026, 11:00\n/);
  expect(moved.guest.invitation).toMatchObject({ method: 'REQUEST', uid, sequence: 1, startsAt: second });

  app.clock.advance(DAY_MS + HOUR_MS);
  await queueReminders(app.services);
  expect((await receiveBoth()).guest.text).toMatch(/^Meeting soon: 18 Jun 2026, 20:30\n/);

  expect((await cancel(app, page.slug, linkIn(reminder.guest, `/book/${page.slug}/booking`))).status).toBe(200);
  const cancelled = await receiveBoth();
  expect(cancelled.host.invitation).toMatchObject({ method: 'CANCEL', status: 'CANCELLED', uid, sequence: 2 });
  expect(cancelled.guest.text).toContain(`https://app.example.com/book/${page.slug}\n`);
  app.clock.advance(DAY_MS);
  await queueReminders(app.services);
  expect(await receive()).toEqual([]);
});

test('a page can keep quiet to its host, and remind nobody', async () => {
  const page = await createPage(app, team, { notify_host: false, reminder_minutes: null });
  const { body } = await book(app, page.slug, start);
  expect((await receive()).map(({ to }) => to)).toEqual(['vera@example.com']);
  app.clock.advance(start * 1_000 - MINUTE_MS - now.getTime());
  await queueReminders(app.services);
  expect(await receive()).toEqual([]);
  await post(`${team.path}/bookings/${body.booking.id}/cancel`, {}, team.admin.token);
  const [mail, ...others] = await receive();
  expect([mail?.to, mail?.invitation?.method, others]).toEqual(['vera@example.com', 'CANCEL', []]);
});

test('a booking that fails tells nobody', async () => {
  const page = await createPage(app, team);
  await book(app, page.slug, start);
  await receive();
  expect((await book(app, page.slug, start, 'Walt')).status).toBe(409);
  expect((await book(app, page.slug, at('2026-06-17T03:00:00Z'), 'Walt')).status).toBe(409);
  expect(await receive()).toEqual([]);
});

describe('a reminder', () => {
  test('is queued once by two workers at a time, a day before the meeting', async () => {
    const page = await createPage(app, team);
    await book(app, page.slug, start);
    await receive();
    app.clock.advance(start * 1_000 - DAY_MS - now.getTime() - 1_000);
    await queueReminders(app.services);
    expect(await receive()).toEqual([]);
    app.clock.advance(1_000);
    await Promise.all([queueReminders(app.services), queueReminders(app.services)]);
    expect((await receiveBoth()).guest.text).toMatch(/^Meeting soon:/);
  });

  test('is not sent for a meeting that was booked later, has begun, or is cancelled', async () => {
    const page = await createPage(app, team, { reminder_minutes: 2_880 });
    const late = await book(app, page.slug, start, 'Late');
    expect(late.status).toBe(200);
    const later = at('2026-06-19T10:00:00Z');
    const gone = await book(app, page.slug, later, 'Gone');
    await book(app, page.slug, later + 1_800, 'Begun');
    await cancel(app, page.slug, gone.body.booking.cancel_token);
    await receive();
    app.clock.advance((later + 1_800) * 1_000 - now.getTime());
    await queueReminders(app.services);
    expect(await receive()).toEqual([]);
  });

  test('that waits is dropped when the meeting is moved or cancelled', async () => {
    const page = await createPage(app, team);
    const { body } = await book(app, page.slug, start);
    await receive();
    app.clock.advance(start * 1_000 - HOUR_MS - now.getTime());
    await queueReminders(app.services);
    const moved = { token: body.booking.cancel_token, starts_at: start + 7_200 };
    expect((await post(`/api/book/${page.slug}/reschedule`, moved)).status).toBe(200);
    const subjects = (await receive()).map(({ text }) => text.split(':')[0]);
    expect(subjects.sort()).toEqual(['Booking moved', 'Meeting moved']);
  });
});

describe('a booking that nobody has confirmed', () => {
  const confirming = { confirm_email: true };

  async function hold(slug: string, startsAt = start, name = 'Vera'): Promise<string> {
    const { body } = await book(app, slug, startsAt, name);
    expect(body.booking.status).toBe('unconfirmed');
    const [mail] = await receive();
    if (!mail) throw new Error('The guest got no mail');
    return linkIn(mail, `/book/${slug}/booking`);
  }

  async function times(slug: string): Promise<number[]> {
    return (await app.http.get(`/api/book/${slug}`)).body.times;
  }

  test('holds its time for 30 minutes, makes no room and no contact, and is listed as unconfirmed', async () => {
    const page = await createPage(app, team, confirming);
    await hold(page.slug);
    expect(await times(page.slug)).not.toContain(start);
    expect((await book(app, page.slug, start, 'Walt')).status).toBe(409);
    const list = async () => (await app.http.get(`${team.path}/bookings`, team.admin.token)).body.bookings;
    expect(await list()).toMatchObject([{ status: 'unconfirmed', room_name: null, contact_id: null }]);
    expect((await app.http.get(`${team.path}/rooms`, team.admin.token)).body.rooms).toEqual([]);
    expect((await app.http.get(`${team.path}/contacts`, team.admin.token)).body.total).toBe(0);
    app.clock.advance(30 * MINUTE_MS);
    expect(await list()).toEqual([]);
    expect(await times(page.slug)).toContain(start);
    expect((await book(app, page.slug, start, 'Walt')).body.booking).toMatchObject({ status: 'unconfirmed' });
  });

  test('is confirmed once, however often the link is used, until its time is over', async () => {
    const page = await createPage(app, team, confirming);
    const token = await hold(page.slug);
    const path = `/api/book/${page.slug}/confirm`;
    app.clock.advance(30 * MINUTE_MS - 1);
    const answers = await Promise.all([1, 2, 3].map(() => post(path, { token })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.booking.room_name)).size).toBe(1);
    expect((await app.http.get(`${team.path}/rooms`, team.admin.token)).body.rooms).toHaveLength(1);
    await receiveBoth();
    app.clock.advance(HOUR_MS);
    expect((await post(path, { token })).body.booking.status).toBe('confirmed');
    expect((await post(path, { token: `${token.slice(0, -1)}_` })).status).toBe(404);
  });

  test('is over after that, and then deleted', async () => {
    const page = await createPage(app, team, confirming);
    const token = await hold(page.slug);
    app.clock.advance(30 * MINUTE_MS);
    const late = await post(`/api/book/${page.slug}/confirm`, { token });
    expect([late.status, late.body.error]).toEqual([409, 'The time to confirm this booking has passed: book again']);
    app.clock.advance(DAY_MS);
    await pruneUnconfirmed(app.services);
    expect(await app.services.db.booking.count()).toBe(0);
    expect((await post(`/api/book/${page.slug}/confirm`, { token })).status).toBe(404);
    expect(await receive()).toEqual([]);
  });

  test('can be cancelled by its guest and by the team, without any mail, but not moved', async () => {
    const page = await createPage(app, team, confirming);
    const { body } = await book(app, page.slug, start);
    const [mail] = await receive();
    const moved = { token: body.booking.cancel_token, starts_at: start + 1_800 };
    expect((await post(`/api/book/${page.slug}/reschedule`, moved)).status).toBe(409);
    expect((await cancel(app, page.slug, body.booking.cancel_token)).status).toBe(200);
    expect(await times(page.slug)).toContain(start);
    const confirm = { token: mail ? linkIn(mail, `/book/${page.slug}/booking`) : '' };
    expect((await post(`/api/book/${page.slug}/confirm`, confirm)).body.error).toBe('The booking is cancelled');
    expect(await receive()).toEqual([]);
  });

  test('loses its time to exactly one of those who want it when it ends', async () => {
    const page = await createPage(app, team, confirming);
    for (let round = 0; round < 5; round += 1) {
      const time = start + round * 1_800;
      const token = await hold(page.slug, time, `First${round}`);
      const { slug } = await createPage(app, team, { slug: `open-${round}` });
      // Some requests read the clock just before the booking ends, some after it.
      app.clock.advance(30 * MINUTE_MS - 1);
      const race = [1, 2, 3].map((n) => book(app, slug, time, `Other${round}${n}`));
      const confirming = post(`/api/book/${page.slug}/confirm`, { token });
      await app.http.get('/health');
      app.clock.advance(1);
      race.push(book(app, slug, time, `Other${round}4`));
      const statuses = (await Promise.all([confirming, ...race])).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const held = await app.services.db.booking.count({
        where: { startsAt: new Date(time * 1_000), cancelledAt: null, confirmBy: null },
      });
      expect(held).toBe(1);
      await receive();
    }
  });

  test('is refused if its guest gets too much mail of the kind', async () => {
    const page = await createPage(app, team, confirming);
    const other = await createPage(app, team, { ...confirming, slug: 'other' });
    const request = (slug: string, n: number) =>
      post(`/api/book/${slug}`, { name: 'Vera', email: 'vera@example.com', starts_at: start + n * 1_800 });
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push(await request(n < 3 ? page.slug : other.slug, n));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await app.services.db.booking.count()).toBe(5);
  });
});

test('a flood of bookings with the address of a guest keeps back no reminder and no cancellation', async () => {
  const page = await createPage(app, team);
  const { body } = await book(app, page.slug, start);
  for (let n = 1; n <= 30; n += 1) {
    // One address may have three upcoming bookings on a page.
    const slug = `flood-${Math.ceil(n / 3)}`;
    if (n % 3 === 1) await createPage(app, team, { slug }, team.owner);
    const starts_at = start + Math.floor(n / 10) * 86_400 + (n % 10) * 1_800;
    const { status } = await post(`/api/book/${slug}`, { name: 'Vera', email: 'vera@example.com', starts_at });
    expect(status).toBe(200);
  }
  const toGuest = (mails: Mail[]) => mails.filter(({ to }) => to === 'vera@example.com');
  expect(toGuest(await receive())).toHaveLength(20);
  await app.services.db.booking.updateMany({ where: { id: body.booking.id }, data: { reminderAt: now } });
  await queueReminders(app.services);
  const soon = toGuest(await receive());
  expect(soon.map(({ invitation }) => invitation?.startsAt)).toEqual([start]);
  await cancel(app, page.slug, body.booking.cancel_token);
  const [gone, ...others] = toGuest(await receive());
  expect([gone?.invitation?.method, gone?.invitation?.startsAt, others]).toEqual(['CANCEL', start, []]);
});

describe('guests and hosts hear of it when', () => {
  test('the room is deleted: the booking is cancelled', async () => {
    const page = await createPage(app, team);
    const { body } = await book(app, page.slug, start);
    await receive();
    await app.http.delete(`/api/dashboard/rooms/${body.booking.room_name}`, team.admin.token);
    const { guest } = await receiveBoth();
    expect(guest.invitation).toMatchObject({ method: 'CANCEL', sequence: 1 });
    expect(await times(page.slug)).toContain(start);
  });

  test('the workspace is deleted', async () => {
    const page = await createPage(app, team);
    await book(app, page.slug, start);
    await receive();
    expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
    const { guest } = await receiveBoth();
    expect(guest.invitation).toMatchObject({ method: 'CANCEL', sequence: 1, startsAt: start });
    expect(guest.text).not.toContain('/book/');
  });

  test('the host leaves: the owner of the workspace is the host', async () => {
    const page = await createPage(app, team);
    const { body } = await book(app, page.slug, start);
    await receive();
    await app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
    const mails = await receive();
    expect(mails.map(({ to }) => to).sort()).toEqual(['vera@example.com', team.admin.email, team.owner.email].sort());
    const [guest, before, after] = ['vera@example.com', team.admin.email, team.owner.email].map((to) =>
      mails.find((mail) => mail.to === to),
    );
    expect(guest?.invitation).toMatchObject({
      method: 'REQUEST',
      sequence: 1,
      organizer: { name: 'Olive Owner' },
      location: `https://app.example.com/room/${body.booking.room_name}`,
    });
    expect(after?.invitation).toEqual({
      ...guest?.invitation,
      description: expect.stringContaining(`/w/${team.id}/bookings`),
    });
    expect(before?.invitation).toMatchObject({ method: 'CANCEL', sequence: 1 });
  });

  test('the account of the host is deleted', async () => {
    const page = await createPage(app, team);
    await book(app, page.slug, start);
    await receive();
    await app.http.delete('/api/auth/me', team.admin.token);
    const mails = await receive();
    expect(mails.map(({ to }) => to).sort()).toEqual(['vera@example.com', team.owner.email].sort());
    expect(mails[0]?.invitation?.method).toBe('REQUEST');
  });

  async function times(slug: string): Promise<number[]> {
    return (await app.http.get(`/api/book/${slug}`)).body.times;
  }
});

test('the feed of a host has their upcoming bookings in all workspaces', async () => {
  const page = await createPage(app, team);
  const elsewhere = await addTeam(app);
  await book(app, page.slug, start);
  const [mail] = await receive();
  const feed = await post('/api/auth/calendar-feed', {}, team.admin.token);
  const { pathname } = new URL(feed.body.feed.url);
  const answer = await fetch(app.url + pathname, { headers: { 'accept-encoding': 'identity' } });
  expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
  const events = ICAL.Component.fromString(await answer.text()).getAllSubcomponents('vevent');
  expect(events.map((event) => new ICAL.Event(event).uid)).toEqual([mail?.invitation?.uid]);
  expect(elsewhere.id).toBeGreaterThan(0);
});
