/** Erasing a person by address: nothing of them remains, and what is counted stays. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCounterFolder } from '../../src/db/counters.ts';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { eventually } from '../support/eventually.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addGuest, columnsWith, type Guest } from './guest.ts';

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
let guest: Guest;

beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

beforeEach(async () => {
  guest = await addGuest(app, team, 'vera');
});

function eraseViaRest(email: string, by = team.admin) {
  return app.http.post(`${team.path}/people/erase`, by.token, { email });
}

/** Without the waiting changes, which a job adds to the counters at any time. */
async function analytics() {
  const { kpis, ...figures } = (await app.http.get(`${team.path}/analytics`, team.owner.token)).body;
  return { ...figures, kpis: { bookings: kpis.bookings, rooms: kpis.rooms } };
}

test.each([
  ['REST', async () => (await eraseViaRest(` ${guest.email.toUpperCase()} `)).body],
  ['tRPC', () => team.admin.client.people.erase.mutate({ id: team.id, email: guest.email })],
])('erases every trace, over %s', async (_, erase) => {
  expect(await columnsWith(app, guest.marker)).toEqual(
    expect.arrayContaining([
      'public.bookings.email',
      'public.contacts.email',
      'public.events.data',
      'public.ingest_events.facts',
      'public.invitations.email',
      'public.mail_messages.to_address',
      'public.participants.email',
      'public.room_passes.email',
      'public.rooms.display_name',
      'public.unmatched_callbacks.reference',
      'public.webhook_deliveries.response_body',
      'public.webhook_messages.payload',
    ]),
  );
  const since = await lastAuditId(app);
  const report = await erase();
  expect(report).toMatchObject({
    is_member: 0,
    erased: {
      cancelled_bookings: 1,
      bookings: 1,
      contacts: 1,
      contact_events: 3,
      visits: 2,
      room_passes: 1,
      invitations: 1,
      webhook_messages: 1,
      callbacks: 2,
      audit_entries: 0,
    },
  });
  expect(report.erased.events).toBeGreaterThanOrEqual(3);
  expect(report.erased.mail).toBeGreaterThanOrEqual(1);
  expect(await columnsWith(app, guest.marker)).toEqual([]);
  expect((await storedKeys(app)).filter((key) => key.includes(guest.marker))).toEqual([]);
  const entries = await auditOf(app, team.id, since);
  expect(entries.filter(({ action }) => action === 'person.erased')).toHaveLength(1);
  // Others, also with a tag in the same mailbox, and the order of the log are as they were.
  expect(await columnsWith(app, 'other@example.com')).toContain('public.participants.email');
  const again = await eraseViaRest(guest.email);
  expect(Object.values(again.body.erased)).toEqual(Object.values(again.body.erased).map(() => 0));
});

test('the log keeps its order, and the bodies still fit their schemas', async () => {
  const read = () =>
    app.services.db.event.findMany({
      where: { workspaceId: team.id, relayedAt: { not: null } },
      select: { id: true, sequence: true, type: true, createdAt: true },
      orderBy: { id: 'asc' },
    });
  const unrelayed = { where: { workspaceId: team.id, relayedAt: null } };
  await eventually(async () => (await app.services.db.event.count(unrelayed)) === 0);
  const before = await read();
  await eraseViaRest(guest.email);
  expect((await read()).slice(0, before.length)).toEqual(before);
  const { payload } = await app.services.db.webhookMessage.findFirstOrThrow({ where: { webhookId: guest.webhookId } });
  expect(JSON.parse(payload)).toMatchObject({
    event: 'room.joined',
    data: { participant_name: 'Erased', participant_id: guest.participantId },
  });
});

test('the figures of analytics stay, but for the contact', async () => {
  const fold = createCounterFolder(app.services);
  await fold();
  const before = await analytics();
  await eraseViaRest(guest.email);
  const after = await analytics();
  expect(after.kpis.bookings).toBe(before.kpis.bookings);
  expect(after.topRooms.map(({ id, count }: { id: number; count: number }) => [id, count])).toEqual(
    before.topRooms.map(({ id, count }: { id: number; count: number }) => [id, count]),
  );
});

test('a guest cannot use the booking or the visit any more', async () => {
  await eraseViaRest(guest.email);
  const answer = await app.http.post(`/api/book/${guest.pageSlug}/cancel`, undefined, { token: guest.bookingToken });
  expect(answer.status).toBe(404);
});

describe('who may erase', () => {
  test('needs a recent sign-in', async () => {
    const later = await startTestApp({ sharedDatabase: app });
    later.clock.advance(2 * 3_600_000);
    const { status, body } = await later.http.post(`${team.path}/people/erase`, team.owner.token, {
      email: guest.email,
    });
    expect([status, body.code]).toEqual([403, 'REAUTHENTICATION_REQUIRED']);
    await later.close();
  });

  test('an owner also erases a former member from the audit log, an admin does not', async () => {
    const { email, id: userId } = team.member;
    const path = `${team.path}/members/${userId}`;
    expect((await eraseViaRest(email, team.owner)).body.is_member).toBe(1);
    await app.http.delete(path, team.member.token);
    expect((await eraseViaRest(email)).body.erased.audit_entries).toBe(0);
    expect((await eraseViaRest(email, team.owner)).body.erased.audit_entries).toBeGreaterThan(0);
  });
});

test('mail about the account is not erased by a workspace', async () => {
  const { email } = team.outsider;
  const before = await app.services.db.mailMessage.count({ where: { toAddress: email } });
  expect(before).toBeGreaterThan(0);
  await eraseViaRest(email);
  expect(await app.services.db.mailMessage.count({ where: { toAddress: email } })).toBe(before);
});

test('joining and booking during the erasure succeed or fail whole, and a second call erases the rest', async () => {
  const join = () => app.http.post(`/api/rooms/${guest.roomName}/join`, undefined, guest);
  const { body: offered } = await app.http.get(`/api/book/${guest.pageSlug}`);
  const book = (index: number) => {
    const { name, email } = guest;
    return app.http.post(`/api/book/${guest.pageSlug}`, undefined, { name, email, starts_at: offered.times.at(index) });
  };
  const answers = await Promise.all([
    join(),
    eraseViaRest(guest.email),
    book(-1),
    join(),
    eraseViaRest(guest.email),
    book(-2),
    join(),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200]);
  await eraseViaRest(guest.email);
  expect(await columnsWith(app, guest.marker)).toEqual([]);
});
