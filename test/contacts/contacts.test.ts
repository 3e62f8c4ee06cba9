/** Contacts: reading, writing, listing and concurrency. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let path: string;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());

async function createTeam(): Promise<void> {
  team = await addTeam(app);
  path = `${team.path}/contacts`;
}
beforeAll(createTeam);

async function create(name: string, email: string): Promise<number> {
  const { status, body } = await app.http.post(path, team.admin.token, { name, email });
  expect(status).toBe(200);
  return body.contact.id;
}

describe('a contact', () => {
  test('is created with normalized fields, updated by the fields that are sent, and deleted', async () => {
    const created = await app.http.post(path, team.admin.token, { name: ' Vera ', email: ' Vera@Example.com ' });
    const { id } = created.body.contact;
    const vera = { id, workspace_id: team.id, name: 'Vera', email: 'vera@example.com', created_at: 1781524800 };
    expect([created.status, created.body]).toEqual([200, { contact: vera }]);
    app.clock.advance(60_000);
    for (const [json, changed] of [
      [{}, vera],
      [{ name: 'Vera Novak' }, { ...vera, name: 'Vera Novak' }],
      [{ email: 'VERA@example.com' }, { ...vera, name: 'Vera Novak' }],
      [{ email: 'novak@example.com' }, { ...vera, name: 'Vera Novak', email: 'novak@example.com' }],
    ] as const) {
      const { status, body } = await app.http.patch(`${path}/${id}`, team.owner.token, json);
      expect([status, body]).toEqual([200, { contact: changed }]);
    }
    expect((await app.http.delete(`${path}/${id}`, team.admin.token)).body).toEqual({ ok: true });
    const deleted = await app.http.get(`${path}/${id}`, team.member.token);
    expect([deleted.status, deleted.body.message]).toEqual([404, 'Contact not found']);
  });

  test('is returned with its latest 100 events, newest first, also of deleted rooms and pages', async () => {
    const contactId = await create('Busy', 'busy@example.com');
    const settings = { name: 'busy', display_name: 'Busy room', workspace_id: team.id };
    const room = await app.http.post('/api/dashboard/rooms', team.owner.token, settings);
    const page = await app.http.post(`${team.path}/booking-pages`, team.owner.token, {
      title: 'Intro',
      time_zone: 'UTC',
      hours: [],
    });
    const { id: pageId } = page.body.bookingPage;
    const event = { workspaceId: team.id, contactId, roomId: null, bookingPageId: null };
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await transact(app.services.db, async (tx) => {
      for (let minute = 0; minute < 100; minute += 1)
        await recordContactEvent(sqlIn(tx), { ...event, type: 'seen', at: at(minute) });
      await recordContactEvent(sqlIn(tx), { ...event, type: 'room_join', roomId: room.body.room.id, at: at(200) });
      await recordContactEvent(sqlIn(tx), { ...event, type: 'booking', bookingPageId: pageId, at: at(300) });
    });
    const { body } = await app.http.get(`${path}/${contactId}`, team.member.token);
    expect(body.contact.name).toBe('Busy');
    expect(body.events).toHaveLength(100);
    expect(body.events.slice(0, 3)).toMatchObject([
      { type: 'booking', booking_page_id: pageId, booking_page_title: 'Intro', room_id: null, room_name: null },
      {
        type: 'room_join',
        room_id: room.body.room.id,
        room_name: 'busy',
        room_display_name: 'Busy room',
        booking_page_id: null,
      },
      { type: 'seen', created_at: at(99).getTime() / 1000 },
    ]);
    await app.http.delete('/api/dashboard/rooms/busy', team.owner.token);
    await app.http.delete(`${team.path}/booking-pages/${pageId}`, team.owner.token);
    const read = await team.member.client.contacts.read.query({ id: team.id, contactId });
    expect(read.events.slice(0, 2)).toMatchObject([
      { booking_page_id: pageId, booking_page_title: null },
      { room_id: room.body.room.id, room_name: null, room_display_name: null },
    ]);
  });

  test('has an email address that is unique in the workspace', async () => {
    const id = await create('One', 'one@example.com');
    await create('Two', 'two@example.com');
    const taken = 'A contact with this email already exists';
    const again = await app.http.post(path, team.owner.token, { name: 'X', email: 'ONE@example.com' });
    expect([again.status, again.body.message]).toEqual([409, taken]);
    const moved = await app.http.patch(`${path}/${id}`, team.owner.token, { email: 'two@example.com' });
    expect([moved.status, moved.body.message]).toEqual([409, taken]);
    const elsewhere = await addTeam(app);
    const other = await app.http.post(`${elsewhere.path}/contacts`, elsewhere.owner.token, {
      name: 'One',
      email: 'one@example.com',
    });
    expect(other.status).toBe(200);
    const foreign = await app.http.patch(`${path}/${other.body.contact.id}`, team.owner.token, { name: 'Mine' });
    expect([foreign.status, foreign.body.message]).toEqual([404, 'Contact not found']);
  });
});

describe('the list', () => {
  const names = async (query: string): Promise<[number, string[]]> => {
    const { body } = await app.http.get(`${path}?${query}`, team.member.token);
    return [body.total, body.contacts.map(({ name }: { name: string }) => name)];
  };

  test('is ordered newest first, ties by id, and returned a page at a time', async () => {
    await createTeam();
    for (const name of ['a', 'b', 'c']) await create(name, `${name}@example.com`);
    app.clock.advance(1_000);
    for (const name of ['d', 'e']) await create(name, `${name}@example.com`);
    expect(await names('')).toEqual([5, ['e', 'd', 'c', 'b', 'a']]);
    expect(await names('limit=2&offset=1')).toEqual([5, ['d', 'c']]);
    expect(await names('limit=2&offset=100')).toEqual([5, []]);
    const [first] = (await app.http.get(path, team.member.token)).body.contacts;
    await app.http.delete(`${path}/${first.id}`, team.owner.token);
    expect(await names('limit=1')).toEqual([4, ['d']]);
  });

  test('is searched by parts of names and addresses, case-insensitively and without wildcards', async () => {
    await createTeam();
    await create('100% Percy', 'percy@example.com');
    await create('Under_Score', 'under@example.org');
    await create('Back\\Slash', 'back@example.org');
    expect(await names('search=PERC')).toEqual([1, ['100% Percy']]);
    expect(await names('search=EXAMPLE.ORG')).toEqual([2, ['Back\\Slash', 'Under_Score']]);
    expect(await names('search=EXAMPLE.ORG&limit=1&offset=1')).toEqual([2, ['Under_Score']]);
    expect(await names(`search=${encodeURIComponent('%')}`)).toEqual([1, ['100% Percy']]);
    expect(await names('search=_')).toEqual([1, ['Under_Score']]);
    expect(await names(`search=${encodeURIComponent('\\')}`)).toEqual([1, ['Back\\Slash']]);
    expect(await names('search=nobody')).toEqual([0, []]);
  });
});

describe('concurrent requests', () => {
  test('create exactly one of 30 contacts with one address, and count it once', async () => {
    await createTeam();
    const answers = await concurrently(30, (index) =>
      app.http.post(path, team.admin.token, { name: `Number ${index}`, email: 'wanted@example.com' }),
    );
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 29 });
    expect((await app.http.get(path, team.member.token)).body.total).toBe(1);
  });

  test('give an address to exactly one of 10 contacts', async () => {
    const ids = await concurrently(10, (index) => create(`C${index}`, `c${index}@example.com`));
    const answers = await Promise.all(
      ids.map((id) => app.http.patch(`${path}/${id}`, team.admin.token, { email: 'prize@example.com' })),
    );
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 9 });
  });

  test('of an admin who is being demoted succeed or fail with 403', async () => {
    const answers = concurrently(10, (index) =>
      app.http.post(path, team.admin.token, { name: 'X', email: `x${index}@example.com` }),
    );
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    for (const { status, body } of await answers)
      expect([200, 'Forbidden']).toContain(status === 200 ? 200 : body.message);
    const late = await app.http.post(path, team.admin.token, { name: 'X', email: 'late@example.com' });
    expect([late.status, late.body.message]).toEqual([403, 'Forbidden']);
  });
});
