/** Exports of accounts and people: what is in them, and what never is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOf, lastAuditId } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { addGuest, type Guest, SECRETS } from './guest.ts';

let app: TestApp;
let team: Team;
let guest: Guest;

beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  guest = await addGuest(app, team, 'vera');
});
afterAll(() => app.close());

function countSections(body: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (Array.isArray(value) ? [[name, value.length]] : [])),
  );
}

describe('the export of a person', () => {
  const all = {
    contacts: 1,
    contact_events: 2,
    visits: 2,
    bookings: 1,
    room_passes: 1,
    invitations: 1,
    mail: 2,
    webhook_messages: 1,
    callbacks: 1,
    unmatched_callbacks: 1,
  };

  test.each([
    ['by address', () => `people/export?email=${encodeURIComponent(` ${guest.email.toUpperCase()} `)}`],
    ['by contact', () => `contacts/${guest.contactId}/export`],
    ['by participant', () => `participants/${guest.participantId}/export`],
  ])('%s has everything about them, and nothing about others', async (_, path) => {
    const since = await lastAuditId(app);
    const { status, body, headers } = await app.http.get(`${team.path}/${path()}`, team.admin.token);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(countSections(body)).toMatchObject(all);
    const types = body.events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['room.joined', 'room.created']));
    expect(body.person).toMatchObject({ workspace_id: team.id, email: guest.email, member: null });
    for (const [name, records] of Object.entries(body).filter(([, value]) => Array.isArray(value)))
      expect([name, JSON.stringify(records).includes(guest.marker) || name === 'contact_events']).toEqual([name, true]);
    const text = JSON.stringify(body);
    expect(text).not.toMatch(/other@example.com|vera\+tag/);
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
    const entries = await auditOf(app, team.id, since);
    expect(entries.map(({ action }) => action)).toEqual(['person.exported']);
    expect(JSON.stringify(entries)).not.toContain(guest.marker);
  });

  test('of a participant without an address has this visit alone', async () => {
    const { body } = await app.http.get(`${team.path}/participants/${guest.namelessId}/export`, team.admin.token);
    expect(countSections(body)).toMatchObject({ contacts: 0, visits: 1, bookings: 0, events: 1 });
  });

  test('is limited', async () => {
    const limited = await startTestApp({ sharedDatabase: app, limits: { exportPerUser: 2 } });
    const get = () => limited.http.get(`${team.path}/people/export?email=nobody@example.com`, team.admin.token);
    expect([(await get()).status, (await get()).status, (await get()).status]).toEqual([200, 200, 429]);
    await limited.close();
  });
});

describe('the export of an account', () => {
  test('has what belongs to it, also its visits elsewhere, and no secrets', async () => {
    const ada = await addPerson(app, 'Ada');
    await app.http.post(`/api/rooms/${guest.roomName}/join`, ada.token, {});
    const { status, body } = await app.http.get('/api/auth/export', ada.token);
    expect(status).toBe(200);
    expect(body.account).toMatchObject({ id: ada.id, email: ada.email, has_password: 1 });
    expect(countSections(body)).toMatchObject({ sessions: 1, memberships: 1, visits: 1, log: 2 });
    expect(JSON.stringify(body)).not.toMatch(/hash|sealed|token|argon/);
    expect(body.log.map(({ action }: { action: string }) => action)).toEqual(['registered', 'data_exported']);
  });

  test('has mail and invitations to its address only once that is confirmed', async () => {
    await team.admin.client.invitations.create.mutate({ id: team.id, email: 'invited@example.com', role: 'member' });
    const { body } = await app.http.post('/api/auth/register', undefined, {
      name: 'Ivy',
      email: 'invited@example.com',
      password: 'correct horse battery staple',
    });
    const before = await app.http.get('/api/auth/export', body.token);
    expect(countSections(before.body)).toMatchObject({ mail: 0, invitations: 0 });
    await app.services.db.user.update({ where: { id: body.user.id }, data: { emailVerifiedAt: app.clock.now() } });
    const after = await app.http.get('/api/auth/export', body.token);
    expect(countSections(after.body)).toMatchObject({ mail: 2, invitations: 1 });
  });

  test('needs a recent sign-in', async () => {
    const ada = await addPerson(app, 'Ada');
    app.clock.advance(2 * 3_600_000);
    const { status, body } = await app.http.get('/api/auth/export', ada.token);
    expect([status, body.code]).toEqual([403, 'REAUTHENTICATION_REQUIRED']);
  });
});
