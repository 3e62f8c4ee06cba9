/** The events about bookings and contacts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookEvents } from '../../src/events/declarations.ts';
import { concurrently } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage, reschedule } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());

const NINE = at('2026-06-16T09:00:00Z');
const HALF_HOUR = 1_800;

/** The events of the workspace since its creation, checked against the catalogue. */
async function listEvents(prefix: 'booking.' | 'contact.' | '' = '') {
  const events = await eventsOf(app, team.id);
  for (const { type, data } of events)
    expect(webhookEvents[type as keyof typeof webhookEvents].data.strict().parse(data)).toEqual(data);
  return events.filter(({ type }) => type.startsWith(prefix) && !type.startsWith('member.'));
}

test('a booking, its moves and its cancellation are reported in order, and once each', async () => {
  team = await addTeam(app);
  const { id: pageId, slug } = await createPage(app, team);
  const zone = { time_zone: 'Europe/Prague' };
  const guest = { name: 'Vera', email: 'vera@example.com', starts_at: NINE };
  const { booking } = (await app.http.post(`/api/book/${slug}`, undefined, { ...guest, ...zone })).body;
  await reschedule(app, slug, booking.cancel_token, NINE + HALF_HOUR);
  await reschedule(app, slug, booking.cancel_token, NINE + HALF_HOUR);
  await reschedule(app, slug, booking.cancel_token, 0);
  const path = `${team.path}/bookings/${booking.id}`;
  await app.http.post(`${path}/reschedule`, team.owner.token, { starts_at: NINE });
  await app.http.post(`${path}/cancel`, team.owner.token);
  await cancel(app, slug, booking.cancel_token);
  const { contacts } = (await app.http.get(`${team.path}/contacts`, team.member.token)).body;
  const data = {
    workspace_id: team.id,
    booking_id: booking.id,
    booking_page_id: pageId,
    title: 'Intro call',
    host_id: team.admin.id,
    host_name: 'Adam Admin',
    contact_id: contacts[0].id,
    guest_name: 'Vera',
    guest_email: 'vera@example.com',
    guest_time_zone: 'Europe/Prague',
    room_name: booking.room_name,
    starts_at: NINE,
    ends_at: NINE + HALF_HOUR,
    sequence: 0,
    created_at: at('2026-06-15T12:00:00Z'),
  };
  const later = { starts_at: NINE + HALF_HOUR, ends_at: NINE + 2 * HALF_HOUR };
  const previous = ({ starts_at, ends_at }: typeof later) => ({
    previous_starts_at: starts_at,
    previous_ends_at: ends_at,
  });
  expect((await listEvents()).slice(-4)).toEqual([
    { type: 'booking.created', data },
    {
      type: 'booking.rescheduled',
      data: { ...data, ...later, ...previous(data), sequence: 1, rescheduled_by: null },
    },
    {
      type: 'booking.rescheduled',
      data: { ...data, ...previous(later), sequence: 2, rescheduled_by: team.owner.id },
    },
    {
      type: 'booking.cancelled',
      data: { ...data, sequence: 3, cancelled_at: at('2026-06-15T12:00:00Z'), cancelled_by: team.owner.id },
    },
  ]);
  const types = (await listEvents()).map(({ type }) => type);
  expect(types.slice(0, 2).sort()).toEqual(['contact.created', 'room.created']);
  expect(types).toHaveLength(6);
});

test('a time that is wanted by many guests causes the events of one booking', async () => {
  team = await addTeam(app);
  const { slug } = await createPage(app, team);
  await concurrently(8, (index) => book(app, slug, NINE, `Guest ${index}`));
  const types = (await listEvents()).map(({ type }) => type);
  expect(types.sort()).toEqual(['booking.created', 'contact.created', 'room.created']);
});

test('every way in which a contact is added reports it once, before what it did', async () => {
  team = await addTeam(app);
  const { slug } = await createPage(app, team);
  const add = (name: string) =>
    app.http.post(`${team.path}/contacts`, team.admin.token, { name, email: `${name.toLowerCase()}@example.com` });
  expect([(await add('Ada')).status, (await add('Ada')).status]).toEqual([200, 409]);
  const file = 'email,name\nbob@example.com,Bob\nada@example.com,Ada King\ncid@example.com,Cid\n';
  for (let times = 0; times < 2; times += 1)
    await app.http.call('POST', `${team.path}/contacts/import`, {
      token: team.admin.token,
      headers: { 'content-type': 'text/csv' },
      body: file,
    });
  await book(app, slug, NINE, 'Dora');
  const room = { name: `events-${team.id}`, workspace_id: team.id };
  await app.http.post('/api/dashboard/rooms', team.admin.token, room);
  const join = (name: string) =>
    app.http.post(`/api/rooms/${room.name}/join`, undefined, { name, email: `${name.toLowerCase()}@example.com` });
  await concurrently(4, () => join('Emil'));
  await join('Ada');
  const events = await listEvents();
  const { contacts } = (await app.http.get(`${team.path}/contacts`, team.member.token)).body;
  const byId = new Map(contacts.map((contact: { id: number }) => [contact.id, contact]));
  const created = events.filter(({ type }) => type === 'contact.created');
  expect(created.map(({ data }) => (data as { name: string }).name)).toEqual(['Ada', 'Bob', 'Cid', 'Dora', 'Emil']);
  for (const { data } of created) {
    const { workspace_id, contact_id, email } = data as { workspace_id: number; contact_id: number; email: string };
    expect([workspace_id, byId.get(contact_id)]).toMatchObject([team.id, { email }]);
  }
  const position = (type: string, name: string) =>
    events.findIndex((event) => event.type === type && JSON.stringify(event.data).includes(`"${name}"`));
  expect(position('contact.created', 'Dora')).toBeLessThan(position('booking.created', 'Dora'));
  expect(position('contact.created', 'Emil')).toBeLessThan(position('room.joined', 'Emil'));
});
